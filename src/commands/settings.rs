//! Commands that change the tool mode, the persona or the system prompt, and `/context`, `/reload` and
//! `/probe`.

use super::arguments::{ArgumentKind as Arg, SYSTEM_PROMPT_WORDS, TOOL_MODE_WORDS};
use super::{
    BindingGroup as G, CommandCx, CommandRow, PickEffect, PickList, PickRow, send_if_idle,
};
use crate::domain::{Notice, ToolMode};
use crate::protocol::{Command, ContextMeter};
use crate::text::numbers::group_digits;

pub static SET_TOOL_MODE: CommandRow = CommandRow::new(
    "/set-tool-mode",
    "set-tool-mode",
    G::Tools,
    "Ask before tool calls, or run them at once",
    set_tool_mode,
)
.usage("[auto|manual]", Arg::Words(TOOL_MODE_WORDS))
.found_by("approve approval allow permission yolo auto manual autopilot confirm security safety");

pub static PERSONA: CommandRow = CommandRow::new(
    "/persona",
    "persona",
    G::Models,
    "Choose a persona",
    set_persona,
)
.usage("[NAME|off]", Arg::Persona)
.found_by("role character assistant profile bot");

pub static SYSTEM_PROMPT: CommandRow = CommandRow::new(
    "/system-prompt",
    "system-prompt",
    G::Models,
    "Update an old system prompt (keeps a backup)",
    replace_system_prompt,
)
.usage("[replace]", Arg::Words(SYSTEM_PROMPT_WORDS))
.found_by("instructions");

pub static CONTEXT: CommandRow = CommandRow::new(
    "/context",
    "context",
    G::Conversation,
    "Show what fills the model's context",
    |cx, _| show_context(cx),
)
.also_called(&["/tokens"])
.found_by("tokens usage size limit window memory cost price");

pub static RELOAD: CommandRow = CommandRow::new(
    "/reload",
    "reload",
    G::Program,
    "Reload the settings",
    |cx, _| cx.send(Command::Reload),
)
.found_by("config refresh preferences");

pub static PROBE: CommandRow = CommandRow::new(
    "/probe",
    "probe",
    G::Models,
    "Detect how the model calls tools",
    |cx, _| send_if_idle(cx, Command::Probe),
)
.found_by("test check diagnose");

fn set_tool_mode(cx: &mut dyn CommandCx, argument: &str) {
    if let Some(mode) = ToolMode::from_name(argument) {
        if mode == cx.state().engine.mode {
            let text = format!("The tool mode is already {argument}.");
            cx.notify(Notice::info(text));
        }
        return cx.send(Command::SetToolMode(mode));
    }
    if !argument.is_empty() {
        return cx.notify(Notice::warning("Please enter either auto or manual."));
    }
    let row = |name, note| PickRow::of(&SET_TOOL_MODE, name, note);
    let list = PickList {
        title: "Tool mode",
        keep: "Keep the current mode",
        current: Some(usize::from(cx.state().engine.mode == ToolMode::Auto)),
        rows: vec![
            row("manual", "ask before each call"),
            row("auto", "run calls without asking"),
        ],
    };
    list.ask("", cx);
}

/// Selects a persona by name or by its number in the list. `off` selects the plain system prompt.
fn set_persona(cx: &mut dyn CommandCx, argument: &str) {
    let engine = cx.state().engine;
    let personas = &engine.personas;
    let exists = personas.iter().any(|persona| persona.name == argument);
    if !argument.is_empty() && (exists || argument.parse::<usize>().is_err()) {
        let is_off = argument == "off" && !exists;
        let persona = (!is_off).then(|| argument.to_owned());
        return cx.send(Command::SelectPersona(persona));
    }
    // A persona may be named `off`.
    let none = PickRow {
        name: "none".to_owned(),
        note: "system_prompt.txt".to_owned(),
        effect: PickEffect::Send(Box::new(Command::SelectPersona(None))),
    };
    let named = personas
        .iter()
        .map(|persona| PickRow::of(&PERSONA, &persona.name, &persona.description));
    let selected = engine.persona.as_ref();
    let current = personas
        .iter()
        .position(|persona| Some(&persona.name) == selected);
    let list = PickList {
        title: "Personas",
        keep: "Keep the current persona",
        current: current.map(|index| index + 1),
        rows: std::iter::once(none).chain(named).collect(),
    };
    list.ask(argument, cx);
}

fn replace_system_prompt(cx: &mut dyn CommandCx, argument: &str) {
    match argument {
        "" | "replace" => cx.send(Command::ReplaceSystemPrompt),
        _ => cx.notify(SYSTEM_PROMPT.usage_notice()),
    }
}

fn show_context(cx: &mut dyn CommandCx) {
    let meter = cx.state().engine.context_meter;
    cx.notify(context_notice(meter));
}

/// The used tokens of the model's context, in total and by origin.
fn context_notice(meter: ContextMeter) -> Notice {
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
