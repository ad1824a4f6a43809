//! Ctrl+C and quitting.

use crate::domain::{Notice, UnsentText};
use crate::protocol::{Command, UserAnswer};
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, UiRequest};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{probe, unsent};
use std::time::Duration;

/// A Ctrl+C this soon after the end of a turn was probably meant to stop it, so it does not quit.
const TURN_END_GRACE: Duration = Duration::from_secs(1);

/// Stops the running turn, the probe, or the model's answer for a server. If nothing is running,
/// dismisses the question on the screen, closes the layer or pane over the chat, clears the message,
/// or quits: the first that applies. Quits at once if the engine has not acknowledged an earlier Ctrl+C
/// in time.
pub fn interrupt(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.interrupt.is_stuck(model.now) {
        return quit(model, effects);
    }
    let effects_before = effects.len();
    stop_or_quit(model, effects);
    let sends_interrupt =
        |effect: &UiEffect| matches!(effect, UiEffect::Send(command) if command.is_interrupt());
    let requests_interrupt =
        |request: &UiRequest| matches!(request, UiRequest::Send(command) if command.is_interrupt());
    if effects[effects_before..].iter().any(sends_interrupt)
        || model.requests.iter().any(requests_interrupt)
    {
        model.interrupt.sent_at.get_or_insert(model.now);
    }
}

fn stop_or_quit(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.running_turn().is_some() {
        model.interrupt.is_stopping = true;
        model.composer.queue.pause();
        // The help would hide that the turn stops.
        if model.is_layer_open(Action::HELP) {
            model.close_layer();
        }
        return effects.push(UiEffect::Send(Command::Interrupt));
    }
    if probe::stop_probe(model, effects) {
        return;
    }
    if model.sampling.is_some() {
        return effects.push(UiEffect::Send(Command::Interrupt));
    }
    // A question that belongs to no turn gets its safe answer, even before it accepts keys.
    if model.visible_dialog().is_some() {
        return model.with_dialogs(|dialogs, cx| dialogs.answer(UserAnswer::Dismissed, cx));
    }
    if model.with_layer(|layer, cx| layer.interrupt(cx)) != Handled::PassedOn {
        return;
    }
    if model.panes.over_chat.take().is_some() {
        model.panes.focus = Focus::Message;
        return;
    }
    if unsent::clear_message(model) {
        return;
    }
    let is_recent = |end: Duration| model.now.saturating_sub(end) < TURN_END_GRACE;
    if model.chat.timing.ended_at.is_some_and(is_recent) {
        model.chat.timing.ended_at = None;
        let again = model.keymap.hint(Action::Interrupt, "again to quit");
        return model.notify(Notice::info(again.unwrap_or_default()));
    }
    quit(model, effects);
}

/// Quits. Queued prompts and unsent text are saved as a draft.
pub fn quit(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if let Some(draft) = draft_to_save(model) {
        effects.push(UiEffect::Send(Command::SaveDraft(draft)));
    }
    effects.push(UiEffect::Quit);
}

/// The text that an exit saves as a draft, if any.
pub fn draft_to_save(model: &UiModel) -> Option<UnsentText> {
    let tour = model.tour.as_ref();
    let has_tour_prompt =
        tour.is_some_and(|tour| tour.has_untouched_prompt(&model.composer.editor));
    let is_private = model.conversation.is_private;
    let files = model.attachments.draft_files();
    let edit_of = unsent::edit_of(model);
    let composer = &model.composer;
    composer.draft_to_save(is_private, has_tour_prompt, files, edit_of)
}
