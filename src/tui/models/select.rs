//! Commands that select the model and its thinking effort.

use crate::domain::{ModelRef, Notice, Think};
use crate::protocol::Command;
use crate::text::Clean;
use crate::text::suggest::nearest;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::widgets::picker::Picker;

const THINK: [(&str, Think); 5] = [
    ("on", Think::On),
    ("off", Think::Off),
    ("low", Think::Low),
    ("medium", Think::Medium),
    ("high", Think::High),
];

/// `/set-model [NUMBER|NAME]`. Names come first, because a name may be a number.
pub fn set_model(argument: &str, cx: &mut UiContext) {
    let engine = cx.shared.engine;
    if engine.models.is_empty() {
        let notice = Notice::warning("No models are configured.");
        return cx.notify(notice.with_advice("Use /models to list and add models."));
    }
    if let Some(named) = engine.models.iter().find(|entry| entry.name == argument) {
        return cx.request(UiRequest::Pick(PickedItem::Model(named.clone())));
    }
    if !argument.is_empty() && argument.parse::<usize>().is_err() {
        return cx.notify(unknown_model_notice(argument, &engine.models));
    }
    let rows = engine.models.iter().map(|entry| {
        let label = if entry.name == entry.model {
            format!("{}  {}", entry.name, entry.provider)
        } else {
            format!("{}  {} {}", entry.name, entry.provider, entry.model)
        };
        (PickedItem::Model(entry.clone()), label)
    });
    let present = engine.selected.as_ref();
    let at = engine
        .models
        .iter()
        .position(|entry| Some(entry) == present);
    Picker::new("Models", "Keep the current model", rows)
        .starting_at(at)
        .pick_or_open(argument, cx);
}

fn unknown_model_notice(name: &str, models: &[ModelRef]) -> Notice {
    let notice = Notice::warning(format!("No model `{}` is configured.", Clean::name(name)));
    let names = models.iter().map(|entry| entry.name.as_str());
    notice.with_advice(match nearest(name, names) {
        Some(similar) => format!("Did you mean `{}`?", Clean::name(similar)),
        None => "/models lists the models of all servers.".to_owned(),
    })
}

/// `/think [on | off | low | medium | high]`.
pub fn think(argument: &str, cx: &mut UiContext) {
    let word = argument.to_lowercase();
    if let Some((_, think)) = THINK.iter().find(|(name, _)| *name == word) {
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
    let labels = [
        "on  think before answering",
        "off  answer at once",
        "low  think a little",
        "medium",
        "high  think long",
    ];
    let rows = THINK
        .iter()
        .zip(labels)
        .map(|((_, think), label)| (PickedItem::Think(*think), label.to_owned()));
    let present = cx.shared.engine.think;
    let at = THINK.iter().position(|(_, think)| Some(*think) == present);
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
    let known = THINK.iter().find(|(_, known)| *known == think);
    known.map_or("on", |(word, _)| word)
}
