//! Searching a command's output, and pages of artifacts.

use serde::Serialize;

use super::CommandHost;
use super::reads::{known, page_request, read_stream, unreadable};
use crate::error::Error;
use crate::input::{Fields, Value};
use crate::vault::text::{self, SearchRequest, SearchResult, TextPage};

/// A page of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactPage {
    artifact_id: String,
    #[serde(flatten)]
    page: TextPage,
}

impl CommandHost {
    /// A page of an artifact: `{ offset?, limit? }`; `None` for an unknown or malformed id.
    pub fn artifact_page(&self, artifact: &str, options: &Value) -> Result<Option<ArtifactPage>, Error> {
        let mut fields = Fields::of(options, "options")?;
        let request = page_request(&mut fields)?;
        fields.finish()?;
        let Some((task, stream, file)) = self.artifact(artifact)? else { return Ok(None) };
        // Asked before the file is read: what is final then was all there.
        let tail = self.tail_of(&task)?;
        let mut index = self.index_of(&task, stream, &file);
        let page = text::page(&file, &mut index, tail, request.offset, request.limit)
            .map_err(|source| unreadable(&task, source))?;
        self.registry.seen(&task);
        Ok(Some(ArtifactPage { artifact_id: artifact.to_owned(), page }))
    }

    /// Searches a command's output: `{ pattern, literal?, ignoreCase?, before?, after?, maxMatches?, stream? }`.
    pub fn search(&self, task: &str, options: &Value) -> Result<SearchResult, Error> {
        let id = known(task)?;
        let mut fields = Fields::of(options, "options")?;
        let pattern = fields.field("pattern");
        let pattern = pattern.text()?.ok_or_else(|| pattern.wrong("a string"))?;
        let mut request = SearchRequest::new(pattern);
        request.literal = fields.field("literal").flag()?.unwrap_or(false);
        request.ignore_case = fields.field("ignoreCase").flag()?.unwrap_or(false);
        request.before = fields.field("before").unsigned_integer()?.unwrap_or(0);
        request.after = fields.field("after").unsigned_integer()?.unwrap_or(0);
        if let Some(most) = fields.field("maxMatches").positive_integer()? {
            request.max_matches = most;
        }
        let stream = read_stream(&mut fields)?;
        fields.finish()?;
        let tail = self.tail_of(&id)?;
        let file = self.vault()?.stream(&id, stream)?;
        let mut index = self.index_of(&id, stream, &file);
        let found = text::search(&file, &mut index, tail, &request)?;
        self.registry.seen(&id);
        Ok(found)
    }
}
