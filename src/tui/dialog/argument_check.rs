//! Applies the result of the engine's schema check of edited arguments.

use crate::domain::tool::Decision;
use crate::domain::{QueryId, SchemaCheck};
use crate::protocol::UserAnswer;
use crate::tui::dialog::choices::ERROR_CHARS_MAX;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::read_before_run;
use crate::tui::dialog::state::{Dialog, DialogMode, EditTarget};
use crate::tui::layer::UiContext;

/// Submits the edited arguments if they are valid; otherwise shows the error in the editor.
pub fn apply_check(dialogs: &mut Dialogs, query: QueryId, check: &SchemaCheck, cx: &mut UiContext) {
    let Some(dialog) = dialogs.current_mut() else {
        return;
    };
    let was_editing = matches!(dialog.mode, DialogMode::EditArguments { .. });
    let answer = answer_from_check(dialog, query, check);
    let is_editing = matches!(dialog.mode, DialogMode::EditArguments { .. });
    if answer.is_none() && was_editing && !is_editing {
        // What follows, the edited call or the next one, has not been read yet.
        dialog.wait_for_quiet(cx.shared.now);
        dialog.is_drawn = false;
    }
    if let Some(answer) = answer {
        dialogs.answer(answer, cx);
    }
}

/// Returns the answer if the edited call was the last undecided one.
fn answer_from_check(
    dialog: &mut Dialog,
    query: QueryId,
    check: &SchemaCheck,
) -> Option<UserAnswer> {
    let DialogMode::EditArguments {
        editor,
        error,
        check: pending,
        target,
        drawn_text,
        ..
    } = &mut dialog.mode
    else {
        return None;
    };
    let pending = pending.take_if(|pending| pending.query == query)?;
    if let SchemaCheck::Invalid(reason) = check {
        *error = Some(reason.chars().take(ERROR_CHARS_MAX).collect());
        return None;
    }
    // Any edit would have cancelled the check, so this is the checked text. One value does not
    // show the others, so the call is read again before it runs.
    let is_drawn = *target == EditTarget::Arguments && *drawn_text == Some(editor.text());
    let arguments = pending.arguments;
    read_before_run::submit_edited(dialog, Decision::Edit { arguments }, is_drawn)
}
