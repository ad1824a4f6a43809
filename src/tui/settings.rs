//! Commands that change the tool mode, the persona or the system prompt, and the notice of
//! `/context`.

use crate::domain::{Notice, ToolMode};
use crate::protocol::{Command, ContextMeter};
use crate::tui::layer::{PickedItem, UiContext};
use crate::tui::widgets::numbers::group_digits;
use crate::tui::widgets::picker::{Picker, PickerRow};

pub fn set_tool_mode(argument: &str, cx: &mut UiContext) {
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
    cx.open(Picker::new("Tool mode", "Keep the current mode", rows).starting_at(Some(current)));
}

/// Selects a persona by name or by its number in the picker; without an argument, opens the
/// picker. `off` selects the plain system prompt.
pub fn set_persona(argument: &str, cx: &mut UiContext) {
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

pub fn replace_system_prompt(argument: &str, cx: &mut UiContext) {
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
