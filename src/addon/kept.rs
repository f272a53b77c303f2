//! What a native host answers from its vault, while a command runs and after.

use napi::Result;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::host::{Host, json, key, text};
use super::port::Reply;
use super::value;
use crate::input::Value;

#[napi]
impl Host {
    /// A text page of a command's output.
    #[napi(catch_unwind)]
    pub fn read_output(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        self.read(id, move |core| json(core.read_output(text(&task, "taskId")?, &options)));
        Ok(())
    }

    /// A whole artifact as text, or null.
    #[napi(catch_unwind)]
    pub fn read_artifact(&self, id: f64, artifact_id: Unknown<'_>) -> Result<()> {
        let artifact = value::read(artifact_id)?;
        self.read(id, move |core| {
            let Value::Text(artifact) = &artifact else { return Ok(Reply::null()) };
            Ok(core.read_artifact(artifact)?.map_or_else(Reply::null, Reply::Text))
        });
        Ok(())
    }

    /// Bytes of an artifact, or null.
    #[napi(catch_unwind)]
    pub fn read_artifact_bytes(&self, id: f64, artifact_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (artifact, options) = (value::read(artifact_id)?, value::read(options)?);
        self.read(id, move |core| {
            let Value::Text(artifact) = &artifact else { return Ok(Reply::null()) };
            Ok(core.read_artifact_bytes(artifact, &options)?.map_or_else(Reply::null, Reply::Bytes))
        });
        Ok(())
    }

    /// Keeps text or bytes.
    #[napi(catch_unwind)]
    pub fn bank_artifact(&self, id: f64, content: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (content, options) = (value::read(content)?, value::read(options)?);
        self.spawn(id, |core| async move { json(core.bank(content, &options).await) });
        Ok(())
    }

    /// Searches a command's output.
    #[napi(catch_unwind)]
    pub fn search(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        self.read(id, move |core| json(core.search(text(&task, "taskId")?, &options)));
        Ok(())
    }

    /// The vault's commands.
    #[napi(catch_unwind)]
    pub fn list(&self, id: f64, options: Unknown<'_>) -> Result<()> {
        let options = value::read(options)?;
        self.read(id, move |core| json(core.list(&options)));
        Ok(())
    }

    /// Removes what is over.
    #[napi(catch_unwind)]
    pub fn cleanup(&self, id: f64, options: Unknown<'_>) -> Result<()> {
        let options = value::read(options)?;
        self.read(id, move |core| json(core.cleanup(&options)));
        Ok(())
    }

    /// Begins to follow a command's output.
    #[napi(catch_unwind)]
    pub fn follow(&self, id: f64, task_id: Unknown<'_>, options: Unknown<'_>) -> Result<()> {
        let (task, options) = (value::read(task_id)?, value::read(options)?);
        self.spawn(id, |core| async move { json(core.follow(text(&task, "taskId")?, &options)) });
        Ok(())
    }

    /// The next bytes of a follower, or null.
    #[napi(catch_unwind)]
    pub fn follow_next(&self, id: f64, follower: f64) {
        self.spawn(id, move |core| async move {
            let next = core.follow_next(key(follower)).await?;
            Ok(next.map_or_else(Reply::null, Reply::Bytes))
        });
    }

    /// Closes a follower.
    #[napi(catch_unwind)]
    pub fn follow_close(&self, follower: f64) {
        self.core.follow_close(key(follower));
    }
}
