//! Reads the `keys` section of `config.json`. The screen checks the names of actions and keys.

use super::*;
use humble::domain::KeyEntry;

#[test]
fn key_settings_are_read_with_their_line_numbers() {
    let fixture = with_config(
        r#"{
  "keys": {
    "commands": "Ctrl+K",
    "help": ["F1", "F8"], "mouse": [],
    "raw": 5,
    "log": ["F12", null],
    "find": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
  }
}"#,
    );
    assert_eq!(fixture.banners(), []);
    let keys = fixture.settings().keys;
    assert_eq!(keys.file, fixture.home.config().display().to_string());
    let entry = |action: &str, keys: Result<&[&str], &str>, line| KeyEntry {
        action: action.to_owned(),
        keys: match keys {
            Ok(keys) => Ok(keys.iter().map(|key| (*key).to_owned()).collect()),
            Err(error) => Err(error.to_owned()),
        },
        line,
    };
    let expected = [
        entry("commands", Ok(&["Ctrl+K"]), 3),
        entry("help", Ok(&["F1", "F8"]), 4),
        entry("mouse", Ok(&[]), 4),
        entry(
            "raw",
            Err("is a number, expected a key or a list of keys"),
            5,
        ),
        entry("log", Err("lists something other than strings"), 6),
        entry("find", Err("has more than 8 keys"), 7),
    ];
    assert_eq!(keys.entries, expected);
}

#[test]
fn key_entries_beyond_the_limit_are_counted() {
    let entries = (0..302).map(|number| format!("\"a{number}\": \"F1\""));
    let entries: Vec<String> = entries.collect();
    let fixture = with_config(format!("{{ \"keys\": {{ {} }} }}", entries.join(", ")));
    let keys = fixture.settings().keys;
    assert_eq!((keys.entries.len(), keys.unread_entries), (300, 2));
}

#[test]
fn a_keys_section_that_is_not_an_object_is_reported_in_a_banner() {
    let fixture = with_config("{\n  \"keys\": \"Ctrl+K\"\n}");
    assert_eq!(fixture.settings().keys.entries, []);
    let [(cause, text)] = fixture.banners().try_into().expect("one banner");
    assert_eq!(cause, "config.json: keys");
    let expected = "config.json, line 2: `keys` is a string, expected an object.";
    assert!(text.starts_with(expected), "{text}");
}
