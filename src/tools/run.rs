//! Starting a command for a model: its budget narrowed, its hooks waited for no longer than a model can.

use serde_json::json;

use super::decisions::{Entry, Handle, Key, Outcome, Waited};
use super::dispatch::{Call, Tools};
use super::error::ToolError;
use super::outcome::{Answer, Decided};
use super::params::RunCommand;
use super::reader::read;
use crate::error::Error;
use crate::host::error::HostError;
use crate::host::questions::HookRequest;
use crate::host::{Cancel, Reply, Started};
use crate::input::Value;

impl Tools {
    /// `run_command_bg`. A question that comes back has to be answered through [`Tools::decide`]; meanwhile
    /// [`Tools::outcome`] waits for this call.
    pub(super) async fn run(&self, call: Call, session: Option<String>) -> Result<Answer, Error> {
        let Call { params, policy, env, cancel, .. } = call;
        let RunCommand { cwd, timeout_ms, .. } = read(&params)?;
        let argv = field(&params, "argv").clone();
        // The policy's own budget is the ceiling here, so a model never meets `ERR_BUDGET`.
        let granted = policy.as_ref().map(|policy| policy.rules.budgets().default_budget().timeout_ms);
        let asked = timeout_ms.map_or(u64::MAX, super::number::Positive::get);
        let timeout_ms = granted.unwrap_or(u64::MAX).min(asked);
        let digest = policy.as_ref().map(|policy| policy.rules.digest().to_owned()).unwrap_or_default();
        let options = start_options(cwd, policy.is_some().then_some(timeout_ms), session.clone());

        match self.host.start(policy, argv, options, env, cancel.clone()).await? {
            Reply::Started(started) => Ok(self.started(started, timeout_ms, session.as_deref())),
            Reply::Question(question) => {
                let HookRequest { argv, cwd, .. } = &question.request;
                let (argv, cwd) = (argv.clone(), cwd.clone());
                let key = Key { policy: digest, session: session.clone(), cwd, argv };
                match self.decisions.enter(key, &question) {
                    Entry::New(decision) => Ok(Answer::Question { decision, ask: question }),
                    Entry::Joined(decision) => {
                        self.host.withdraw(question.ticket);
                        Ok(self.wait_for(decision, session.as_deref(), cancel).await)
                    }
                    Entry::Decided(outcome) => {
                        self.host.withdraw(question.ticket);
                        Ok(self.told(outcome, session.as_deref()))
                    }
                }
            }
        }
    }

    /// Waits, on behalf of the call that asked first, for what its question comes to.
    pub async fn outcome(&self, decision: u64, cancel: Cancel) -> Answer {
        let session = self.decisions.session(decision);
        self.wait_for(decision, session.as_deref(), cancel).await
    }

    async fn wait_for(&self, decision: u64, session: Option<&str>, cancel: Cancel) -> Answer {
        match self.decisions.wait(decision, self.patience, cancel).await {
            Some(Waited::Decided(outcome)) => self.told(outcome, session),
            Some(Waited::Pending) => {
                let waited_ms = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
                Answer::refusal(&Error::from(ToolError::ApprovalPending { waited_ms }).to_wire())
            }
            Some(Waited::Left) => Answer::refusal(&Error::from(HostError::Aborted).to_wire()),
            Some(Waited::Withdrawn(ticket)) => {
                self.host.withdraw(ticket);
                Answer::withdrawn(decision)
            }
            // Closed before this call got here.
            None => Answer::refusal(&Error::from(HostError::Disposed).to_wire()),
        }
    }

    /// Goes on with a decision whose hook has answered.
    pub async fn decide(&self, decision: u64, ticket: u64, reply: &Value) -> Decided {
        let Some((cancel, timeout_ms)) = self.decisions.wanted(decision) else {
            self.host.withdraw(ticket);
            return Decided::Withdrawn {};
        };
        match self.host.answer(ticket, reply, cancel).await {
            Ok(Reply::Question(question)) => {
                self.decisions.goes_on(decision, question.ticket);
                Decided::Question(question)
            }
            Ok(Reply::Started(started)) => {
                let wanted = self.decisions.settle(decision, Ok(handle(&started, timeout_ms)));
                if !wanted {
                    // Given up while it was being started.
                    self.host.abort(&started.task_id);
                }
                Decided::Started { started }
            }
            Err(error) => {
                let refused = error.to_wire();
                let wanted = self.decisions.settle(decision, Err(Box::new(refused.clone())));
                if wanted { Decided::Refused { refused } } else { Decided::Withdrawn {} }
            }
        }
    }

    /// Ends what is undecided: the host starts nothing any more.
    pub fn close(&self) {
        self.decisions.settle_all(&Error::from(HostError::Disposed).to_wire());
    }

    fn started(&self, started: Started, timeout_ms: u64, session: Option<&str>) -> Answer {
        let result = serde_json::to_value(handle(&started, timeout_ms)).unwrap_or_default();
        Answer::started(self.counted(result, session), started)
    }

    fn told(&self, outcome: Outcome, session: Option<&str>) -> Answer {
        match outcome {
            Ok(handle) => Answer::result(self.counted(json!(handle), session)),
            Err(error) => Answer::refusal(&error),
        }
    }
}

fn handle(started: &Started, timeout_ms: u64) -> Handle {
    Handle {
        task_id: started.task_id.clone(),
        argv: started.argv.clone(),
        started_at: started.started_at,
        timeout_ms,
    }
}

fn field<'v>(params: &'v Value, name: &str) -> &'v Value {
    let Value::Record(entries) = params else { return &Value::Absent };
    entries.iter().find(|(key, _)| key == name).map_or(&Value::Absent, |(_, value)| value)
}

/// What a model sets of a start, and whose it is; nothing else.
fn start_options(cwd: Option<String>, timeout_ms: Option<u64>, session: Option<String>) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "a budget that was read from a JavaScript number")]
    let timeout_ms = timeout_ms.map(|ms| Value::Number(ms as f64));
    let entries =
        [("cwd", cwd.map(Value::Text)), ("timeoutMs", timeout_ms), ("sessionId", session.map(Value::Text))];
    let given = entries.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Record(given.collect())
}
