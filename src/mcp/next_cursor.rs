//! The cursor of the next page of a list. Pure.

use serde_json::Value;

/// The cursor of the next page; `None` if this page is the last one. Since 2026-07-28, only null or
/// absence marks the last page, so the empty text is a cursor like any other. Legacy servers also use
/// it for the last page.
pub fn next_cursor(page: &Value, is_modern: bool) -> Option<&str> {
    let cursor = page.get("nextCursor").and_then(Value::as_str);
    cursor.filter(|cursor| is_modern || !cursor.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::decode::ToolListBuilder;
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
