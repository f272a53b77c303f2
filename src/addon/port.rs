//! One way out per JavaScript environment: results and events, in batches, through one weak thread-safe function.

#![expect(clippy::needless_pass_by_value, reason = "what JavaScript passes to an export is a value")]

use std::any::Any;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use napi::bindgen_prelude::{Buffer, Either3, FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;
use serde_json::Value as Json;

use crate::error::{Code, Error, WireError};
use crate::host::CommandHost;

/// What a call comes to.
pub(super) enum Reply {
    /// Anything that JSON can say.
    Json(Json),
    /// The same, with what is dropped once it is delivered.
    Held(Json, Box<dyn Any + Send>),
    /// Text, which may be long.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// One result or event.
#[napi(object, object_from_js = false)]
pub struct Message {
    /// The call, or 0 for an event.
    pub id: f64,
    /// Whether the value is a result or a wire error.
    pub ok: bool,
    /// The value.
    pub value: Either3<Json, String, Buffer>,
}

type Deliver = ThreadsafeFunction<(), (), FnArgs<(Vec<Message>,)>, Status, false, true>;

/// What the threads of the runtime see of an environment.
pub(super) struct Shared {
    queue: Mutex<Vec<(f64, std::result::Result<Reply, WireError>)>>,
    /// `None` once the environment is going away. Held for reading while it is called, for writing to take it out.
    deliver: RwLock<Option<Deliver>>,
    hosts: Mutex<Vec<std::sync::Weak<CommandHost>>>,
}

impl Shared {
    /// Sends one message. Those that come while JavaScript hasn't yet taken the last batch join it.
    pub(super) fn send(&self, id: f64, result: std::result::Result<Reply, WireError>) {
        let first = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.push((id, result));
            queue.len() == 1
        };
        if first {
            let deliver = self.deliver.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(deliver) = &*deliver {
                deliver.call((), ThreadsafeFunctionCallMode::NonBlocking);
            } else {
                drop(self.drain());
            }
        }
    }

    fn drain(&self) -> Vec<(f64, std::result::Result<Reply, WireError>)> {
        mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take(&self) -> Vec<Message> {
        self.drain().into_iter().map(|(id, result)| message(id, result)).collect()
    }

    /// Remembers a host whose commands end with this environment.
    pub(super) fn adopt(&self, host: &Arc<CommandHost>) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.retain(|host| host.strong_count() > 0);
        hosts.push(Arc::downgrade(host));
    }

    /// The environment is going away: nothing is delivered any more, and its commands end.
    fn close(&self) {
        drop(self.deliver.write().unwrap_or_else(PoisonError::into_inner).take());
        // What nobody takes any more would hold its command's host, which holds this queue.
        drop(self.drain());
        for host in self.hosts.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(host) = host.upgrade() {
                host.abandon();
            }
        }
    }
}

fn message(id: f64, result: std::result::Result<Reply, WireError>) -> Message {
    let (ok, value) = match result {
        Ok(Reply::Json(json)) => (true, Either3::A(json)),
        Ok(Reply::Held(json, held)) => {
            drop(held);
            (true, Either3::A(json))
        }
        Ok(Reply::Text(text)) => (true, Either3::B(text)),
        Ok(Reply::Bytes(bytes)) => (true, Either3::C(bytes.into())),
        Err(error) => (false, Either3::A(serde_json::to_value(error).unwrap_or_default())),
    };
    Message { id, ok, value }
}

/// A call's promise to answer: exactly once, and also when the work that owed it is dropped or panics.
pub(super) struct Owed {
    port: Arc<Shared>,
    id: f64,
    paid: bool,
}

impl Owed {
    /// For call `id`.
    pub(super) fn new(port: Arc<Shared>, id: f64) -> Self {
        Self { port, id, paid: false }
    }

    /// Answers.
    pub(super) fn pay(mut self, result: std::result::Result<Reply, Error>) {
        self.paid = true;
        self.port.send(self.id, result.map_err(|error| error.to_wire()));
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if !self.paid {
            self.port.send(self.id, Err(internal("the work ended without a result")));
        }
    }
}

/// A fault of ours as it crosses.
pub(super) fn internal(reason: &str) -> WireError {
    let error: Error = crate::host::error::HostError::Internal { reason: reason.into() }.into();
    debug_assert_eq!(error.code(), Code::Internal);
    error.to_wire()
}

/// One per JavaScript environment.
#[napi]
pub struct Port {
    shared: Arc<Shared>,
}

#[napi]
impl Port {
    /// `deliver` is called with batches of messages. It doesn't keep the event loop alive.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, deliver: Function<'_, FnArgs<(Vec<Message>,)>, ()>) -> Result<Self> {
        let shared =
            Arc::new(Shared { queue: Mutex::default(), deliver: RwLock::new(None), hosts: Mutex::default() });
        let source = Arc::clone(&shared);
        let deliver: Deliver = deliver
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .callee_handled::<false>()
            .build_callback(move |_| Ok(FnArgs::from((source.take(),))))?;
        *shared.deliver.write().unwrap_or_else(PoisonError::into_inner) = Some(deliver);
        // Registered after the function's own hook, so it runs before that one: hooks run last to first.
        env.add_env_cleanup_hook(Arc::clone(&shared), |shared| shared.close())?;
        Ok(Self { shared })
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }
}
