//! Reads a form from the schema of an elicitation request. Servers may send anything, so every
//! size has a limit.

use super::{
    ElicitationForm, FieldInput, FieldKind, FieldOption, FormField, MESSAGE_CHARS_MAX, NumberRules,
    TextFormat, TextPattern, TextRules,
};
use serde_json::{Map, Value};

/// Maximum number of fields. A form with more is refused.
pub const FORM_FIELDS_MAX: usize = 100;
/// Maximum size of a form: the bytes of all its texts, plus [`VALUE_BYTES`] for each value.
const FORM_BYTES_MAX: usize = 256 * 1024;
const VALUE_BYTES: usize = 8;
const OPTIONS_MAX: usize = 500;
/// Maximum length of an invalid default in a message, in characters.
const DEFAULT_CHARS_MAX: usize = 80;
/// Maximum length of a name, title, description, option or pattern, in characters.
const TEXT_CHARS_MAX: usize = 2_000;

impl ElicitationForm {
    /// Reads the form from the `params` of `elicitation/create`.
    ///
    /// # Errors
    /// Why the form cannot be shown, as a clause for the server and the user.
    pub fn from_params(params: &Value) -> Result<Self, String> {
        let message = message(params)?;
        let schema = params.get("requestedSchema").and_then(Value::as_object);
        let schema = schema.ok_or("it has no `requestedSchema`")?;
        let no_properties = Map::new();
        let properties = match schema.get("properties") {
            None => &no_properties,
            Some(properties) => properties
                .as_object()
                .ok_or("`properties` is not an object")?,
        };
        if properties.len() > FORM_FIELDS_MAX {
            let count = properties.len();
            return Err(format!(
                "it has {count} fields, more than {FORM_FIELDS_MAX}"
            ));
        }
        if bytes_left(FORM_BYTES_MAX, params).is_none() {
            return Err(format!("it is larger than {} KiB", FORM_BYTES_MAX / 1024));
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
        let fields = properties.iter();
        let fields = fields.map(|(name, schema)| field(name, schema, is_required(name)));
        Ok(Self {
            message,
            fields: fields.collect::<Result<_, _>>()?,
        })
    }
}

/// The rest of a budget after subtracting the size of a value. `None` if the value is larger.
fn bytes_left(budget: usize, value: &Value) -> Option<usize> {
    let budget = budget.checked_sub(VALUE_BYTES)?;
    match value {
        Value::String(text) => budget.checked_sub(text.len()),
        Value::Array(items) => items.iter().try_fold(budget, bytes_left),
        Value::Object(fields) => fields.iter().try_fold(budget, |budget, (name, value)| {
            bytes_left(budget.checked_sub(name.len())?, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(budget),
    }
}

/// The error is a clause for the server and the user.
pub(super) fn message(params: &Value) -> Result<String, String> {
    let message = params.get("message").and_then(Value::as_str);
    let message = message.unwrap_or_default();
    match message.chars().nth(MESSAGE_CHARS_MAX) {
        None => Ok(message.to_owned()),
        Some(_) => Err(format!(
            "its message has more than {MESSAGE_CHARS_MAX} characters"
        )),
    }
}

fn field(name: &str, schema: &Value, is_required: bool) -> Result<FormField, String> {
    let naming_field = |why: String| {
        let name: String = name.chars().take(60).collect();
        format!("the field `{name}` {why}")
    };
    let kind = kind(schema).map_err(naming_field)?;
    let mut field = FormField {
        name: bounded_text(name).map_err(naming_field)?,
        title: text(schema, "title").map_err(naming_field)?,
        description: text(schema, "description").map_err(naming_field)?,
        is_required,
        initial: FieldInput::empty(&kind),
        kind,
        invalid_default: None,
    };
    let default = schema.get("default").filter(|value| !value.is_null());
    match default.map(|value| (value, field.default_input(value))) {
        None => {}
        Some((_, Ok(initial))) => field.initial = initial,
        Some((value, Err(why))) => {
            let value: String = value.to_string().chars().take(DEFAULT_CHARS_MAX).collect();
            field.invalid_default =
                Some(format!("The server's default `{value}` is not used: {why}"));
        }
    }
    Ok(field)
}

impl FieldInput {
    fn empty(kind: &FieldKind) -> Self {
        match kind {
            FieldKind::Text(_) | FieldKind::Number(_) => Self::Text(String::new()),
            FieldKind::Boolean => Self::Flag(None),
            FieldKind::Choice(_) | FieldKind::Choices { .. } => Self::Selected(Vec::new()),
        }
    }
}

impl FormField {
    /// The error says why the default is invalid, as a sentence.
    fn default_input(&self, value: &Value) -> Result<FieldInput, String> {
        let expected = match &self.kind {
            FieldKind::Text(_) => "Expected text within the length limit.",
            FieldKind::Number(_) => "Expected a number.",
            FieldKind::Boolean => "Expected true or false.",
            FieldKind::Choice(_) => "It is not an option.",
            FieldKind::Choices { .. } => "Expected a list of options.",
        };
        let input = self.input_for(value).ok_or(expected)?;
        self.check(&input)?;
        Ok(input)
    }

    /// The input that gives this value. `None` if no input does, for example because of its type.
    fn input_for(&self, value: &Value) -> Option<FieldInput> {
        let position = |options: &[FieldOption], value: &Value| {
            options.iter().position(|option| *value == *option.value)
        };
        Some(match &self.kind {
            FieldKind::Text(_) => FieldInput::Text(bounded_text(value.as_str()?).ok()?),
            FieldKind::Number(_) => FieldInput::Text(value.as_number()?.to_string()),
            FieldKind::Boolean => FieldInput::Flag(Some(value.as_bool()?)),
            FieldKind::Choice(options) => FieldInput::Selected(vec![position(options, value)?]),
            FieldKind::Choices { options, .. } => {
                let values = value.as_array()?.iter();
                let selected: Option<Vec<usize>> =
                    values.map(|value| position(options, value)).collect();
                let mut selected = selected?;
                selected.sort_unstable();
                selected.dedup();
                FieldInput::Selected(selected)
            }
        })
    }
}

fn kind(schema: &Value) -> Result<FieldKind, String> {
    if let Some(options) = options(schema)? {
        return Ok(FieldKind::Choice(options));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => Ok(FieldKind::Text(TextRules {
            format: match schema.get("format").and_then(Value::as_str) {
                Some("email") => Some(TextFormat::Email),
                Some("uri") => Some(TextFormat::Uri),
                Some("date") => Some(TextFormat::Date),
                Some("date-time") => Some(TextFormat::DateTime),
                _ => None,
            },
            length_min: count(schema, "minLength").unwrap_or(0),
            length_max: count(schema, "maxLength"),
            pattern: text(schema, "pattern")?.map(TextPattern::new),
        })),
        Some(number @ ("number" | "integer")) => Ok(FieldKind::Number(NumberRules {
            is_integer: number == "integer",
            minimum: schema.get("minimum").and_then(Value::as_f64),
            maximum: schema.get("maximum").and_then(Value::as_f64),
        })),
        Some("boolean") => Ok(FieldKind::Boolean),
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let options = options(items)?.ok_or("is a list without options")?;
            Ok(FieldKind::Choices {
                count_min: count(schema, "minItems").unwrap_or(0),
                count_max: count(schema, "maxItems").unwrap_or(options.len()),
                options,
            })
        }
        Some(other) => {
            let other: String = other.chars().take(40).collect();
            Err(format!("has the type `{other}`, which forms cannot have"))
        }
        None => Err("has no type".to_owned()),
    }
}

/// The options of an enumeration: `oneOf` or `anyOf` with titles, or `enum`, whose titles may be
/// in `enumNames` (2025-06-18).
fn options(schema: &Value) -> Result<Option<Vec<FieldOption>>, String> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    let options: Vec<FieldOption> = if let Some(titled) = list("oneOf").or_else(|| list("anyOf")) {
        check_option_count(titled.len())?;
        let option = |option: &Value| {
            Ok(FieldOption {
                value: bounded_text(option.get("const").and_then(Value::as_str).unwrap_or(""))?,
                title: text(option, "title")?,
            })
        };
        titled.iter().map(option).collect::<Result<_, String>>()?
    } else if let Some(values) = list("enum") {
        check_option_count(values.len())?;
        let titles = list("enumNames").map_or(&[][..], Vec::as_slice);
        let option = |(index, value): (usize, &Value)| {
            let title = titles.get(index).and_then(Value::as_str);
            Ok(FieldOption {
                value: bounded_text(value.as_str().ok_or("has an option that is not text")?)?,
                title: title.map(bounded_text).transpose()?,
            })
        };
        values
            .iter()
            .enumerate()
            .map(option)
            .collect::<Result<_, String>>()?
    } else {
        return Ok(None);
    };
    match options.is_empty() {
        true => Err("has no options".to_owned()),
        false => Ok(Some(options)),
    }
}

fn check_option_count(count: usize) -> Result<(), String> {
    match count > OPTIONS_MAX {
        true => Err(format!("has {count} options, more than {OPTIONS_MAX}")),
        false => Ok(()),
    }
}

fn count(schema: &Value, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_u64()?).ok()
}

fn text(schema: &Value, key: &str) -> Result<Option<String>, String> {
    let text = schema.get(key).and_then(Value::as_str);
    text.map(bounded_text).transpose()
}

fn bounded_text(text: &str) -> Result<String, String> {
    match text.chars().nth(TEXT_CHARS_MAX) {
        None => Ok(text.to_owned()),
        Some(_) => Err(format!(
            "has a text of more than {TEXT_CHARS_MAX} characters"
        )),
    }
}
