//! What a tool's call comes to, as it goes to JavaScript.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::error::{Error, WireError};
use crate::host::Started;
use crate::host::questions::Question;

/// What a call came to, for now.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// This is what the model gets.
    Done(Done),
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
}

impl Answer {
    pub(super) fn result(result: Json) -> Self {
        Self::Done(Done { result, started: None, refused: None })
    }

    pub(super) fn started(result: Json, started: Started) -> Self {
        Self::Done(Done { result, started: Some(started), refused: None })
    }

    /// A refusal as a value.
    pub(super) fn refusal(error: &WireError) -> Self {
        Self::result(json!({ "isError": true, "error": error.message, "code": error.code }))
    }

    /// The refusal of a start.
    pub(super) fn refused_start(error: &Error) -> Self {
        let wire = error.to_wire();
        match Self::refusal(&wire) {
            Self::Done(done) => Self::Done(Done { refused: Some(wire), ..done }),
            question @ Self::Question { .. } => question,
        }
    }
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
