//! Applies the result of the engine's schema check of edited arguments.

use crate::domain::{Arguments, QueryId, SchemaCheck};
use crate::tui::dialog::choices::ERROR_CHARS_MAX;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::state::{Dialog, DialogMode, DialogPage};
use crate::tui::layer::UiContext;

/// Returns to the question with the edited arguments if they are valid; otherwise shows the error
/// in the editor. The user reads the edited call and confirms it with the usual keys.
pub fn apply_check(dialogs: &mut Dialogs, query: QueryId, check: &SchemaCheck, cx: &mut UiContext) {
    let Some(dialog) = dialogs.current_mut() else {
        return;
    };
    let Some(arguments) = checked_arguments(dialog, query, check) else {
        return;
    };
    let call = dialog.call().map(|offered| offered.call);
    let call = call.and_then(|call| cx.shared.transcript.call(call));
    let edited = dialog.edited_arguments.get(dialog.call_index);
    let edited = edited.and_then(Option::as_ref);
    let original = call.map(|call| &call.arguments);
    dialog.mode = DialogMode::Choosing;
    if edited
        .or(original)
        .is_some_and(|now| is_same(now, &arguments))
    {
        // Nothing changed, so the rows that were read still count as read.
        dialog.show_page(DialogPage::Subject);
    } else if original.is_some_and(|original| is_same(original, &arguments)) {
        dialog.set_edit(None);
    } else {
        dialog.set_edit(Some(arguments));
    }
    dialog.wait_for_quiet(cx.shared.now);
    dialog.is_drawn = false;
}

/// The checked arguments if they are valid. They match the text in the editor, because any edit
/// cancels the check.
fn checked_arguments(
    dialog: &mut Dialog,
    query: QueryId,
    check: &SchemaCheck,
) -> Option<Arguments> {
    let DialogMode::EditArguments {
        error,
        check: pending,
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
    Some(pending.arguments)
}

/// Whether both have the same values in the same order. `==` ignores the order.
fn is_same(a: &Arguments, b: &Arguments) -> bool {
    a == b && serde_json::to_string(a).ok() == serde_json::to_string(b).ok()
}
