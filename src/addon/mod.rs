//! The only N-API code: JavaScript values in, core calls, plain values or coded errors out. It decides nothing.
//!
//! Nothing here is async to N-API. A call gets an id from JavaScript and returns at once; its result comes back in a
//! batch through the one thread-safe function of its environment (`port`). That function is closed by a clean-up
//! hook registered right after it, which Node therefore runs before its own: no thread of ours touches it later.

mod host;
mod kept;
mod port;
mod runtime;
mod tools;
mod value;
