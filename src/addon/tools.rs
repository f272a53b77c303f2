//! The tools of a native host.

use std::sync::Arc;

use napi::Result;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::host::{Host, Outcome, held, json, key};
use super::value;
use crate::input::Field;

#[napi]
impl Host {
    /// Registers the tools that run commands.
    #[napi(catch_unwind)]
    pub fn register_command_tools(&self) {
        self.tools.register_commands();
    }

    /// Registers a repository, and the tools that ask it.
    #[napi(catch_unwind)]
    pub fn register_git_tools(&self, options: Unknown<'_>, env: Unknown<'_>) -> Result<Outcome> {
        let registered = self.tools.register_repository(&value::read(options)?, &value::read_variables(env)?);
        Ok(Outcome::of(registered))
    }

    /// Runs one of git's reading commands for host code.
    #[napi(catch_unwind)]
    pub fn run_git_command(&self, id: f64, args: Unknown<'_>, session_id: Unknown<'_>) -> Result<()> {
        let (args, session) = (value::read(args)?, value::read(session_id)?);
        let cancel = self.cancellable(id);
        let tools = Arc::clone(&self.tools);
        self.spawn(id, move |core| async move {
            let session = Field::argument("sessionId", &session).filled_text()?.map(str::to_owned);
            let session = session.or_else(|| tools.session());
            json(core.run_git_command(&args, session, cancel).await)
        });
        Ok(())
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
        Ok(Outcome::of(set))
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
        let env = value::read_variables(env)?;
        let cancel = self.cancellable(id);
        if aborted {
            self.cancel(id);
        }
        let tools = Arc::clone(&self.tools);
        let call = tools.call(name, params, &context, env, cancel);
        self.spawn(id, |_| async move { held(tools.execute(call).await) });
        Ok(())
    }

    /// Goes on with a decision whose hook has answered.
    #[napi(catch_unwind)]
    pub fn decide_tool(&self, id: f64, decision: f64, ticket: f64, reply: Unknown<'_>) -> Result<()> {
        let reply = value::read(reply)?;
        let tools = Arc::clone(&self.tools);
        self.spawn(id, move |_| async move { held(tools.decide(key(decision), key(ticket), &reply).await) });
        Ok(())
    }

    /// Waits for what a decision comes to, as the call that asked for it.
    #[napi(catch_unwind)]
    pub fn tool_outcome(&self, id: f64, decision: f64) {
        let cancel = self.cancellable(id);
        let tools = Arc::clone(&self.tools);
        self.spawn(id, move |_| async move { held(tools.outcome(key(decision), cancel).await) });
    }
}
