//! Values of a registry entry, which are fixed or contain `{variable}`. They become command
//! arguments, headers and URLs, in which `${NAME}` refers to the user's environment.

use crate::domain::new_server::{is_variable_name, variable_name_from};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A value that the publisher fixes or the user supplies.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Input {
    pub value: Option<String>,
    pub default: Option<String>,
    pub is_required: bool,
    pub is_secret: bool,
    /// The variables in `value`.
    pub variables: Option<BTreeMap<String, Input>>,
}

impl Input {
    /// The value as written to the settings. `name` is the variable if the user must supply the
    /// value. `None` if it is optional and has no fixed value.
    ///
    /// # Errors
    /// The value contains a control character, `$` or a brace that is not closed.
    pub(super) fn resolve(&self, name: &str) -> Result<Option<String>, String> {
        if let Some(value) = &self.value {
            return self.expand(value).map(Some);
        }
        match &self.default {
            Some(default) if self.is_required && !self.is_secret => {
                check_text(default)?;
                Ok(Some(default.clone()))
            }
            _ if self.is_required => Ok(Some(reference(name))),
            _ => Ok(None),
        }
    }

    /// Replaces `{variable}` with a fixed value or with `${VARIABLE}`.
    pub(super) fn expand(&self, value: &str) -> Result<String, String> {
        check_text(value)?;
        let mut expanded = String::with_capacity(value.len());
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('{') {
            expanded.push_str(before);
            let (name, after) = after.split_once('}').ok_or("a brace is not closed")?;
            expanded.push_str(&self.variable_value(name)?);
            rest = after;
        }
        Ok(expanded + rest)
    }

    fn variable_value(&self, name: &str) -> Result<String, String> {
        let variable = self.variables.as_ref().and_then(|known| known.get(name));
        let fixed = variable
            .filter(|variable| !variable.is_secret)
            .and_then(|variable| variable.value.as_ref().or(variable.default.as_ref()));
        match fixed {
            Some(fixed) => {
                check_text(fixed)?;
                Ok(fixed.clone())
            }
            None => Ok(reference(name)),
        }
    }
}

/// `${NAME}`
pub(super) fn reference(name: &str) -> String {
    let name = match is_variable_name(name) {
        true => name.to_owned(),
        false => variable_name_from(name).unwrap_or_else(|| "MCP_VALUE".to_owned()),
    };
    format!("${{{}}}", name.to_uppercase())
}

/// Refuses control characters, and `$`, because it would let an entry read any variable of the
/// user's environment.
fn check_text(text: &str) -> Result<(), String> {
    if text.chars().any(char::is_control) {
        return Err("a value contains a control character".to_owned());
    }
    match text.contains('$') {
        true => Err("a value contains `$`".to_owned()),
        false => Ok(()),
    }
}
