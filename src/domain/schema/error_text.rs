//! Describes validation errors to models and users, and reads their kinds.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};

/// The longest error in characters. Errors quote the value, which may be long.
const ERROR_CHARS_MAX: usize = 400;
/// Maximum nesting of branches described.
const BRANCH_DEPTH_MAX: usize = 8;

/// The errors of each branch of a failed `anyOf` or `oneOf`.
pub(super) fn branches(kind: &ValidationErrorKind) -> &[Vec<ValidationError<'static>>] {
    match kind {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context
        }
        _ => &[],
    }
}

/// Whether the schema accepts other strings in this place.
pub(super) fn accepts_other_text(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind.keyword(),
        "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding" | "contentMediaType"
    )
}

pub(super) fn describe_error(error: &ValidationError<'_>) -> String {
    let error = decisive_error(error, BRANCH_DEPTH_MAX);
    let path = error.instance_path().to_string();
    let expected = expected_types(error, BRANCH_DEPTH_MAX);
    let description = match branches(error.kind()) {
        [] => error.to_string(),
        _ if expected.is_empty() => error.to_string(),
        _ => format!(
            "expected {}, not {}",
            expected.join(" or "),
            error.instance()
        ),
    };
    let mut text: String = description.chars().take(ERROR_CHARS_MAX).collect();
    if !path.is_empty() {
        text += " at ";
        text.extend(path.chars().take(ERROR_CHARS_MAX));
    }
    text
}

/// The error in the branch whose type fits, if there is one: it says more than that no branch fits.
fn decisive_error<'a, 'e>(error: &'a ValidationError<'e>, depth: usize) -> &'a ValidationError<'e>
where
    'static: 'e,
{
    let path = error.instance_path();
    let is_type_error = |inner: &ValidationError<'_>| {
        inner.instance_path() == path && !expected_types(inner, depth).is_empty()
    };
    let fitting = branches(error.kind())
        .iter()
        .find(|errors| !errors.iter().any(is_type_error));
    match fitting.and_then(|errors| errors.first()) {
        Some(inner) if depth > 0 => decisive_error(inner, depth - 1),
        _ => error,
    }
}

/// The types that the schema allows, if the value has another one.
fn expected_types(error: &ValidationError<'_>, depth: usize) -> Vec<String> {
    let name = |json_type: JsonType| format!("\"{json_type}\"");
    let mut types = match error.kind() {
        ValidationErrorKind::Type { kind } => match kind {
            TypeKind::Single(json_type) => vec![name(*json_type)],
            TypeKind::Multiple(types) => types.iter().map(name).collect(),
        },
        kind if depth > 0 => {
            let inner = branches(kind).iter().flatten();
            let inner = inner.filter(|inner| inner.instance_path() == error.instance_path());
            inner
                .flat_map(|inner| expected_types(inner, depth - 1))
                .collect()
        }
        _ => Vec::new(),
    };
    let mut seen = std::collections::HashSet::new();
    types.retain(|name| seen.insert(name.clone()));
    types
}
