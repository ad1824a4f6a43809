//! How long a result stays valid (`ttlMs`, 2026-07-28). Its `cacheScope` makes no difference here: a
//! result is kept in memory only, for one user and one session. Pure.

use serde_json::Value;
use std::time::Duration;

/// Longer lifetimes are capped at this.
const TTL_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The lifetime that a result states.
pub fn stated_lifetime(result: &Value) -> Option<Duration> {
    let ttl = result.get("ttlMs").and_then(Value::as_u64)?;
    Some(Duration::from_millis(ttl).min(TTL_MAX))
}

/// The lifetime of a list after another page has arrived: the shortest of all its pages.
pub fn shorter_lifetime(earlier: Option<Duration>, page: &Value) -> Option<Duration> {
    let ttls = [earlier, stated_lifetime(page)];
    ttls.into_iter().flatten().min()
}
