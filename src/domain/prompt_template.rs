//! Prompt templates: texts that the user wrote, with fields such as `{{language}}`. Each template is
//! a slash command.

use super::Notice;
use icu_normalizer::ComposingNormalizerBorrowed;

/// Braces around a longer name stay text.
const FIELD_NAME_CHARS_MAX: usize = 40;
/// Further fields stay text, because nobody fills in this many.
const FIELDS_MAX: usize = 20;
const OPENING: &str = "{{";
const CLOSING: &str = "}}";

/// A template from the user's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    /// The command without its slash; unsanitized, because it is a file name.
    pub name: String,
    /// A one-line description, unsanitized.
    pub description: String,
    /// The text, or the reason the template is unusable.
    pub body: Result<TemplateBody, String>,
}

/// All templates, and the reason that some or all of them could not be listed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptTemplates {
    pub list: Vec<PromptTemplate>,
    pub problem: Option<Notice>,
}

impl PromptTemplates {
    /// The template with this name, ignoring case. Names are compared in NFC, because some file
    /// systems decompose Hangul.
    pub fn find(&self, name: &str) -> Option<&PromptTemplate> {
        let name = comparison_key(name);
        let mut list = self.list.iter();
        list.find(|template| comparison_key(&template.name) == name)
    }
}

fn comparison_key(name: &str) -> String {
    const { ComposingNormalizerBorrowed::new_nfc() }
        .normalize(name)
        .to_lowercase()
}

/// The text of a template, split at its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateBody {
    parts: Vec<TemplatePart>,
    /// The names of the fields in the order of their first use, each once.
    fields: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    /// An index into `fields`.
    Field(usize),
}

impl TemplateBody {
    /// Braces without a valid field name stay text.
    pub fn parse(text: &str) -> Self {
        let mut body = Self {
            parts: Vec::new(),
            fields: Vec::new(),
        };
        let mut text_start = 0;
        let mut at = 0;
        while let Some(found) = text[at..].find(OPENING) {
            let opening = at + found;
            let name_start = opening + OPENING.len();
            let Some((name, end)) = field_name(text, name_start) else {
                // Of three braces, the last two may open a field.
                at = opening + 1;
                continue;
            };
            match body.field_index(name) {
                Some(index) => {
                    body.push_text(&text[text_start..opening]);
                    body.parts.push(TemplatePart::Field(index));
                    text_start = end;
                }
                None => return body.with_rest(&text[text_start..]),
            }
            at = end;
        }
        body.with_rest(&text[text_start..])
    }

    /// The index of the field with this name, which is added if it is new; `None` if there are
    /// too many.
    fn field_index(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.fields.iter().position(|field| field == name) {
            return Some(index);
        }
        (self.fields.len() < FIELDS_MAX).then(|| {
            self.fields.push(name.to_owned());
            self.fields.len() - 1
        })
    }

    fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.parts.push(TemplatePart::Text(text.to_owned()));
        }
    }

    fn with_rest(mut self, text: &str) -> Self {
        self.push_text(text);
        self
    }

    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The text with `values` in place of the fields. A field whose value is missing or empty
    /// becomes `{{NAME}}` again.
    pub fn fill(&self, values: &[String]) -> String {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => filled.push_str(text),
                TemplatePart::Field(index) => match values.get(*index) {
                    Some(value) if !value.is_empty() => filled.push_str(value),
                    _ => {
                        let name = &self.fields[*index];
                        filled.push_str(&format!("{OPENING}{name}{CLOSING}"));
                    }
                },
            }
        }
        filled
    }

    /// Splits the text after a command into values: one word, or a text in double quotes, for
    /// each field, and the whole rest for the last one. Returns fewer values than there are
    /// fields if the text ends early.
    pub fn split_argument(&self, argument: &str) -> Vec<String> {
        let mut values = Vec::new();
        let mut rest = argument.trim();
        while !rest.is_empty() && values.len() < self.fields.len() {
            let is_last = values.len() + 1 == self.fields.len();
            let (value, after) = if is_last {
                (rest, "")
            } else {
                first_value(rest)
            };
            values.push(value.to_owned());
            rest = after.trim_start();
        }
        values
    }
}

/// The name of the field that begins at `start`, and the end of its braces. A name consists of
/// letters, digits, `-` and `_`; spaces around it are ignored.
fn field_name(text: &str, start: usize) -> Option<(&str, usize)> {
    // A bounded search keeps a text full of opening braces linear.
    let window_end = text[start..]
        .char_indices()
        .nth(FIELD_NAME_CHARS_MAX + CLOSING.len())
        .map_or(text.len(), |(offset, _)| start + offset);
    let length = text[start..window_end].find(CLOSING)?;
    let name = text[start..start + length].trim_matches(' ');
    let is_name_char = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let is_name = !name.is_empty() && name.chars().all(is_name_char);
    is_name.then_some((name, start + length + CLOSING.len()))
}

/// The first word, or the first text in double quotes without the quotes, and the rest.
fn first_value(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"')
        && let Some((value, rest)) = quoted.split_once('"')
        && rest.chars().next().is_none_or(char::is_whitespace)
    {
        return (value, rest);
    }
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<String> {
        TemplateBody::parse(text).fields
    }

    #[test]
    fn fields_are_listed_in_order_of_first_use() {
        let text = "Translate {{text}} to {{ language }}; once more: {{text}} ({{언어}}).";
        assert_eq!(fields(text), ["text", "language", "언어"]);
    }

    #[test]
    fn braces_without_a_name_are_text() {
        for text in [
            "{{}}",
            "{{ }}",
            "{{a b}}",
            "{{a",
            "{ {a}}",
            "{{a}",
            "{{\n}}",
            "let x = vec![{{ y: 1 }}];",
        ] {
            let body = TemplateBody::parse(text);
            assert_eq!(body.fields(), [""; 0], "{text}");
            assert_eq!(body.fill(&[]), text);
        }
        let long = format!("{{{{{}}}}}", "a".repeat(FIELD_NAME_CHARS_MAX + 1));
        assert_eq!(fields(&long), [""; 0]);
        assert_eq!(fields("{{{name}}}"), ["name"]);
        assert_eq!(fields(&"{".repeat(100_000)), [""; 0]);
    }

    #[test]
    fn values_filled_into_a_template_are_not_parsed_again() {
        let body = TemplateBody::parse("{{a}} and {{b}}, {{a}}");
        let values = ["{{b}}".to_owned(), "2".to_owned()];
        assert_eq!(body.fill(&values), "{{b}} and 2, {{b}}");
        assert_eq!(body.fill(&values[..1]), "{{b}} and {{b}}, {{b}}");
    }

    #[test]
    fn the_last_field_takes_the_rest_of_the_text() {
        let body = TemplateBody::parse("{{city}} {{day}} {{text}}");
        let split = |argument| body.split_argument(argument);
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split(" Seoul "), ["Seoul"]);
        assert_eq!(
            split("\"New York\" Monday  how is  it?\nReally?"),
            ["New York", "Monday", "how is  it?\nReally?"]
        );
        assert_eq!(split("\"New York"), ["\"New", "York"]);
        assert_eq!(split("\"a\"b c d"), ["\"a\"b", "c", "d"]);
    }

    #[test]
    fn template_fields_beyond_the_limit_stay_text() {
        let text: String = (0..FIELDS_MAX + 2)
            .map(|index| format!("{{{{f{index}}}}}"))
            .collect();
        let body = TemplateBody::parse(&text);
        assert_eq!(body.fields().len(), FIELDS_MAX);
        assert_eq!(body.fill(&[]), text);
    }
}
