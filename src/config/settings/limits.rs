//! Reads `limits` and `toolDiet`.

use super::SettingsReader;
use crate::config::fields::{self, ConfigObject};
use crate::config::json_edit::PathStep;
use crate::config::tool_diet;
use crate::domain::model::{Limits, ToolDiet};

impl SettingsReader<'_> {
    pub(super) fn limits(&mut self) -> Limits {
        let default = Limits::default();
        let table = fields::object(self.document.root(), "limits").map(|table| table.cloned());
        let Some(table) = self.or_warn(&[PathStep::Key("limits")], table) else {
            return default;
        };
        Limits {
            tool_rounds: self
                .limit(&table, "toolRounds")
                .unwrap_or(default.tool_rounds),
            errors_per_turn: self
                .limit(&table, "errorsPerTurn")
                .unwrap_or(default.errors_per_turn),
            idle_seconds: self
                .limit(&table, "idleSeconds")
                .map_or(default.idle_seconds, u64::from),
        }
    }

    pub(super) fn tool_diet(&mut self) -> ToolDiet {
        let diet = tool_diet::read(self.document.root());
        self.or_warn(&[PathStep::Key("toolDiet")], diet)
            .unwrap_or_default()
    }

    fn limit(&mut self, table: &ConfigObject, key: &str) -> Option<u32> {
        let limit = fields::count(table, key);
        self.or_warn(&[PathStep::Key("limits"), PathStep::Key(key)], limit)
    }
}
