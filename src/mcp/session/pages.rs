//! The pages of a list: the cursor of the next one, and how long a result stays valid (`ttlMs`,
//! 2026-07-28). Its `cacheScope` makes no difference here: a result is kept in memory only, for one user
//! and one session. Pure.

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

/// The cursor of the next page; `None` if this page is the last one. Since 2026-07-28, only null or
/// absence marks the last page, so the empty text is a cursor like any other. Legacy servers also use
/// it for the last page.
pub fn next_cursor(page: &Value, is_modern: bool) -> Option<&str> {
    let cursor = page.get("nextCursor").and_then(Value::as_str);
    cursor.filter(|cursor| is_modern || !cursor.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::mcp::session::decode::ToolListBuilder;
    use serde_json::json;

    #[test]
    fn only_a_legacy_list_ends_with_an_empty_cursor() {
        let page = json!({ "tools": [], "nextCursor": "" });
        assert_eq!(ToolListBuilder::new(false).add_page(&page), Ok(None));
        let mut modern = ToolListBuilder::new(true);
        assert_eq!(modern.add_page(&page), Ok(Some(String::new())));
        assert_eq!(modern.add_page(&page), Ok(None));
        assert_eq!(modern.finish().1.len(), 1, "a repeated cursor");
        for last_page in [
            json!({ "tools": [] }),
            json!({ "tools": [], "nextCursor": null }),
        ] {
            assert_eq!(ToolListBuilder::new(true).add_page(&last_page), Ok(None));
        }
    }
}
