//! Decodes lists of prompts and resources item by item, as `decode` does for tools: an invalid item
//! does not affect the valid ones, and every omission is reported. Pure.

use crate::domain::{
    ContentArgument, ResourceTemplate, ServerPrompt, ServerResource, UriTemplate, VARIABLES_MAX,
};
use crate::mcp::session::pages::next_cursor;
use crate::mcp::session::pages::shorter_lifetime;
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;

pub const CONTENT_PAGES_MAX: usize = 100;
/// Maximum number of items of one list.
pub const CONTENT_ITEMS_MAX: usize = 1_000;
/// A prompt with more arguments is left out as a whole: a missing argument may be required.
const ARGUMENTS_MAX: usize = 200;
/// Maximum size of a name or title. Longer text that a request needs in full, such as a prompt's name
/// or a URI, makes the item invalid; any other text is truncated.
const NAME_BYTES_MAX: usize = 512;
const URI_BYTES_MAX: usize = 4_096;
const DESCRIPTION_BYTES_MAX: usize = 4_096;
/// Maximum number of lines about single omitted items; further ones are counted as invalid.
const OMITTED_LINES_MAX: usize = 20;

pub trait ListedItem: Sized {
    /// The field of the result that holds the list.
    const FIELD: &'static str;
    /// The word for one item, such as `prompt`.
    const NOUN: &'static str;

    /// `None` if the item is unusable.
    fn decode(item: &Value) -> Option<Self>;

    /// The identifier that requests use. A second item with the same key is omitted.
    fn key(&self) -> &str;

    /// Why a valid item cannot be used, as a clause.
    fn obstacle(&self) -> Option<String> {
        None
    }
}

/// A list that is collected page by page.
#[derive(Debug)]
pub struct ContentListBuilder<T> {
    items: Vec<T>,
    keys: HashSet<String>,
    omitted: Vec<String>,
    invalid_count: usize,
    seen_cursors: HashSet<String>,
    page_count: usize,
    ttl: Option<Duration>,
    is_modern: bool,
}

/// A list as far as it could be collected.
#[derive(Debug, PartialEq)]
pub struct ContentList<T> {
    pub items: Vec<T>,
    pub omitted: Vec<String>,
    /// How long the list stays valid (`ttlMs`), if the server states it.
    pub ttl: Option<Duration>,
}

impl<T> ContentListBuilder<T> {
    /// For a session of the modern protocol or of a legacy one.
    pub fn new(is_modern: bool) -> Self {
        Self {
            items: Vec::new(),
            keys: HashSet::new(),
            omitted: Vec::new(),
            invalid_count: 0,
            seen_cursors: HashSet::new(),
            page_count: 0,
            ttl: None,
            is_modern,
        }
    }
}

impl<T: ListedItem> ContentListBuilder<T> {
    /// Adds one page. Returns the cursor of the next one, if it has to be requested.
    ///
    /// # Errors
    /// The result contains no list.
    pub fn add_page(&mut self, result: &Value) -> Result<Option<String>, String> {
        let items = result.get(T::FIELD).and_then(Value::as_array);
        let items = items.ok_or_else(|| format!("the answer has no `{}` list", T::FIELD))?;
        self.page_count += 1;
        self.ttl = shorter_lifetime(self.ttl, result);
        for item in items {
            if self.items.len() == CONTENT_ITEMS_MAX {
                self.omit_rest(&format!("the first {CONTENT_ITEMS_MAX}"));
                return Ok(None);
            }
            match T::decode(item) {
                None => self.invalid_count += 1,
                Some(item) if !self.keys.insert(item.key().to_owned()) => {
                    let omission = format!("a second {} named `{}`", T::NOUN, item.key());
                    self.omit(omission);
                }
                Some(item) => match item.obstacle() {
                    Some(why) => self.omit(format!("{} `{}`: {why}", T::NOUN, item.key())),
                    None => self.items.push(item),
                },
            }
        }
        let Some(cursor) = next_cursor(result, self.is_modern) else {
            return Ok(None);
        };
        if !self.seen_cursors.insert(cursor.to_owned()) {
            self.omit_rest("a page with a repeated cursor");
            return Ok(None);
        }
        if self.page_count == CONTENT_PAGES_MAX {
            self.omit_rest(&format!("the first {CONTENT_PAGES_MAX} pages"));
            return Ok(None);
        }
        Ok(Some(cursor.to_owned()))
    }

    fn omit_rest(&mut self, kept: &str) {
        self.omitted.push(format!("all {}s after {kept}", T::NOUN));
    }

    fn omit(&mut self, omission: String) {
        if self.omitted.len() < OMITTED_LINES_MAX {
            self.omitted.push(omission);
        } else {
            self.invalid_count += 1;
        }
    }

    pub fn finish(mut self) -> ContentList<T> {
        match self.invalid_count {
            0 => {}
            1 => self.omitted.push(format!("an invalid {}", T::NOUN)),
            count => self.omitted.push(format!("{count} invalid {}s", T::NOUN)),
        }
        ContentList {
            items: self.items,
            omitted: self.omitted,
            ttl: self.ttl,
        }
    }
}

impl ListedItem for ServerPrompt {
    const FIELD: &'static str = "prompts";
    const NOUN: &'static str = "prompt";

    fn decode(item: &Value) -> Option<Self> {
        let arguments = item.get("arguments").and_then(Value::as_array);
        let arguments = arguments.into_iter().flatten().take(ARGUMENTS_MAX + 1);
        Some(Self {
            name: key_text(item, "name", NAME_BYTES_MAX)?,
            title: text(item, "title", NAME_BYTES_MAX),
            description: text(item, "description", DESCRIPTION_BYTES_MAX),
            arguments: arguments.filter_map(decode_argument).collect(),
        })
    }

    fn key(&self) -> &str {
        &self.name
    }

    fn obstacle(&self) -> Option<String> {
        let is_too_long = self.arguments.len() > ARGUMENTS_MAX;
        is_too_long.then(|| format!("it has more than {ARGUMENTS_MAX} arguments"))
    }
}

impl ListedItem for ServerResource {
    const FIELD: &'static str = "resources";
    const NOUN: &'static str = "resource";

    fn decode(item: &Value) -> Option<Self> {
        let uri = key_text(item, "uri", URI_BYTES_MAX)?;
        Some(Self {
            name: text(item, "name", NAME_BYTES_MAX).unwrap_or_else(|| uri.clone()),
            title: text(item, "title", NAME_BYTES_MAX),
            description: text(item, "description", DESCRIPTION_BYTES_MAX),
            mime_type: text(item, "mimeType", NAME_BYTES_MAX),
            bytes: item.get("size").and_then(Value::as_u64),
            uri,
        })
    }

    fn key(&self) -> &str {
        &self.uri
    }
}

impl ListedItem for ResourceTemplate {
    const FIELD: &'static str = "resourceTemplates";
    const NOUN: &'static str = "resource template";

    fn decode(item: &Value) -> Option<Self> {
        let uri_template = key_text(item, "uriTemplate", URI_BYTES_MAX)?;
        Some(Self {
            name: text(item, "name", NAME_BYTES_MAX).unwrap_or_else(|| uri_template.clone()),
            title: text(item, "title", NAME_BYTES_MAX),
            description: text(item, "description", DESCRIPTION_BYTES_MAX),
            mime_type: text(item, "mimeType", NAME_BYTES_MAX),
            uri_template: UriTemplate::parse(&uri_template),
        })
    }

    fn key(&self) -> &str {
        self.uri_template.as_str()
    }

    fn obstacle(&self) -> Option<String> {
        let is_too_long = self.uri_template.has_too_many_variables();
        is_too_long.then(|| format!("it has more than {VARIABLES_MAX} variables"))
    }
}

fn decode_argument(item: &Value) -> Option<ContentArgument> {
    Some(ContentArgument {
        name: key_text(item, "name", NAME_BYTES_MAX)?,
        title: text(item, "title", NAME_BYTES_MAX),
        description: text(item, "description", DESCRIPTION_BYTES_MAX),
        is_required: item.get("required").and_then(Value::as_bool) == Some(true),
    })
}

/// A string that is never truncated, because requests need all of it.
fn key_text(item: &Value, key: &str, bytes_max: usize) -> Option<String> {
    let text = item.get(key)?.as_str()?;
    (!text.is_empty() && text.len() <= bytes_max).then(|| text.to_owned())
}

fn text(item: &Value, key: &str, bytes_max: usize) -> Option<String> {
    let text = item.get(key)?.as_str()?;
    let end = text.floor_char_boundary(bytes_max.min(text.len()));
    Some(text[..end].to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn invalid_prompts_are_counted_and_the_others_kept() {
        let mut list = ContentListBuilder::<ServerPrompt>::new(false);
        let page = json!({ "ttlMs": 5000, "prompts": [
            { "name": "a", "arguments": [{ "name": "x", "required": true }, 7, { "name": "" }] },
            {}, 42, { "name": "" }, { "name": "n".repeat(600) }, { "name": "a" },
            { "name": "b/\u{1b}[31m", "title": "B", "arguments": "none" },
        ] });
        assert_eq!(list.add_page(&page), Ok(None));
        let list = list.finish();
        let names: Vec<_> = list.items.iter().map(|prompt| &*prompt.name).collect();
        assert_eq!(names, ["a", "b/\u{1b}[31m"]);
        assert_eq!(list.items[0].arguments.len(), 1);
        assert!(list.items[0].arguments[0].is_required);
        let expected = ["a second prompt named `a`", "4 invalid prompts"];
        assert_eq!(list.omitted, expected);
        assert_eq!(list.ttl, Some(Duration::from_secs(5)));
    }

    #[test]
    fn a_list_of_100_000_prompts_is_truncated() {
        let prompts: Vec<_> = (0..100_000)
            .map(|n| json!({ "name": n.to_string() }))
            .collect();
        let mut list = ContentListBuilder::<ServerPrompt>::new(false);
        let page = json!({ "prompts": prompts, "nextCursor": "2" });
        assert_eq!(list.add_page(&page), Ok(None));
        let list = list.finish();
        assert_eq!(list.items.len(), CONTENT_ITEMS_MAX);
        assert_eq!(list.omitted, ["all prompts after the first 1000"]);
    }

    #[test]
    fn endless_pages_and_repeated_cursors_end_the_list() {
        let mut list = ContentListBuilder::<ServerResource>::new(false);
        let mut page_count = 0;
        loop {
            page_count += 1;
            let page = json!({ "resources": [], "nextCursor": page_count.to_string() });
            if list.add_page(&page) == Ok(None) {
                break;
            }
        }
        assert_eq!(page_count, CONTENT_PAGES_MAX);
        let mut list = ContentListBuilder::<ServerResource>::new(false);
        let page = json!({ "resources": [{ "uri": "file:///etc/passwd" }], "nextCursor": "1" });
        assert_eq!(list.add_page(&page), Ok(Some("1".to_owned())));
        assert_eq!(list.add_page(&page), Ok(None));
        let list = list.finish();
        assert_eq!(list.items[0].name, "file:///etc/passwd");
        assert_eq!(list.items.len(), 1);
    }

    #[test]
    fn a_template_with_too_many_variables_is_omitted_with_the_reason() {
        let template = |count: usize| {
            let names: Vec<String> = (0..count).map(|n| format!("v{n}")).collect();
            json!({ "uriTemplate": format!("t://{{{}}}", names.join(",")), "name": "t" })
        };
        let mut list = ContentListBuilder::<ResourceTemplate>::new(false);
        let page = json!({ "resourceTemplates": [template(20), template(21)] });
        list.add_page(&page).expect("a list");
        let list = list.finish();
        assert_eq!(list.items.len(), 1);
        assert_eq!(list.items[0].uri_template.variables().len(), 20);
        let why = &list.omitted[0];
        assert!(why.ends_with("`: it has more than 20 variables"), "{why}");
    }

    #[test]
    fn a_prompt_keeps_all_its_arguments_or_is_omitted_with_the_reason() {
        let prompt = |name: &str, count: usize| {
            let argument =
                |n: usize| json!({ "name": format!("a{n}"), "required": n + 1 == count });
            let arguments: Vec<_> = (0..count).map(argument).collect();
            json!({ "name": name, "arguments": arguments })
        };
        let mut list = ContentListBuilder::<ServerPrompt>::new(false);
        let page = json!({ "prompts": [prompt("long", 200), prompt("longer", 201)] });
        list.add_page(&page).expect("a list");
        let list = list.finish();
        assert_eq!(list.items.len(), 1);
        assert_eq!(list.items[0].arguments.len(), 200);
        assert!(list.items[0].arguments[199].is_required);
        let why = "prompt `longer`: it has more than 200 arguments";
        assert_eq!(list.omitted, [why]);
    }

    #[test]
    fn an_answer_without_a_list_is_an_error() {
        for page in [json!({}), json!({ "resourceTemplates": {} }), json!(null)] {
            let mut list = ContentListBuilder::<ResourceTemplate>::new(false);
            assert!(list.add_page(&page).is_err());
        }
    }
}
