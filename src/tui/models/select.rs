//! The command that selects the thinking effort.

use crate::domain::{ModelRef, Notice, Think};
use crate::protocol::Command;
use crate::tui::layer::{PickedItem, UiContext};
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::widgets::picker::{Picker, PickerRow};

/// `/think [on | off | LEVEL]`.
pub fn think(argument: &str, cx: &mut UiContext) {
    let selected = cx.shared.engine.selected.as_ref();
    let values = think_values(selected);
    let word = argument.to_lowercase();
    if let Some(think) = values.iter().find(|think| think.word() == word) {
        return set_think(*think, cx);
    }
    if !argument.is_empty() {
        return cx.notify(Notice::warning(think_usage(values)));
    }
    if selected.is_none() {
        let notice = Notice::warning("No model is selected yet.");
        return cx.notify(notice.with_advice("Select one with /models."));
    }
    let row =
        |think: &Think| PickerRow::new(PickedItem::Think(*think), think.word(), think_note(*think));
    let rows = values.iter().map(row);
    let current = cx.shared.engine.think;
    let at = values.iter().position(|think| Some(*think) == current);
    Picker::new("Thinking", "Keep the current setting", rows)
        .starting_at(at)
        .open(cx);
}

/// The values that the provider of the selected model takes.
pub fn think_values(selected: Option<&ModelRef>) -> &'static [Think] {
    selected.map_or(&Think::ALL, |model| model.provider.think_values())
}

pub fn think_usage(values: &[Think]) -> String {
    let words: Vec<&str> = values.iter().map(|think| think.word()).collect();
    match words.split_last() {
        Some((last, others)) => format!("Please enter {} or {last}.", others.join(", ")),
        None => String::new(),
    }
}

pub fn think_note(think: Think) -> &'static str {
    match think {
        Think::On => "Think before answering",
        Think::Off => "Answer at once",
        Think::Minimal => "Think very little",
        Think::Low => "Think a little",
        Think::Medium => "Think for a while",
        Think::High => "Think for a long time",
        Think::XHigh => "Think even longer",
        Think::Max => "Think as long as possible",
    }
}

pub fn set_think(think: Think, cx: &mut UiContext) {
    if let Some(selected) = &cx.shared.engine.selected {
        let (name, word) = (&selected.name, think.word());
        let text = format!("Thinking for {name}: {word}, until humble exits.");
        cx.notify(Notice::info(text));
    }
    cx.send(Command::SetThink(think));
}
