//! Elicitation: a server asks the user for values, with a form or on a web page. Forms are read
//! from the server's schema, and every value is checked here before it is sent. Pure.

mod check;
mod negated_entry;
mod pattern;
mod schema;
mod secret_field;
#[cfg(test)]
mod tests;
mod url;

pub use pattern::TextPattern;
pub use schema::FORM_FIELDS_MAX;
pub use url::{UrlElicitation, UrlWarning, elicitation_id};

use serde_json::{Map, Value};

/// Maximum length of a message, in characters. A request with a longer one is refused.
pub const MESSAGE_CHARS_MAX: usize = 10_000;

/// A form that a server asks the user to fill in. All texts are the server's, unsanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationForm {
    /// Why the server asks.
    pub message: String,
    /// In the schema's order.
    pub fields: Vec<FormField>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// The key of the value in the answer.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub is_required: bool,
    pub kind: FieldKind,
    /// The input before the user changes anything: the schema's default, if it is valid.
    pub initial: FieldInput,
    /// Why the schema's default is not used, as a sentence for the user. Contains the default.
    pub invalid_default: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    Text(TextRules),
    Number(NumberRules),
    Boolean,
    Choice(Vec<FieldOption>),
    /// Any number of these options, within the limits.
    Choices {
        options: Vec<FieldOption>,
        count_min: usize,
        count_max: usize,
    },
}

/// Lengths are in characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextRules {
    pub format: Option<TextFormat>,
    pub length_min: usize,
    pub length_max: Option<usize>,
    pub pattern: Option<TextPattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberRules {
    pub is_integer: bool,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldOption {
    pub value: String,
    pub title: Option<String>,
}

/// The user's input in a field, before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldInput {
    /// For texts and numbers. Empty means no value; for a number, so does whitespace.
    Text(String),
    Flag(Option<bool>),
    /// Indices of the selected options, ascending.
    Selected(Vec<usize>),
}

impl FormField {
    /// The title, or the name of a field without one.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// What the user entered or selected, unsanitized.
    pub fn value_text(&self, input: &FieldInput) -> String {
        match input {
            FieldInput::Text(text) => text.clone(),
            FieldInput::Flag(Some(true)) => "yes".to_owned(),
            FieldInput::Flag(Some(false)) => "no".to_owned(),
            FieldInput::Flag(None) => String::new(),
            FieldInput::Selected(selected) => {
                let options = selected
                    .iter()
                    .filter_map(|index| self.options().get(*index));
                options
                    .map(FieldOption::label)
                    .collect::<Vec<_>>()
                    .join(", ")
            }
        }
    }

    /// The options to select from, if the field has any.
    pub fn options(&self) -> &[FieldOption] {
        match &self.kind {
            FieldKind::Choice(options) | FieldKind::Choices { options, .. } => options,
            FieldKind::Text(_) | FieldKind::Number(_) | FieldKind::Boolean => &[],
        }
    }
}

impl FieldOption {
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

impl ElicitationForm {
    /// The labels of the fields that ask for a secret, which servers must not do in a form.
    ///
    /// If only the message asks for a secret, any text field may be meant, so all of them count.
    pub fn secret_fields(&self) -> Vec<&str> {
        let labels = |is_secret: &dyn Fn(&FormField) -> bool| -> Vec<&str> {
            let secret = self.fields.iter().filter(|field| is_secret(field));
            secret.map(FormField::label).collect()
        };
        let named = labels(&FormField::asks_for_secret);
        if named.is_empty() && secret_field::message_asks_for_secret(&self.message) {
            return labels(&|field| matches!(field.kind, FieldKind::Text(_)));
        }
        named
    }

    /// The answer for these inputs, one for each field. Optional fields without a value are left
    /// out.
    ///
    /// # Errors
    /// The index of the first invalid field, and the problem as a sentence.
    pub fn answer(&self, inputs: &[FieldInput]) -> Result<Map<String, Value>, (usize, String)> {
        let mut content = Map::new();
        for (index, (field, input)) in self.fields.iter().zip(inputs).enumerate() {
            if let Some(value) = field.check(input).map_err(|error| (index, error))? {
                content.insert(field.name.clone(), value);
            }
        }
        Ok(content)
    }

    pub fn initial_inputs(&self) -> Vec<FieldInput> {
        let fields = self.fields.iter();
        fields.map(|field| field.initial.clone()).collect()
    }
}
