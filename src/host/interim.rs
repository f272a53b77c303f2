//! Searching a command's output, and pages of artifacts.

use super::CommandHost;
use super::reads::known;
use crate::error::Error;
use crate::vault::id::Stream;
use crate::vault::text::{self, SearchRequest, SearchResult};

impl CommandHost {
    /// Lines of a command's output that match.
    pub fn find_lines(
        &self,
        task: &str,
        stream: Stream,
        request: &SearchRequest,
    ) -> Result<SearchResult, Error> {
        let id = known(task)?;
        let tail = self.tail_of(&id)?;
        let file = self.vault()?.stream(&id, stream)?;
        let mut index = self.index_of(&id, stream, &file);
        let found = text::search(&file, &mut index, tail, request)?;
        self.registry.seen(&id);
        Ok(found)
    }
}
