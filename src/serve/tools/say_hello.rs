//! The tool `say_hello`: returns a greeting and a secret word, which is new in each call and also
//! logged. Only a model that really called the tool can know the word, so `humble probe` detects
//! models that only pretend to call tools.

use super::arguments::{reject_unknown, text};
use super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use crate::domain::probe::{PROBE_TOOL, SECRET_FIELD};
use futures::future::BoxFuture;
use rmcp::model::JsonObject;
use rmcp::model::Tool;
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

const NAME: &str = PROBE_TOOL;
/// Number of syllables in the word. There are 80^5 words, too many to guess.
const SYLLABLES: usize = 5;
const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 5] = b"aeiou";
const NAME_CHARS_MAX: usize = 100;

pub(super) struct SayHello;

impl BuiltInTool for SayHello {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Whom to greet; optional" },
            },
            "additionalProperties": false,
        });
        let string_type = json!({ "type": "string" });
        let output_schema = json!({
            "type": "object",
            "properties": { "greeting": string_type, SECRET_FIELD: string_type },
            "required": ["greeting", SECRET_FIELD],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Hello",
            description: "Returns a greeting and a secret word that is new in each call.",
            input_schema,
            output_schema,
            is_read_only: true,
            is_idempotent: false,
            is_open_world: false,
        })
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move { run(call.arguments) })
    }
}

fn run(arguments: &JsonObject) -> Result<Value, String> {
    reject_unknown(arguments, NAME, &["name"])?;
    let greeting = match text(arguments, "name", "Mina", NAME_CHARS_MAX)? {
        None => "Hello!".to_owned(),
        Some(name) => format!("Hello, {name}!"),
    };
    let word = secret_word(random_number());
    tracing::info!("say_hello: the secret word is {word}");
    Ok(json!({ "greeting": greeting, SECRET_FIELD: word }))
}

/// An unpredictable number: the standard library seeds its hash keys with randomness from the
/// system, and no two `RandomState`s are equal.
fn random_number() -> u64 {
    RandomState::new().hash_one(SECRET_FIELD)
}

/// Easy to pronounce and copy.
fn secret_word(mut number: u64) -> String {
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
    use super::super::tool::object;
    use super::*;
    use std::collections::HashSet;

    fn call_with(arguments: Value) -> Result<Value, String> {
        run(&object(arguments))
    }

    #[test]
    fn each_call_of_say_hello_returns_a_new_pronounceable_word() {
        let mut words = HashSet::new();
        for _ in 0..1_000 {
            let result = call_with(json!({})).expect("no arguments are valid");
            let word = result[SECRET_FIELD].as_str().expect("a word").to_owned();
            let mut letters = word.bytes().enumerate();
            let alternates = |(index, letter): (usize, u8)| match index % 2 {
                0 => CONSONANTS.contains(&letter),
                _ => VOWELS.contains(&letter),
            };
            assert!(letters.all(alternates), "{word}");
            assert_eq!(word.len(), 10);
            words.insert(word);
        }
        assert_eq!(words.len(), 1_000);
    }

    #[test]
    fn a_given_name_is_greeted() {
        let greeting = |arguments| call_with(arguments).map(|result| result["greeting"].clone());
        assert_eq!(
            greeting(json!({ "name": " 미나 " })),
            Ok(json!("Hello, 미나!"))
        );
        for no_name in [json!({}), json!({ "name": null }), json!({ "name": "  " })] {
            assert_eq!(greeting(no_name), Ok(json!("Hello!")));
        }
    }

    #[test]
    fn say_hello_rejects_unknown_or_invalid_arguments() {
        let why = call_with(json!({ "who": "me" })).expect_err("an unknown argument");
        assert!(why.contains("`who`"), "{why}");
        assert!(call_with(json!({ "name": 7 })).is_err());
        let long = "가".repeat(NAME_CHARS_MAX + 1);
        assert!(call_with(json!({ "name": long })).is_err());
    }
}
