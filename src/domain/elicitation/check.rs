//! Checks the user's input in one field of a form.

use super::{FieldInput, FieldKind, FormField, NumberRules, TextFormat, TextRules};
use serde_json::{Number, Value};

const INPUT_CHARS_MAX: usize = 100_000;

impl FormField {
    /// The value to send. `None` for an optional field without a value.
    ///
    /// # Errors
    /// The problem with the input, as a sentence.
    pub fn check(&self, input: &FieldInput) -> Result<Option<Value>, String> {
        let value = match (&self.kind, input) {
            (FieldKind::Text(rules), FieldInput::Text(text)) if !text.is_empty() => {
                check_text(rules, text)?;
                Some(Value::from(text.as_str()))
            }
            (FieldKind::Number(rules), FieldInput::Text(text)) if !text.trim().is_empty() => {
                Some(Value::Number(check_number(rules, text.trim())?))
            }
            (FieldKind::Boolean, FieldInput::Flag(flag)) => flag.map(Value::Bool),
            (FieldKind::Choice(options), FieldInput::Selected(selected)) => {
                let option = selected.first().and_then(|index| options.get(*index));
                option.map(|option| Value::from(option.value.as_str()))
            }
            (
                FieldKind::Choices {
                    options,
                    count_min,
                    count_max,
                },
                FieldInput::Selected(selected),
            ) if !selected.is_empty() || self.is_required => {
                check_count(selected.len(), *count_min, *count_max)?;
                let values = selected.iter().filter_map(|index| options.get(*index));
                Some(values.map(|option| option.value.as_str()).collect())
            }
            _ => None,
        };
        match value {
            None if self.is_required => Err("This value is required.".to_owned()),
            value => Ok(value),
        }
    }
}

fn check_text(rules: &TextRules, text: &str) -> Result<(), String> {
    let length = text.chars().count();
    let length_max = rules.length_max.unwrap_or(INPUT_CHARS_MAX);
    if length < rules.length_min {
        return Err(format!("At least {}.", characters(rules.length_min)));
    }
    if length > length_max.min(INPUT_CHARS_MAX) {
        return Err(format!(
            "At most {}.",
            characters(length_max.min(INPUT_CHARS_MAX))
        ));
    }
    let is_valid = match rules.format {
        None => true,
        Some(TextFormat::Email) => is_email(text),
        Some(TextFormat::Uri) => url::Url::parse(text).is_ok(),
        Some(TextFormat::Date) => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        Some(TextFormat::DateTime) => text.parse::<jiff::Timestamp>().is_ok(),
    };
    if let (false, Some(format)) = (is_valid, rules.format) {
        return Err(format!("Expected {}.", format.example()));
    }
    match &rules.pattern {
        Some(pattern) if !pattern.is_match(text) => Err(format!(
            "This does not match the server's pattern {}",
            pattern.excerpt()
        )),
        _ => Ok(()),
    }
}

/// Requires a name, one `@` and a domain with a dot. The server can check more.
fn is_email(text: &str) -> bool {
    let is_plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
    let parts = text.rsplit_once('@');
    let is_domain = |domain: &str| {
        let mut labels = domain.split('.');
        domain.contains('.') && labels.all(|label| !label.is_empty())
    };
    is_plain
        && parts.is_some_and(|(name, domain)| {
            !name.is_empty() && !name.contains('@') && is_domain(domain)
        })
}

fn check_number(rules: &NumberRules, text: &str) -> Result<Number, String> {
    let number: Number = text.parse().map_err(|_| match rules.is_integer {
        true => "Expected a whole number.".to_owned(),
        false => "Expected a number.".to_owned(),
    })?;
    if rules.is_integer && !number.is_i64() && !number.is_u64() {
        return Err("Expected a whole number.".to_owned());
    }
    let value = number.as_f64().unwrap_or(f64::NAN);
    if !value.is_finite() {
        return Err("Expected a number.".to_owned());
    }
    match (rules.minimum, rules.maximum) {
        (Some(minimum), _) if value < minimum => Err(format!("At least {minimum}.")),
        (_, Some(maximum)) if value > maximum => Err(format!("At most {maximum}.")),
        _ => Ok(number),
    }
}

fn check_count(count: usize, min: usize, max: usize) -> Result<(), String> {
    if count < min {
        return Err(format!("Choose at least {min}."));
    }
    match count > max {
        true => Err(format!("Choose at most {max}.")),
        false => Ok(()),
    }
}

fn characters(count: usize) -> String {
    match count {
        1 => "1 character".to_owned(),
        count => format!("{count} characters"),
    }
}

impl TextFormat {
    /// An example of the format, as a noun phrase.
    pub fn example(self) -> &'static str {
        match self {
            Self::Email => "an email address, such as name@example.com",
            Self::Uri => "an address, such as https://example.com",
            Self::Date => "a date, such as 2026-11-23",
            Self::DateTime => "a date and time, such as 2026-11-23T16:20:00Z",
        }
    }
}

impl FormField {
    /// A short description of the accepted values. Empty for text with neither a format nor a length
    /// limit.
    pub fn hint(&self) -> String {
        let range = |min: Option<String>, max: Option<String>| match (min, max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => String::new(),
        };
        match &self.kind {
            FieldKind::Text(rules) => {
                let min = (rules.length_min > 0).then(|| rules.length_min.to_string());
                let max = rules.length_max.map(|max| max.to_string());
                let length = range(min, max);
                let unit = match rules.length_max.unwrap_or(rules.length_min) {
                    1 => "character",
                    _ => "characters",
                };
                let mut parts: Vec<String> = Vec::new();
                parts.extend(rules.format.map(|format| format.example().to_owned()));
                if !length.is_empty() {
                    parts.push(format!("{length} {unit}"));
                }
                parts.join("; ")
            }
            FieldKind::Number(rules) => {
                let text = |bound: Option<f64>| bound.map(|bound| bound.to_string());
                let bounds = range(text(rules.minimum), text(rules.maximum));
                let kind = match rules.is_integer {
                    true => "a whole number",
                    false => "a number",
                };
                match bounds.is_empty() {
                    true => kind.to_owned(),
                    false => format!("{kind}, {bounds}"),
                }
            }
            FieldKind::Boolean => "yes or no".to_owned(),
            FieldKind::Choice(_) => "one of the options".to_owned(),
            FieldKind::Choices {
                count_min,
                count_max,
                options,
            } => {
                let min = (*count_min > 0).then(|| count_min.to_string());
                let max = (*count_max < options.len()).then(|| count_max.to_string());
                match range(min, max) {
                    bounds if bounds.is_empty() => "any of the options".to_owned(),
                    bounds => format!("{bounds} of the options"),
                }
            }
        }
    }
}
