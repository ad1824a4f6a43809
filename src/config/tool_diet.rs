//! Reads `toolDiet`.

use super::fields::{self, ConfigObject, FieldError};
use crate::domain::model::ToolDiet;
use serde_json::Value;

pub(super) const KEY: &str = "toolDiet";

/// `None` if the key is absent.
pub(super) fn read(root: &ConfigObject) -> Result<Option<ToolDiet>, FieldError> {
    if !matches!(fields::get(root, KEY), Some(Value::Number(_))) {
        let word = fields::one_of(root, KEY, &["auto", "off"])?;
        return Ok(word.map(|word| match word {
            "off" => ToolDiet::Off,
            _ => ToolDiet::Auto,
        }));
    }
    match fields::count(root, KEY)? {
        Some(percent @ 1..=100) => Ok(u8::try_from(percent).ok().map(ToolDiet::Percent)),
        _ => Err(format!(
            "`{KEY}` must be `auto`, `off` or a percentage from 1 to 100"
        )),
    }
}
