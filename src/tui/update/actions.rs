//! Every action of the table of keys, and what a command's argument means to it.

use crate::domain::{Notice, ToolMode};
use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::model::{Focus, Model, Overlay, Pick, Picked};
use crate::tui::msg::Effect;
use crate::tui::update::{branches, calls, composer, interrupt, navigation, overlay};
use crate::tui::widgets::editor::Editor;
use crate::tui::{log, models, servers, sessions, trust};

pub fn run(model: &mut Model, action: Action, argument: &str, effects: &mut Vec<Effect>) {
    if branches::run(model, action, argument, effects) {
        return;
    }
    match action {
        Action::Send => composer::send(model, effects),
        Action::Interrupt => interrupt::interrupt(model, effects),
        Action::Leave => interrupt::leave(model, effects),
        Action::Edit(edit) => composer::edit(model, edit),
        Action::Continue => composer::go_on(model, effects),
        Action::Compact => composer::compact(model, effects),
        Action::Probe => branches::when_idle(model, Command::Probe, effects),
        Action::NewSession => {
            composer::hold_queue(model);
            effects.push(Effect::Send(Command::NewSession));
        }
        Action::Sessions => sessions::keys::open(model, effects),
        Action::SetModel => set_model(model, argument, effects),
        Action::Models => models::keys::run(model, argument, effects),
        Action::Think => models::keys::think(model, argument, effects),
        Action::SetToolMode => set_tool_mode(model, argument, effects),
        Action::SetPersona | Action::Reload | Action::SystemPrompt => {
            settings(model, action, argument, effects);
        }
        Action::Trust => trust::keys::open(model),
        Action::Mcp
        | Action::ToggleServer
        | Action::Reconnect
        | Action::Stderr
        | Action::Instructions
        | Action::Withheld => server(model, action, argument, effects),
        Action::CancelCall => calls::cancel(model, argument, effects),
        Action::OpenCall => calls::open(model),
        Action::Commands => {
            model.overlay = Some(Overlay::Palette {
                filter: Editor::default(),
                chosen: 0,
            });
        }
        Action::Help => model.overlay = Some(Overlay::Help { scroll: 0 }),
        Action::Log => log::keys::open(model, argument, effects),
        Action::Recall => {
            model.overlay = Some(Overlay::Recall {
                filter: Editor::default(),
                chosen: 0,
            });
        }
        Action::Raw => show_raw(model),
        Action::CopyAnswer => calls::copy(model, argument, effects),
        Action::EditOutside => effects.push(Effect::EditText(model.editor.text())),
        Action::Mouse => {
            model.mouse = !model.mouse;
            model.notify(Notice::info(if model.mouse {
                "The mouse scrolls and selects panes."
            } else {
                "The mouse is left to the terminal."
            }));
            effects.push(Effect::CaptureMouse(model.mouse));
        }
        Action::Redraw => effects.push(Effect::Repaint),
        Action::Suspend => effects.push(Effect::Suspend),
        other => navigation::run(model, other, effects),
    }
}

fn server(model: &mut Model, action: Action, argument: &str, effects: &mut Vec<Effect>) {
    let in_pane = argument.is_empty() && model.focus == Focus::Servers;
    match action {
        Action::Mcp => return servers::commands::command(model, argument, effects),
        Action::ToggleServer if in_pane => return servers::commands::toggle_chosen(model, effects),
        Action::ToggleServer => return servers::commands::toggle_command(model, argument, effects),
        Action::Withheld => return servers::commands::review(model, effects),
        _ => {}
    }
    let Some(id) = model
        .sidebar
        .chosen_server()
        .map(|server| server.id.clone())
    else {
        return;
    };
    match action {
        Action::Reconnect => servers::commands::reconnect(model, &id, effects),
        Action::Instructions => servers::commands::ask_instructions(model, &id, effects),
        _ => servers::commands::open_log(model, &id, effects),
    }
}

fn show_raw(model: &mut Model) {
    model.raw = !model.raw;
    model.notify(Notice::info(if model.raw {
        "Answers are shown as they were written."
    } else {
        "Answers are rendered."
    }));
}

fn set_model(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    if model.models.is_empty() {
        let notice = Notice::warning("No models are configured.");
        return model.notify(notice.advise("/models shows what there is and adds it."));
    }
    let rows = model.models.iter().map(|entry| {
        let label = if entry.name == entry.model {
            format!("{}  {}", entry.name, entry.provider)
        } else {
            format!("{}  {} {}", entry.name, entry.provider, entry.model)
        };
        (Picked::Model(entry.clone()), label)
    });
    let present = model.selected.as_ref();
    let pick = Pick {
        title: "Models",
        zero: "Keep the present model",
        chosen: model
            .models
            .iter()
            .position(|entry| Some(entry) == present)
            .unwrap_or(0),
        rows: rows.collect(),
        typed: String::new(),
    };
    pick_or_open(model, pick, argument, effects);
}

fn set_tool_mode(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    if let Some(mode) = ToolMode::from_name(argument) {
        return effects.push(Effect::Send(Command::SetToolMode(mode)));
    }
    if !argument.is_empty() {
        return model.notify(Notice::warning("Please enter either auto or manual."));
    }
    let row = |mode, label: &str| (Picked::Mode(mode), label.to_owned());
    model.overlay = Some(Overlay::Pick(Pick {
        title: "Tool mode",
        zero: "Keep the present mode",
        rows: vec![
            row(ToolMode::Manual, "manual  ask before each call"),
            row(ToolMode::Auto, "auto  run calls at once"),
        ],
        chosen: usize::from(model.mode == ToolMode::Auto),
        typed: String::new(),
    }));
}

/// Who answers, and the files of settings.
fn settings(model: &mut Model, action: Action, argument: &str, effects: &mut Vec<Effect>) {
    match (action, argument) {
        (Action::SetPersona, _) => set_persona(model, argument, effects),
        (Action::SystemPrompt, "" | "replace") => {
            effects.push(Effect::Send(Command::ReplaceSystemPrompt));
        }
        (Action::SystemPrompt, _) => {
            model.notify(Notice::warning("It is `/system-prompt replace`."));
        }
        _ => effects.push(Effect::Send(Command::Reload)),
    }
}

/// A name behind the command chooses at once; `off` is the system prompt again.
fn set_persona(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    let personas = &model.personas;
    let named = personas.iter().any(|persona| persona.name == argument);
    if !argument.is_empty() && (named || argument.parse::<usize>().is_err()) {
        let is_off = argument == "off" && !named;
        let chosen = (!is_off).then(|| argument.to_owned());
        return effects.push(Effect::Send(Command::SelectPersona(chosen)));
    }
    let off = (Picked::Persona(None), "none  system_prompt.txt".to_owned());
    let rows = personas.iter().map(|persona| {
        let label = format!("{}  {}", persona.name, persona.about);
        (Picked::Persona(Some(persona.name.clone())), label)
    });
    let present = model.persona.as_ref();
    let chosen = personas
        .iter()
        .position(|persona| Some(&persona.name) == present);
    let pick = Pick {
        title: "Personas",
        zero: "Change nothing",
        chosen: chosen.map_or(0, |index| index + 1),
        rows: std::iter::once(off).chain(rows).collect(),
        typed: String::new(),
    };
    pick_or_open(model, pick, argument, effects);
}

/// A number behind the command picks at once; without one the list opens.
pub fn pick_or_open(model: &mut Model, pick: Pick, argument: &str, effects: &mut Vec<Effect>) {
    if argument.is_empty() {
        model.overlay = Some(Overlay::Pick(pick));
        return;
    }
    match argument.parse::<usize>() {
        Ok(0) => model.notify(Notice::info("Nothing was changed.")),
        Ok(number) if number <= pick.rows.len() => {
            overlay::picked(model, &pick.rows[number - 1].0, effects);
        }
        _ => {
            let count = pick.rows.len();
            model.notify(Notice::warning(format!(
                "Please enter a number from 0 to {count}."
            )));
        }
    }
}
