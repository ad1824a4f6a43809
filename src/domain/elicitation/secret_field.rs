//! Recognizes fields that ask for a secret. Servers must not ask for passwords, keys or payment
//! data in a form, because its values pass through the client and the conversation.

use super::negated_entry::without_negated_entries;
use super::{FieldKind, FormField};
use crate::text::{WordList, fold_look_alikes, word_list};

/// Words that name a secret, lower case.
static WORDS: WordList = word_list!("secret_fields", "words");
/// Terms that name a secret, searched for after removing spaces and punctuation.
static PHRASES: WordList = word_list!("secret_fields", "phrases");

impl FormField {
    /// Whether the field's name, title or description suggests a secret. Always false for fields
    /// whose value is selected rather than typed.
    pub fn asks_for_secret(&self) -> bool {
        let is_typed = matches!(self.kind, FieldKind::Text(_) | FieldKind::Number(_));
        let labels = [Some(&self.name), self.title.as_ref()];
        let label_names_secret = labels
            .into_iter()
            .flatten()
            .any(|text| names_secret(text) || names_card(text) || has_word(text, "pin"));
        // Descriptions often warn against entering a PIN.
        let description = self.description.as_deref();
        let description = description.map(without_negated_entries);
        is_typed && (label_names_secret || description.is_some_and(|text| names_secret(&text)))
    }
}

fn has_word(text: &str, wanted: &str) -> bool {
    words(text).any(|word| word == wanted)
}

/// Whether a label asks for the number of a payment card by its brand: `Number of your Visa`, but
/// neither `Visa type` nor `Number of visits`.
fn names_card(text: &str) -> bool {
    let is_brand = |word: &str| matches!(word, "visa" | "mastercard" | "amex" | "maestro");
    let is_number = |word: &str| matches!(word, "number" | "no" | "nr" | "nummer" | "digits");
    let words: Vec<String> = words(text).collect();
    let is_permit = words
        .iter()
        .any(|word| word == "application" || word == "passport");
    words.iter().any(|word| is_brand(word))
        && words.iter().any(|word| is_number(word))
        && !is_permit
}

/// Whether the message of a form asks for a secret, rather than warning against entering one.
pub(super) fn message_asks_for_secret(message: &str) -> bool {
    message_names_secret(&without_negated_entries(message))
}

/// Whether a text names a secret, even if it is spelled with look-alike letters.
fn names_secret(text: &str) -> bool {
    let has_word = |text: &str| words(text).any(|word| WORDS.contains(&word.as_str()));
    message_names_secret(text) || has_word(text) || has_word(&fold_look_alikes(text))
}

/// Whether a longer text names a secret. Single words such as `token` mean too many other things
/// there.
fn message_names_secret(text: &str) -> bool {
    let has_phrase = |text: &str| {
        let lower = text.to_lowercase();
        let joined: String = lower.chars().filter(|c| c.is_alphanumeric()).collect();
        PHRASES.iter().any(|phrase| joined.contains(phrase))
    };
    has_phrase(text) || has_phrase(&fold_look_alikes(text))
}

/// The words of a text or identifier, lower case: `apiToken`, `api_token` and `API token` all give
/// `api` and `token`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let (Some(word), true) = (words.last_mut(), c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}
