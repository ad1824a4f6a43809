//! JSON for the terminal: the same values, without characters that could control it or hide.

use super::invisible::is_invisible;

/// Replaces every invisible character of the JSON text `json` with a `\u` escape, which only its
/// strings can contain. Keeps line breaks between values. O(len).
pub fn escape_invisible_in_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_invisible(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// A text of all planes, in which half of the characters are of the first 256.
    fn any_text() -> impl Strategy<Value = String> {
        let c = prop_oneof![any::<u8>().prop_map(char::from), any::<char>()];
        vec(c, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn escaped_json_has_the_same_value_and_no_hidden_character(
            key in any_text(), text in any_text(),
        ) {
            let value = json!({ key: [text, "\u{9b}31m\u{7f}\u{202e}\u{e0041}\\u0041"] });
            for json in [value.to_string(), format!("{value:#}")] {
                let escaped = escape_invisible_in_json(&json);
                let hidden = escaped.chars().find(|c| *c != '\n' && is_invisible(*c));
                prop_assert_eq!(hidden, None);
                prop_assert_eq!(&serde_json::from_str::<Value>(&escaped).unwrap(), &value);
            }
        }
    }

    #[test]
    fn visible_characters_of_every_script_are_kept() {
        let json = r#"{"한국어":["é","Привет","שלום","👍🏽"]}"#;
        assert_eq!(escape_invisible_in_json(json), json);
        let tag = escape_invisible_in_json("\"\u{e0041}\u{9d}\"");
        assert_eq!(tag, r#""\udb40\udc41\u009d""#);
    }
}
