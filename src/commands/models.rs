//! `/set-model`, `/models` and `/think`.

use super::arguments::{ArgumentKind as Arg, MODELS_WORDS};
use super::{BindingGroup as G, CommandCx, CommandRow, PickList, PickRow, WantedView};
use crate::domain::{ModelRef, Notice, Think};
use crate::protocol::Command;
use crate::text::Clean;
use crate::text::suggest::nearest;

pub static SET_MODEL: CommandRow = CommandRow::new(
    "/set-model",
    "set-model",
    G::Models,
    "Choose the model",
    set_model,
)
.usage("[NUMBER|NAME]", Arg::ConfiguredModel)
.found_by("change switch use");

pub static MODELS: CommandRow = CommandRow::new(
    "/models",
    "models",
    G::Models,
    "Choose, pull, add or remove models",
    manage_models,
)
.usage("[keep|pull NAME|rm NAME|stop]", Arg::Words(MODELS_WORDS))
.found_by("download install delete list uninstall api");

pub static THINK: CommandRow = CommandRow::new(
    "/think",
    "think",
    G::Models,
    "Set how much the model thinks",
    set_think,
)
.usage("[on|off|LEVEL]", Arg::Think)
.found_by("reasoning effort");

/// Names come first, because a name may be a number.
fn set_model(cx: &mut dyn CommandCx, argument: &str) {
    if argument.is_empty() {
        return cx.show(WantedView::ConfiguredModels);
    }
    let engine = cx.state().engine;
    let models = &engine.models;
    let number = argument.parse::<usize>();
    let named = models.iter().find(|model| model.name == argument);
    let by_number = || models.get(number.as_ref().ok()?.checked_sub(1)?);
    if let Some(model) = named.or_else(by_number).cloned() {
        return select_model(cx, model);
    }
    let notice = match number {
        Ok(0) => Notice::info("Nothing was changed."),
        Ok(_) => Notice::warning(format!("Please enter a number from 0 to {}.", models.len())),
        Err(_) => match engine.catalog.server_with(argument) {
            Some(server) => {
                let (server, model) = (server.clone(), argument.to_owned());
                return cx.send(Command::UseModel { server, model });
            }
            None => unknown_model(argument, models),
        },
    };
    cx.notify(notice);
}

fn unknown_model(name: &str, models: &[ModelRef]) -> Notice {
    let notice = Notice::warning(format!("No model `{}` is configured.", Clean::name(name)));
    let names = models.iter().map(|model| model.name.as_str());
    notice.with_advice(match nearest(name, names) {
        Some(similar) => format!("Did you mean `{}`?", Clean::name(similar)),
        None => "/models lists the models of all servers.".to_owned(),
    })
}

/// Uses a configured model.
pub fn select_model(cx: &mut dyn CommandCx, model: ModelRef) {
    cx.notify(Notice::info(format!("Using {}.", model.name)));
    cx.send(Command::SelectModel(model));
}

fn manage_models(cx: &mut dyn CommandCx, argument: &str) {
    let (word, name) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    let name = name.trim().to_owned();
    match (word, name.is_empty()) {
        ("", _) => cx.show(WantedView::Models),
        ("keep", true) => cx.send(Command::KeepModel),
        ("pull", true) => cx.show(WantedView::PulledModel),
        ("pull", false) => cx.send(Command::PullModel { server: None, name }),
        ("stop", true) => cx.send(Command::StopPull),
        ("rm", false) => cx.send(Command::RemoveModel { server: None, name }),
        _ => cx.notify(MODELS.usage_notice()),
    }
}

fn set_think(cx: &mut dyn CommandCx, argument: &str) {
    let engine = cx.state().engine;
    let values = think_values(engine.selected.as_ref());
    let word = argument.to_lowercase();
    if let Some(think) = values.iter().find(|think| think.word() == word) {
        let name = engine.model_name();
        let text = format!("Thinking for {name}: {word}, until humble exits.");
        cx.notify(Notice::info(text));
        return cx.send(Command::SetThink(*think));
    }
    if !argument.is_empty() {
        return cx.notify(Notice::warning(think_usage(values)));
    }
    if engine.selected.is_none() {
        let notice = Notice::warning("No model is selected yet.");
        return cx.notify(notice.with_advice("Select one with /models."));
    }
    let list = PickList {
        title: "Thinking",
        keep: "Keep the current setting",
        current: values.iter().position(|think| Some(*think) == engine.think),
        rows: values
            .iter()
            .map(|think| PickRow::of(&THINK, think.word(), think_note(*think)))
            .collect(),
    };
    list.ask("", cx);
}

/// The values that the provider of the selected model takes.
pub fn think_values(selected: Option<&ModelRef>) -> &'static [Think] {
    selected.map_or(&Think::ALL, |model| model.provider.think_values())
}

fn think_usage(values: &[Think]) -> String {
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
