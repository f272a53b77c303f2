//! Wall-clock time, for records. Spans and deadlines are `std::time::Instant` (`CLOCK_MONOTONIC`).

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch; 0 for a clock set before it.
pub fn epoch_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
