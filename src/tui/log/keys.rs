//! Keys of the log pane, and asking the engine for what it shows.

use crate::domain::{Notice, ToolState, TurnEvent, trace};
use crate::protocol::Command;
use crate::tui::input::decode::{key_under, normal};
use crate::tui::log::state::{LogPane, LogTab};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::Effect;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// `/log answer` begins with the last answer.
pub fn open(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    let tab = match argument {
        "" => LogTab::Log,
        "answer" => LogTab::LastAnswer,
        _ => return model.notify(Notice::warning("It is `/log` or `/log answer`.")),
    };
    let pane = LogPane {
        tab,
        ..LogPane::default()
    };
    model.overlay = Some(Overlay::Log(pane));
    ask(model, effects);
}

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(Overlay::Log(pane)) = &mut model.overlay else {
        return;
    };
    match normal(key) {
        (KeyCode::Tab | KeyCode::BackTab | KeyCode::Left | KeyCode::Right, _) => {
            pane.turn();
            ask(model, effects);
        }
        (KeyCode::Home, _) => pane.jump(false),
        (KeyCode::End, _) => pane.jump(true),
        (KeyCode::Char(c), KeyModifiers::NONE) if key_under(c) == 'y' => copy(model, effects),
        _ => {}
    }
}

/// The engine is asked only while somebody looks.
fn ask(model: &Model, effects: &mut Vec<Effect>) {
    if shows_answer(model) {
        effects.push(Effect::Send(Command::Trace));
    }
}

fn shows_answer(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Log(pane)) if pane.tab == LogTab::LastAnswer)
}

/// Whoever looks sees each reply once it is whole, and what became of its calls.
pub fn follow(model: &Model, event: &TurnEvent, effects: &mut Vec<Effect>) {
    let is_news = match event {
        TurnEvent::Started { .. } | TurnEvent::RoundEnded { .. } | TurnEvent::Ended { .. } => true,
        // Progress comes as often as a server likes, and is not told.
        TurnEvent::Tool(call) => !matches!(call.state, ToolState::Running { progress: Some(_) }),
        _ => false,
    };
    if is_news {
        ask(model, effects);
    }
}

fn copy(model: &mut Model, effects: &mut Vec<Effect>) {
    let text = if shows_answer(model) {
        model.trace.as_ref().map(|lines| trace::words(lines))
    } else {
        let lines = model.log.iter();
        let lines = lines.map(|line| format!("{:5} {}", line.level, line.text));
        Some(lines.collect::<Vec<_>>().join("\n"))
    };
    match text.filter(|text| !text.is_empty()) {
        Some(text) => {
            effects.push(Effect::Copy(text));
            // Whether the terminal took it cannot be known: only the means is named.
            model.notify(Notice::info("Sent to the terminal's clipboard (OSC 52)."));
        }
        None => model.notify(Notice::info("There is nothing to copy yet.")),
    }
}
