//! Banking text or bytes.

use std::io::Write;
use std::sync::Arc;

use super::CommandHost;
use super::error::HostError;
use super::run::off_the_loop;
use super::status::{ArtifactRef, read_back_hint};
use crate::error::Error;
use crate::input::{Field, Fields, InputError, Value};
use crate::limits;
use crate::os::clock::epoch_ms;
use crate::vault::bank::ArtifactFile;
use crate::vault::error::VaultError;
use crate::vault::id::{ArtifactId, TaskId};
use crate::vault::text::{self, Tail};

impl CommandHost {
    /// Keeps a string or bytes: `{ kind, label, sessionId?, previewChars? }`.
    pub async fn bank(self: &Arc<Self>, content: Value, options: &Value) -> Result<ArtifactRef, Error> {
        let content = match content {
            Value::Text(text) => text.into_bytes(),
            Value::Bytes(bytes) => bytes,
            other => return Err(wrong_content(&other).into()),
        };
        let mut fields = Fields::of(options, "options")?;
        let kind = within(&fields.field("kind"), limits::MAX_KIND_UNITS)?;
        let label = within(&fields.field("label"), limits::MAX_LABEL_UNITS)?;
        let session = fields.field("sessionId");
        let session_id = match session.value() {
            Value::Absent => None,
            _ => Some(within(&session, limits::MAX_SESSION_ID_UNITS)?),
        };
        let preview = fields.field("previewChars").unsigned_integer()?;
        fields.finish()?;
        let preview =
            preview.map_or(limits::DEFAULT_PREVIEW_UNITS, |most| usize::try_from(most).unwrap_or(usize::MAX));

        self.check_room().await?;
        let host = Arc::clone(self);
        off_the_loop(move || {
            let what = What { kind, label, session_id };
            Ok(host.bank_written(what, preview, |kept| kept.write_all(&content))?.0)
        })
        .await
    }

    /// Keeps what `write` writes, and gives its reference with what `write` gave.
    pub(super) fn bank_written<T>(
        &self,
        what: What,
        preview: usize,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<T>,
    ) -> Result<(ArtifactRef, T), Error> {
        let id = TaskId::new().map_err(|error| HostError::Internal { reason: error.to_string() })?;
        let vault = self.vault()?;
        let about = |size_bytes| ArtifactFile {
            artifact_id: id.to_string(),
            kind: what.kind,
            label: what.label,
            session_id: what.session_id,
            size_bytes,
            created_at: epoch_ms(),
        };
        let (about, written) = vault.bank(&id, about, write, self.options.sync)?;
        self.upkeep.grew(about.size_bytes);
        let unreadable = |source| VaultError::Read { name: id.to_string(), source };
        let file = vault
            .artifact(&ArtifactId::Banked(id))?
            .ok_or_else(|| unreadable(std::io::Error::from(std::io::ErrorKind::NotFound)))?;
        let head = text::head_preview(&file, Tail::Final, preview).map_err(unreadable)?;
        let reference = ArtifactRef {
            read_back_hint: read_back_hint(&about.artifact_id),
            artifact_id: about.artifact_id,
            label: about.label,
            kind: about.kind,
            size_bytes: about.size_bytes,
            preview: head.text,
        };
        Ok((reference, written))
    }
}

/// What something is banked as.
pub(super) struct What {
    /// `kind`.
    pub kind: String,
    /// What people call it.
    pub label: String,
    /// Whose it is.
    pub session_id: Option<String>,
}

fn wrong_content(content: &Value) -> InputError {
    let field = Field::argument("content", content);
    match content {
        Value::BrokenText => field.wrong("a string without lone surrogates, or bytes"),
        _ => field.wrong("a string or bytes"),
    }
}

/// A string that has to be there, of at most `most` UTF-16 units.
fn within(field: &Field<'_>, most: usize) -> Result<String, InputError> {
    match field.filled_text()? {
        Some(text) if text::units(text) <= most => Ok(text.to_owned()),
        _ => Err(field.wrong(format!("a non-empty string of at most {most} characters"))),
    }
}
