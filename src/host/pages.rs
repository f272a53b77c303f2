//! Reading what was kept: by page of text or lines, by search, whole, or by bytes. One way for output and artifacts.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde::Serialize;

use super::CommandHost;
use super::error::HostError;
use super::reads::known;
use crate::error::Error;
use crate::input::{Fields, InputError, Value};
use crate::limits;
use crate::vault::bank;
use crate::vault::error::VaultError;
use crate::vault::id::{ArtifactId, Stream, TaskId};
use crate::vault::text::{
    self, LinePage, LineRequest, PageRequest, SearchRequest, SearchResult, Tail, TextIndex, TextPage,
};

/// A page of a command's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputPage {
    task_id: String,
    stream: &'static str,
    #[serde(flatten)]
    page: Page,
}

/// A page of an artifact, whatever kind it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactPage {
    artifact_id: String,
    #[serde(flatten)]
    page: Page,
}

/// By text or by lines, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Page {
    Text(TextPage),
    Lines(LinePage),
}

/// Which page a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Text(PageRequest),
    Lines(LineRequest),
}

/// Something to read pages of.
struct Source {
    task: TaskId,
    file: File,
    index: TextIndex,
    tail: Tail,
}

impl Source {
    fn page(&mut self, wanted: Wanted) -> Result<Page, Error> {
        let Self { task, file, index, tail } = self;
        let page = match wanted {
            Wanted::Text(PageRequest { offset, limit }) => {
                text::page(file, index, *tail, offset, limit).map(Page::Text)
            }
            Wanted::Lines(request) => text::line_page(file, index, *tail, request).map(Page::Lines),
        };
        page.map_err(|source| unreadable(task, source))
    }

    /// Whether it has more text than a JavaScript string holds.
    fn is_too_long(&mut self, size: u64) -> Result<bool, Error> {
        // Every unit takes at most three bytes, and at least one: only in between the text has to be counted.
        if size <= limits::MAX_V8_STRING_UNITS {
            return Ok(false);
        }
        let beyond = PageRequest { offset: limits::MAX_V8_STRING_UNITS, limit: 1 };
        text::page(&self.file, &mut self.index, self.tail, beyond.offset, beyond.limit)
            .map(|page| page.total_size > limits::MAX_V8_STRING_UNITS)
            .map_err(|source| unreadable(&self.task, source))
    }

    fn size(&self) -> Result<u64, Error> {
        Ok(self.file.metadata().map_err(|source| unreadable(&self.task, source))?.len())
    }
}

impl CommandHost {
    /// A page of a command's output: `{ stream?, offset?, limit? }` or `{ stream?, line?, lines? }`.
    pub fn read_output(&self, task: &str, options: &Value) -> Result<OutputPage, Error> {
        let id = known(task)?;
        let mut fields = Fields::of(options, "options")?;
        let stream = read_stream(&mut fields)?;
        let wanted = read_page(&mut fields)?;
        fields.finish()?;
        let page = self.output_source(&id, stream)?.page(wanted)?;
        self.registry.seen(&id);
        Ok(OutputPage { task_id: id.to_string(), stream: stream.name(), page })
    }

    /// A page of an artifact, with the same options but for the stream; `None` for an unknown or malformed id.
    pub fn artifact_page(&self, artifact: &str, options: &Value) -> Result<Option<ArtifactPage>, Error> {
        let mut fields = Fields::of(options, "options")?;
        let wanted = read_page(&mut fields)?;
        fields.finish()?;
        let Some(mut source) = self.artifact_source(artifact)? else { return Ok(None) };
        let page = source.page(wanted)?;
        self.registry.seen(&source.task);
        Ok(Some(ArtifactPage { artifact_id: artifact.to_owned(), page }))
    }

    /// Searches a command's output: `{ pattern, literal?, ignoreCase?, before?, after?, maxMatches?, stream? }`.
    pub fn search(&self, task: &str, options: &Value) -> Result<SearchResult, Error> {
        let id = known(task)?;
        let mut fields = Fields::of(options, "options")?;
        let pattern = fields.field("pattern");
        let pattern = match pattern.value() {
            // The engine takes any text, and says itself what is wrong with a pattern.
            Value::Text(text) => text.clone(),
            _ => return Err(pattern.wrong("a string").into()),
        };
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
        let mut source = self.output_source(&id, stream)?;
        let found = text::search(&source.file, &mut source.index, source.tail, &request)?;
        self.registry.seen(&id);
        Ok(found)
    }

    /// A whole artifact as text; `None` for an unknown or malformed id.
    pub fn read_artifact(&self, id: &str) -> Result<Option<String>, Error> {
        let Some(mut source) = self.artifact_source(id)? else { return Ok(None) };
        let size = source.size()?;
        if source.is_too_long(size)? {
            return Err(VaultError::TooLarge { id: id.to_owned() }.into());
        }
        let bytes = read_range(&source.file, 0, size).map_err(|error| unreadable(&source.task, error))?;
        self.registry.seen(&source.task);
        Ok(Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }

    /// Bytes of an artifact: `{ offset?, length? }`; `None` for an unknown or malformed id.
    pub fn read_artifact_bytes(&self, id: &str, options: &Value) -> Result<Option<Vec<u8>>, Error> {
        let mut fields = Fields::of(options, "options")?;
        let offset = fields.field("offset").unsigned_integer()?.unwrap_or(0);
        let length = fields.field("length").unsigned_integer()?;
        fields.finish()?;
        let Some(source) = self.artifact_source(id)? else { return Ok(None) };
        let length = length.unwrap_or(u64::MAX).min(source.size()?.saturating_sub(offset));
        let bytes =
            read_range(&source.file, offset, length).map_err(|error| unreadable(&source.task, error))?;
        self.registry.seen(&source.task);
        Ok(Some(bytes))
    }

    fn output_source(&self, task: &TaskId, stream: Stream) -> Result<Source, Error> {
        // Asked before the file is opened: what is final then was all there.
        let tail = self.sight(task)?.tail();
        let file = self.vault()?.stream(task, stream)?;
        self.source(*task, file, stream.name(), tail)
    }

    fn artifact_source(&self, artifact: &str) -> Result<Option<Source>, Error> {
        let Some(id) = ArtifactId::parse(artifact) else { return Ok(None) };
        let (task, name, tail) = match id {
            ArtifactId::Banked(id) => (id, bank::CONTENT, Tail::Final),
            ArtifactId::Output(task, stream) => match self.sight(&task) {
                Ok(sight) => (task, stream.name(), sight.tail()),
                Err(Error::Vault(VaultError::UnknownTask { .. })) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        let Some(file) = self.vault()?.artifact(&id)? else { return Ok(None) };
        self.source(task, file, name, tail).map(Some)
    }

    fn source(&self, task: TaskId, file: File, name: &str, tail: Tail) -> Result<Source, Error> {
        let index = match self.vault()?.index(&task, name) {
            Some(stored) => TextIndex::load(&stored, &file),
            None => TextIndex::new(),
        };
        Ok(Source { task, file, index, tail })
    }
}

/// Which of a command's streams; absent is stdout.
pub(super) fn read_stream(fields: &mut Fields<'_>) -> Result<Stream, InputError> {
    let words = [(Stream::Stdout.name(), Stream::Stdout), (Stream::Stderr.name(), Stream::Stderr)];
    Ok(fields.field("stream").word(&words)?.unwrap_or(Stream::Stdout))
}

fn read_page(fields: &mut Fields<'_>) -> Result<Wanted, Error> {
    let (offset, limit) = (fields.field("offset").any_integer()?, fields.field("limit").any_integer()?);
    let (line, lines) = (fields.field("line").any_integer()?, fields.field("lines").any_integer()?);
    let by_lines = line.is_some() || lines.is_some();
    if by_lines && (offset.is_some() || limit.is_some()) {
        return Err(HostError::MixedPage.into());
    }
    Ok(if by_lines {
        Wanted::Lines(LineRequest::clamped(line, lines))
    } else {
        Wanted::Text(PageRequest::clamped(offset, limit))
    })
}

fn unreadable(task: &TaskId, source: io::Error) -> Error {
    VaultError::Read { name: task.to_string(), source }.into()
}

/// `length` bytes from `offset`, fewer where the file ends before.
fn read_range(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    bytes.try_reserve_exact(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    bytes.resize(length, 0);
    let mut done = 0;
    while done < length {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}
