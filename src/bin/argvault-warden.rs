//! The warden's entry point. The addon starts it with a socket as standard input; it is of no use by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    match argvault::warden::warden::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
