//! The command that selects the thinking effort.

use crate::domain::{Notice, Think};
use crate::protocol::Command;
use crate::tui::layer::{PickedItem, UiContext};
use crate::tui::widgets::picker::{Picker, PickerRow};

pub const THINK_LEVELS: [(&str, Think); 5] = [
    ("on", Think::On),
    ("off", Think::Off),
    ("low", Think::Low),
    ("medium", Think::Medium),
    ("high", Think::High),
];

/// `/think [on | off | low | medium | high]`.
pub fn think(argument: &str, cx: &mut UiContext) {
    let word = argument.to_lowercase();
    if let Some((_, think)) = THINK_LEVELS.iter().find(|(name, _)| *name == word) {
        return set_think(*think, cx);
    }
    if !argument.is_empty() {
        let text = "Please enter on, off, low, medium or high.";
        return cx.notify(Notice::warning(text));
    }
    if cx.shared.engine.selected.is_none() {
        let notice = Notice::warning("No model is selected yet.");
        return cx.notify(notice.with_advice("Select one with /models."));
    }
    let notes = [
        "think before answering",
        "answer at once",
        "think a little",
        "",
        "think for a long time",
    ];
    let rows = THINK_LEVELS
        .iter()
        .zip(notes)
        .map(|((name, think), note)| PickerRow::new(PickedItem::Think(*think), name, note));
    let current = cx.shared.engine.think;
    let at = THINK_LEVELS
        .iter()
        .position(|(_, think)| Some(*think) == current);
    cx.open(Picker::new("Thinking", "Keep the current setting", rows).starting_at(at));
}

pub fn set_think(think: Think, cx: &mut UiContext) {
    if let Some(selected) = &cx.shared.engine.selected {
        let (name, word) = (&selected.name, think_word(think));
        let text = format!("Thinking for {name}: {word}, until humble exits.");
        cx.notify(Notice::info(text));
    }
    cx.send(Command::SetThink(think));
}

pub fn think_word(think: Think) -> &'static str {
    let known = THINK_LEVELS.iter().find(|(_, known)| *known == think);
    known.map_or("on", |(word, _)| word)
}
