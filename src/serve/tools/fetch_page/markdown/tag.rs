//! Tags: the elements that are skipped or start a new paragraph, and the attributes that matter.

use crate::text::{WordList, word_list};
use html5gum::StartTag;

/// Elements whose content is not text of the page.
pub static SKIPPED: WordList = word_list!("html_elements", "skipped");
/// Elements that can be skipped as a whole if they are hidden, because their end tags are mandatory.
static HIDABLE: WordList = word_list!("html_elements", "hidable");
pub static BLOCKS: WordList = word_list!("html_elements", "blocks");

pub fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Whether the element is skipped because a browser would not show it. Hidden text is a common place
/// for instructions to models.
pub fn is_hidden(name: &str, tag: &StartTag<()>) -> bool {
    if !HIDABLE.contains(&name) || tag.self_closing {
        return false;
    }
    let style = attribute(tag, "style").unwrap_or_default();
    let style: String = style.to_ascii_lowercase().split_whitespace().collect();
    tag.attributes.contains_key(&b"hidden"[..])
        || ["display:none", "visibility:hidden"]
            .iter()
            .any(|rule| style.contains(rule))
}

/// The language of a code block, from a class such as `language-rust`.
pub fn language(tag: &StartTag<()>) -> String {
    let classes = attribute(tag, "class").unwrap_or_default();
    let language = classes.split_whitespace().find_map(|class| {
        let language = class
            .strip_prefix("language-")
            .or(class.strip_prefix("lang-"))?;
        let is_name = language
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-#_".contains(c));
        (is_name && language.len() <= 30).then(|| language.to_owned())
    });
    language.unwrap_or_default()
}
