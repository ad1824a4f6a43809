//! What follows from the engine's check of edited arguments.

use crate::domain::tool::Decision;
use crate::domain::{QueryId, SchemaCheck};
use crate::protocol::{Answer, parse_arguments};
use crate::tui::dialog::choices::FAULT_CHARS_MAX;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::granting;
use crate::tui::dialog::state::{Form, OpenAsk};
use crate::tui::layer::Cx;

/// Edited arguments were checked: they are decided on, or their fault is shown.
pub fn checked(dialogs: &mut Dialogs, query: QueryId, check: &SchemaCheck, cx: &mut Cx) {
    let Some(ask) = dialogs.shown_mut() else {
        return;
    };
    let decided = ask.decided();
    let answer = decide(ask, query, check);
    if answer.is_none() && ask.decided() > decided {
        ask.disarm(cx.shared.now);
    }
    if let Some(answer) = answer {
        dialogs.answer(answer, cx);
    }
}

fn decide(ask: &mut OpenAsk, query: QueryId, check: &SchemaCheck) -> Option<Answer> {
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
    granting::written(ask, Decision::Edit { arguments }, is_drawn)
}
