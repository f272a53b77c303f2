//! Pure decisions: what a policy says, and what it lets through of one request.
//!
//! No look at the machine and no clock: the working directory, the program behind a name and the host's hooks are
//! later stages. What comes out is a [`Candidate`], which only [`Policy::decide`] makes, or a [`PolicyError`].

mod advice;
mod argv;
mod budget;
mod confinement;
mod decide;
mod environment;
mod error;
mod executable;
mod narrowing;
mod pattern;
mod request;
mod resource;
mod rules;
mod size;
#[cfg(test)]
mod testing;
mod warnings;
mod wire;

pub use budget::{Budget, Budgets};
pub use confinement::{Confinement, Execute, Level, Network};
pub use decide::{Candidate, CandidateParts, Standing};
pub use environment::{EnvFault, EnvSource, InheritEnv};
pub use error::PolicyError;
pub use executable::{AllowedExecutable, Kin};
pub use pattern::{NearestPattern, PatternFault};
pub use request::{StartRequest, read_session_id};
pub use resource::ResourceLimits;
pub use rules::Policy;
