//! Commands that change the tool mode, the theme, the persona or the system prompt, and the notice of
//! `/context`.

use crate::domain::theme::ThemeChoice;
use crate::domain::{Notice, ToolMode};
use crate::protocol::{Command, ContextMeter};
use crate::text::suggest::nearest;
use crate::tui::keymap::Action;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::widgets::numbers::group_digits;
use crate::tui::widgets::picker::{Picker, PickerRow};

/// Runs the action of a command of this module.
pub fn run_action(action: Action, argument: &str, cx: &mut UiContext) {
    match action {
        Action::SetToolMode => set_tool_mode(argument, cx),
        Action::Theme => set_theme(argument, cx),
        Action::SetPersona => set_persona(argument, cx),
        _ => replace_system_prompt(argument, cx),
    }
}

fn set_tool_mode(argument: &str, cx: &mut UiContext) {
    if let Some(mode) = ToolMode::from_name(argument) {
        return cx.send(Command::SetToolMode(mode));
    }
    if !argument.is_empty() {
        return cx.notify(Notice::warning("Please enter either auto or manual."));
    }
    let mode_row = |mode, name, note| PickerRow::new(PickedItem::Mode(mode), name, note);
    let rows = [
        mode_row(ToolMode::Manual, "manual", "ask before each call"),
        mode_row(ToolMode::Auto, "auto", "run calls without asking"),
    ];
    let current = usize::from(cx.shared.engine.mode == ToolMode::Auto);
    Picker::new("Tool mode", "Keep the current mode", rows)
        .starting_at(Some(current))
        .open(cx);
}

/// Sets a theme by name or by its number in the list; without an argument, opens the list.
fn set_theme(argument: &str, cx: &mut UiContext) {
    let themes = cx.shared.themes;
    if let Some(choice) = themes.find(argument) {
        return cx.request(UiRequest::Pick(PickedItem::Theme(choice)));
    }
    let choices = themes.choices();
    if !argument.is_empty() && argument.parse::<usize>().is_err() {
        let names: Vec<&str> = choices.iter().map(ThemeChoice::name).collect();
        let notice = Notice::warning(format!("There is no theme `{argument}`."));
        return cx.notify(
            notice.with_advice(match nearest(argument, names.iter().copied()) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Available: {}.", names.join(", ")),
            }),
        );
    }
    let rows = choices.iter().map(|choice| {
        let item = PickedItem::Theme(choice.clone());
        PickerRow::new(item, choice.name(), theme_note(choice))
    });
    let current = choices.iter().position(|choice| *choice == themes.choice);
    Picker::new("Theme", "Keep the current theme", rows)
        .starting_at(current)
        .pick_or_open(argument, cx);
}

pub fn theme_note(choice: &ThemeChoice) -> &'static str {
    match choice {
        ThemeChoice::Terminal => "the terminal's own colors",
        ThemeChoice::Auto => "dark or light, as the terminal is",
        ThemeChoice::Dark => "for dark backgrounds",
        ThemeChoice::Light => "for light backgrounds",
        ThemeChoice::File(_) => "a file in themes/",
    }
}

/// Selects a persona by name or by its number in the picker; without an argument, opens the
/// picker. `off` selects the plain system prompt.
fn set_persona(argument: &str, cx: &mut UiContext) {
    let engine = cx.shared.engine;
    let personas = &engine.personas;
    let exists = personas.iter().any(|persona| persona.name == argument);
    if !argument.is_empty() && (exists || argument.parse::<usize>().is_err()) {
        let is_off = argument == "off" && !exists;
        let persona = (!is_off).then(|| argument.to_owned());
        return cx.send(Command::SelectPersona(persona));
    }
    let no_persona = PickerRow::new(PickedItem::Persona(None), "none", "system_prompt.txt");
    let rows = personas.iter().map(|persona| {
        let item = PickedItem::Persona(Some(persona.name.clone()));
        PickerRow::new(item, &persona.name, &persona.description)
    });
    let current_name = engine.persona.as_ref();
    let current = personas
        .iter()
        .position(|persona| Some(&persona.name) == current_name);
    Picker::new(
        "Personas",
        "Keep the current persona",
        std::iter::once(no_persona).chain(rows),
    )
    .starting_at(current.map(|index| index + 1))
    .pick_or_open(argument, cx);
}

fn replace_system_prompt(argument: &str, cx: &mut UiContext) {
    match argument {
        "" | "replace" => cx.send(Command::ReplaceSystemPrompt),
        _ => cx.notify(Notice::warning("Usage: /system-prompt replace")),
    }
}

/// The used tokens of the model's context, in total and by origin.
pub fn context_notice(meter: ContextMeter) -> Notice {
    if meter.used == 0 {
        return Notice::info("The context is still empty.")
            .with_advice("Its size is known after the first prompt.");
    }
    let digits = |tokens: u64| group_digits(usize::try_from(tokens).unwrap_or(usize::MAX));
    let parts = meter.parts();
    let used = match (meter.is_measured, meter.limit) {
        (true, None) => format!("The context holds {} tokens", digits(meter.used)),
        (false, None) => format!("The context holds about {} tokens", digits(meter.used)),
        (is_measured, Some(limit)) => {
            let about = if is_measured { "" } else { "about " };
            let (used, limit) = (digits(meter.used), digits(limit));
            format!("The context holds {about}{used} of {limit} tokens")
        }
    };
    let mut rows = vec![format!("system message ~{}", digits(parts.system))];
    if parts.tools > 0 {
        rows.push(format!("tools ~{}", digits(parts.tools)));
    }
    rows.push(format!("conversation ~{}", digits(parts.conversation)));
    if let Some(free) = parts.free {
        rows.push(format!("free for answers {}", digits(free)));
    }
    Notice::info(format!("{used}: {}.", rows.join(", ")))
        .with_advice("/compact shortens the conversation.")
}
