//! Reads `toolDiet`, the limit on the tokens that tool definitions take up in a request.

use super::fields::{self, ConfigObject, FieldError};
use crate::domain::model::ToolDiet;
use serde_json::Value;

/// `None` if the key is absent.
pub(super) fn read(root: &ConfigObject) -> Result<Option<ToolDiet>, FieldError> {
    if !matches!(fields::get(root, "toolDiet"), Some(Value::Number(_))) {
        let word = fields::one_of(root, "toolDiet", &["auto", "off"])?;
        return Ok(word.map(|word| match word {
            "off" => ToolDiet::Off,
            _ => ToolDiet::Auto,
        }));
    }
    match fields::count(root, "toolDiet")? {
        Some(percent @ 1..=100) => Ok(u8::try_from(percent).ok().map(ToolDiet::Percent)),
        _ => Err("`toolDiet` must be `auto`, `off` or a percentage from 1 to 100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_auto_off_and_whole_percentages_are_a_tool_diet() {
        let diet =
            |value: Value| read(json!({ "toolDiet": value }).as_object().expect("an object"));
        assert_eq!(diet(json!("auto")), Ok(Some(ToolDiet::Auto)));
        assert_eq!(diet(json!("off")), Ok(Some(ToolDiet::Off)));
        assert_eq!(diet(json!(30)), Ok(Some(ToolDiet::Percent(30))));
        assert_eq!(read(&ConfigObject::default()), Ok(None));
        for bad in [
            json!(0),
            json!(101),
            json!(1.5),
            json!("little"),
            json!(true),
        ] {
            assert!(diet(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn token_limit_depends_on_the_context_length() {
        assert_eq!(ToolDiet::Auto.tokens_max(Some(8_192)), Some(1_228));
        assert_eq!(ToolDiet::Auto.tokens_max(None), Some(19_660));
        assert_eq!(ToolDiet::Percent(50).tokens_max(Some(8_192)), Some(4_096));
        assert_eq!(ToolDiet::Off.tokens_max(Some(8_192)), None);
    }
}
