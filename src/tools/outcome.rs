//! What a tool's call comes to, as it goes to JavaScript.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::error::{Error, WireError};
use crate::host::Started;
use crate::host::error::HostError;
use crate::host::questions::Question;

/// What a call came to, for now.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// This is what the model gets.
    Done(Box<Done>),
    /// A hook has to be asked. The decision goes on whether or not the call does; [`super::Tools::outcome`] waits.
    Question {
        /// The decision that the question belongs to.
        decision: u64,
        /// What to ask.
        #[serde(flatten)]
        ask: Box<Question>,
    },
}

/// A call that is over.
#[derive(Debug, Serialize)]
pub struct Done {
    /// What the model gets.
    result: Json,
    /// The command that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Started>,
    /// Why it started none, for those who are told of refused starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<WireError>,
    /// The decision whose open question needs no answer any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<u64>,
}

impl Answer {
    pub(super) fn result(result: Json) -> Self {
        Self::Done(Box::new(Done { result, started: None, refused: None, withdrawn: None }))
    }

    pub(super) fn started(result: Json, started: Started) -> Self {
        Self::Done(Box::new(Done { result, started: Some(started), refused: None, withdrawn: None }))
    }

    /// A refusal as a value.
    pub(super) fn refusal(error: &WireError) -> Self {
        Self::result(in_band(error))
    }

    /// The refusal of a start.
    pub(super) fn refused_start(error: &Error) -> Self {
        Self::not_started(error, None)
    }

    /// The one who asked gave the start up.
    pub(super) fn withdrawn(decision: u64) -> Self {
        Self::not_started(&HostError::Aborted.into(), Some(decision))
    }

    fn not_started(error: &Error, withdrawn: Option<u64>) -> Self {
        let wire = error.to_wire();
        Self::Done(Box::new(Done { result: in_band(&wire), started: None, refused: Some(wire), withdrawn }))
    }
}

fn in_band(error: &WireError) -> Json {
    json!({ "isError": true, "error": error.message, "code": error.code })
}

/// What a hook's answer came to.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Decided {
    /// Another hook has to be asked.
    Question(Box<Question>),
    /// The command was started.
    Started {
        /// Its handle.
        started: Started,
    },
    /// It was refused.
    Refused {
        /// Why.
        refused: WireError,
    },
    /// Nobody wants to know any more.
    Withdrawn {},
}
