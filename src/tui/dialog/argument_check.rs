//! Applies the engine's schema check of edited arguments.

use crate::domain::tool::Decision;
use crate::domain::{QueryId, SchemaCheck};
use crate::protocol::{UserAnswer, parse_arguments};
use crate::tui::dialog::choices::ERROR_CHARS_MAX;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::read_before_run;
use crate::tui::dialog::state::{Dialog, DialogMode};
use crate::tui::layer::UiContext;

/// Decides the call with the checked arguments, or shows the error.
pub fn apply_check(dialogs: &mut Dialogs, query: QueryId, check: &SchemaCheck, cx: &mut UiContext) {
    let Some(ask) = dialogs.current_mut() else {
        return;
    };
    let decided = ask.decided_count();
    let answer = check_to_answer(ask, query, check);
    if answer.is_none() && ask.decided_count() > decided {
        ask.wait_for_quiet(cx.shared.now);
    }
    if let Some(answer) = answer {
        dialogs.answer(answer, cx);
    }
}

fn check_to_answer(ask: &mut Dialog, query: QueryId, check: &SchemaCheck) -> Option<UserAnswer> {
    let DialogMode::EditArguments {
        editor,
        error: fault,
        check_query: open,
        drawn_text: drawn,
        ..
    } = &mut ask.mode
    else {
        return None;
    };
    if *open != Some(query) {
        return None;
    }
    *open = None;
    if let SchemaCheck::Invalid(why) = check {
        *fault = Some(why.chars().take(ERROR_CHARS_MAX).collect());
        return None;
    }
    // Any edit would have cleared the query, so this is the checked text.
    let written = editor.text();
    let arguments = parse_arguments(&written).ok()?;
    let is_drawn = drawn.as_ref() == Some(&written);
    read_before_run::submit_edited(ask, Decision::Edit { arguments }, is_drawn)
}
