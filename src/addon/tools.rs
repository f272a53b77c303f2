//! The tools of a native host.

use std::sync::Arc;

use napi::Result;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;
use serde_json::Value as Json;

use super::host::{Host, Outcome, json, key};
use super::value;

#[napi]
impl Host {
    /// Registers the tools that run commands.
    #[napi(catch_unwind)]
    pub fn register_command_tools(&self) {
        self.tools.register_commands();
    }

    /// The definitions of all registered tools.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> Outcome {
        Outcome::of(Ok(self.tools.definitions()))
    }

    /// Sets the session of calls that name none.
    #[napi(catch_unwind)]
    pub fn set_tool_context(&self, context: Unknown<'_>) -> Result<Outcome> {
        let set = self.tools.set_context(&value::read(context)?);
        Ok(Outcome::of(set.map(|()| Json::Null)))
    }

    /// Executes a tool: its result, or a question for a hook.
    #[napi(catch_unwind)]
    pub fn execute_tool(
        &self,
        id: f64,
        name: Unknown<'_>,
        params: Unknown<'_>,
        context: Unknown<'_>,
        env: Unknown<'_>,
        aborted: bool,
    ) -> Result<()> {
        let (name, params, context) = (value::read(name)?, value::read(params)?, value::read(context)?);
        let env = value::read(env)?;
        let cancel = self.cancellable(id);
        if aborted {
            self.cancel(id);
        }
        let tools = Arc::clone(&self.tools);
        let call = tools.call(name, params, &context, env, cancel);
        self.spawn(id, |_| async move { json(Ok(tools.execute(call).await)) });
        Ok(())
    }

    /// Goes on with a decision whose hook has answered.
    #[napi(catch_unwind)]
    pub fn decide_tool(&self, id: f64, decision: f64, ticket: f64, reply: Unknown<'_>) -> Result<()> {
        let reply = value::read(reply)?;
        let tools = Arc::clone(&self.tools);
        self.spawn(
            id,
            move |_| async move { json(Ok(tools.decide(key(decision), key(ticket), &reply).await)) },
        );
        Ok(())
    }

    /// Waits for what a decision comes to, as the call that asked for it.
    #[napi(catch_unwind)]
    pub fn tool_outcome(&self, id: f64, decision: f64) {
        let cancel = self.cancellable(id);
        let tools = Arc::clone(&self.tools);
        self.spawn(id, move |_| async move { json(Ok(tools.outcome(key(decision), cancel).await)) });
    }
}
