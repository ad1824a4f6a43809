//! The tool `say_hello`: a greeting with a secret word that is new in each call and
//! stands in the log, too. Only who called the tool can know the word, which is how
//! `humble probe` tells a model that calls tools from one that pretends to.

use crate::domain::Arguments;
use crate::domain::probe::{PROBE_TOOL, SECRET_FIELD};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

pub const NAME: &str = PROBE_TOOL;
/// Syllables of the word: 80 to the power of 5 is more than anybody guesses.
const SYLLABLES: usize = 5;
const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 5] = b"aeiou";
/// A longer name is no name.
const NAME_CHARS_MAX: usize = 100;

/// The tool as `tools/list` shows it.
pub fn definition() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "Who is greeted; may be left out" },
        },
        "additionalProperties": false,
    });
    let text = json!({ "type": "string" });
    let output = json!({
        "type": "object",
        "properties": { "greeting": text, SECRET_FIELD: text },
        "required": ["greeting", SECRET_FIELD],
    });
    Tool::new(
        NAME,
        "Says hello, and tells a secret word that is a new one in each call.",
        Arc::new(super::object(input)),
    )
    .with_title("Hello")
    .with_raw_output_schema(Arc::new(super::object(output)))
    .with_annotations(
        ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(false)
            .open_world(false),
    )
}

/// Greets, and tells a fresh word.
///
/// # Errors
/// What is wrong with the arguments, in words that a model can act on.
pub fn call(arguments: &Arguments) -> Result<Value, String> {
    if let Some(other) = arguments.keys().find(|key| *key != "name") {
        return Err(format!(
            "There is no argument `{other}`: {NAME} takes `name` alone, or nothing."
        ));
    }
    let greeting = match arguments.get("name") {
        None | Some(Value::Null) => "Hello!".to_owned(),
        Some(Value::String(name)) if name.trim().is_empty() => "Hello!".to_owned(),
        Some(Value::String(name)) if name.chars().count() <= NAME_CHARS_MAX => {
            format!("Hello, {}!", name.trim())
        }
        Some(Value::String(_)) => {
            return Err(format!(
                "`name` is longer than {NAME_CHARS_MAX} characters: give a shorter one, or none."
            ));
        }
        Some(_) => return Err("`name` is a text such as \"Mina\"; it may be left out.".to_owned()),
    };
    let word = word(random());
    tracing::info!("say_hello: the secret word is {word}");
    Ok(json!({ "greeting": greeting, SECRET_FIELD: word }))
}

/// A number that nobody can foresee: the keys of the standard library's hashes are
/// drawn from the system's randomness, and differ from one hash to the next.
fn random() -> u64 {
    RandomState::new().hash_one(SECRET_FIELD)
}

/// Syllables of a consonant and a vowel, so that it can be said and copied.
fn word(mut number: u64) -> String {
    let mut word = String::new();
    for _ in 0..SYLLABLES {
        for letters in [&CONSONANTS[..], &VOWELS[..]] {
            let count = letters.len() as u64;
            word.push(char::from(letters[(number % count) as usize]));
            number /= count;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn call_with(arguments: Value) -> Result<Value, String> {
        call(&crate::serve::object(arguments))
    }

    #[test]
    fn each_call_returns_a_new_pronounceable_word() {
        let mut words = HashSet::new();
        for _ in 0..1_000 {
            let told = call_with(json!({})).expect("nothing is wrong with it");
            let word = told[SECRET_FIELD].as_str().expect("a word").to_owned();
            let mut letters = word.bytes().enumerate();
            let is_right = |(at, letter): (usize, u8)| match at % 2 {
                0 => CONSONANTS.contains(&letter),
                _ => VOWELS.contains(&letter),
            };
            assert!(letters.all(is_right), "{word}");
            assert_eq!(word.len(), 10);
            words.insert(word);
        }
        assert_eq!(words.len(), 1_000);
    }

    #[test]
    fn a_given_name_is_greeted() {
        let greeting = |arguments| call_with(arguments).map(|told| told["greeting"].clone());
        assert_eq!(
            greeting(json!({ "name": " 미나 " })),
            Ok(json!("Hello, 미나!"))
        );
        for nobody in [json!({}), json!({ "name": null }), json!({ "name": "  " })] {
            assert_eq!(greeting(nobody), Ok(json!("Hello!")));
        }
    }

    #[test]
    fn unknown_or_invalid_arguments_are_rejected() {
        let why = call_with(json!({ "who": "me" })).expect_err("its name is name");
        assert!(why.contains("`who`"), "{why}");
        assert!(call_with(json!({ "name": 7 })).is_err());
        let long = "가".repeat(NAME_CHARS_MAX + 1);
        assert!(call_with(json!({ "name": long })).is_err());
    }
}
