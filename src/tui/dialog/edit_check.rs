//! What follows from the engine's check of edited arguments.

use crate::domain::tool::Decision;
use crate::domain::{QueryId, SchemaCheck};
use crate::protocol::{Command, parse_arguments};
use crate::tui::dialog::granting;
use crate::tui::dialog::keys::FAULT_CHARS_MAX;
use crate::tui::dialog::state::{Form, with_ask};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::update::engine;

/// Edited arguments were checked: they are decided on, or their fault is shown.
pub fn checked(model: &mut Model, query: QueryId, check: SchemaCheck, effects: &mut Vec<Effect>) {
    let now = model.now;
    let answered = with_ask(model, |_, ask| {
        let Form::Arguments {
            editor,
            fault,
            query: open,
            drawn,
            ..
        } = &mut ask.form
        else {
            return None;
        };
        if *open != Some(query) {
            return None;
        }
        *open = None;
        if let SchemaCheck::Invalid(why) = check {
            *fault = Some(why.chars().take(FAULT_CHARS_MAX).collect());
            return None;
        }
        // No key came since: this is what was checked.
        let written = editor.text();
        let arguments = parse_arguments(&written).ok()?;
        let is_drawn = drawn.as_ref() == Some(&written);
        let decided = ask.decided();
        let answer = granting::written(ask, Decision::Edit { arguments }, is_drawn);
        if answer.is_none() && ask.decided() > decided {
            // The next call has not been read yet.
            ask.armed = false;
            ask.opened = now;
        }
        answer.map(|answer| (ask.id, answer))
    });
    if let Some((ask, answer)) = answered.flatten() {
        effects.push(Effect::Send(Command::Answer { ask, answer }));
        engine::answered(model);
    }
}
