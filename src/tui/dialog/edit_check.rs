//! Applies the engine's schema check of edited arguments.

use crate::domain::tool::Decision;
use crate::domain::{QueryId, SchemaCheck};
use crate::protocol::{Answer, parse_arguments};
use crate::tui::dialog::choices::FAULT_CHARS_MAX;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::granting;
use crate::tui::dialog::state::{Form, OpenAsk};
use crate::tui::layer::Cx;

/// Decides the call with the checked arguments, or shows the error.
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
    // Any edit would have cleared the query, so this is the checked text.
    let written = editor.text();
    let arguments = parse_arguments(&written).ok()?;
    let is_drawn = drawn.as_ref() == Some(&written);
    granting::written(ask, Decision::Edit { arguments }, is_drawn)
}
