//! Applies an input, such as a key or an engine event, to the model and returns the effects. Performs
//! no I/O. One file per concern.

pub mod actions;
pub mod attachments;
pub mod branch_list;
pub mod branches;
pub mod calls;
pub mod composer;
pub mod dialog_keys;
pub mod earlier_files;
pub mod engine;
pub mod find;
pub mod interrupt;
pub mod keys;
pub mod line_selection;
pub mod mentions;
mod messages;
pub mod navigation;
pub mod notes;
pub mod probe;
pub mod queue;
pub mod requests;
pub mod select_message;
pub mod selection;
pub mod set_aside;
pub mod submit;
pub mod themes;
mod turns;
pub mod unsent;
mod wanted;

use crate::domain::{Notice, TurnEnd, TurnEvent, Usage};
use crate::protocol::{Command, LogLine};
use crate::tui::clipboard::{CopyMethod, CopyReport};
use crate::tui::demo_tour::progress;
use crate::tui::input::decode::KeyGroup;
pub use crate::tui::input::decode::group_keys;
use crate::tui::keymap::Action;
use crate::tui::layer::Handled;
use crate::tui::msg::{Msg, UiEffect, UiInput};
use crate::tui::ui_model::UiModel;
use crate::tui::update::composer::PasteKind;
use crate::tui::update::dialog_keys::OpenThings;
use crossterm::event::KeyEvent;

/// Applies one input and returns its effects.
pub fn update(model: &mut UiModel, msg: Msg) -> Vec<UiEffect> {
    model.now = msg.now;
    let mut effects = Vec::new();
    // A key may have been pressed before the dialog was drawn, so the key must not make the
    // dialog accept keys and then answer it.
    if !matches!(
        msg.input,
        UiInput::Key(_) | UiInput::Paste(_) | UiInput::Burst(_)
    ) && !model.is_dialog_covered()
    {
        model
            .dialogs
            .accept_keys_if_quiet(model.input.last_key, model.now);
    }
    apply_elapsed_time(model, &mut effects);
    requests::run_requests(model, &mut effects);
    let was_covered = model.is_dialog_covered();
    let before = (
        model.layer.is_some(),
        model.dialogs.current().map(|dialog| dialog.id),
    );
    apply_input_around_held_letter(model, msg.input, &mut effects);
    requests::run_requests(model, &mut effects);
    themes::preview(model);
    find::advance(model);
    let after = (
        model.layer.is_some(),
        model.dialogs.current().map(|dialog| dialog.id),
    );
    // A newly opened layer or dialog has its own hints, which a notice must not hide.
    if after.0 && !before.0 || after.1.is_some() && after.1 != before.1 {
        model.notices.clear();
    }
    if after.1 != before.1 {
        model.notices.clear_about_key();
    }
    if !model.is_busy() {
        model.notices.clear_about_activity();
    }
    if was_covered && !model.is_dialog_covered() {
        // The key that closed the layer must not be followed by one that answers.
        model.dialogs.wait_for_quiet(model.now);
    }
    if !after.0 && after.1.is_none() {
        model.notices.show_next(model.now);
    }
    let waits_for_user = model.running_turn().is_some() && model.dialogs.current().is_some();
    model.chat.timing.set_paused(waits_for_user, model.now);
    for problem in model.keymap.take_problems() {
        let (level, text) = (tracing::Level::WARN, problem);
        model.engine.push_log_line(LogLine { level, text });
    }
    progress::update_progress(model);
    let requests_private = effects.contains(&UiEffect::Send(Command::SetPrivate(true)));
    let is_private = model.conversation.is_private;
    if model.composer.track_draft(is_private, requests_private) {
        effects.push(UiEffect::Send(set_aside::save_remaining(model)));
    }
    if !model.composer.has_unsent_text() {
        model.attachments.clear_lost();
    }
    let file_count = model.attachments.files().len();
    model.composer.schedule_draft(file_count, model.now);
    save_draft(model, &mut effects);
    attachments::after_input(model, &mut effects);
    notes::after_input(model, &mut effects);
    effects
}

/// Saves the draft after a change of the queue, and shortly after a change of the message.
fn save_draft(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let is_due = model.composer.take_due_draft(model.now);
    if !model.composer.must_save_queue() && !is_due {
        return;
    }
    if let Some(draft) = interrupt::draft_to_save(model) {
        model.composer.draft_saved();
        effects.push(UiEffect::Send(Command::SaveDraft(draft)));
    }
}

/// Applies an input and presses a held letter that is due. The letter precedes a key, which came
/// later, but not an engine event, which may close the question.
fn apply_input_around_held_letter(
    model: &mut UiModel,
    input: UiInput,
    effects: &mut Vec<UiEffect>,
) {
    let was_running = model.running_turn().is_some();
    let (asked, late_keys) = match &input {
        UiInput::Engine(event) => (
            model.dialogs.current().map(|dialog| dialog.id),
            dialog_keys::keys_before_event(model, event),
        ),
        _ => {
            dialog_keys::press_held_letter(model, effects);
            (None, None)
        }
    };
    apply_input(model, input, effects);
    dialog_keys::press_held_letter(model, effects);
    if was_running && model.running_turn().is_none() {
        model.dialogs.set_aside_server_questions(model.now);
    }
    let asks_same = model.dialogs.current().map(|dialog| dialog.id) == asked;
    if let Some(late_keys) = late_keys.filter(|_| !asks_same) {
        model.input.spent_keys.closed_by_itself(late_keys);
    }
}

fn apply_input(model: &mut UiModel, input: UiInput, effects: &mut Vec<UiEffect>) {
    match input {
        UiInput::Key(key) => handle_key(model, key, effects),
        UiInput::Burst(_) if keys::discards_text(model) => keys::record_key_press(model),
        UiInput::Burst(text) => {
            prepare_for_text(model);
            composer::insert_burst(model, &text);
        }
        UiInput::Paste(text) => {
            prepare_for_text(model);
            composer::paste(model, &text, PasteKind::Bracketed);
        }
        UiInput::Mouse(mouse) => navigation::handle_mouse(model, mouse),
        UiInput::Resize { width, height } => {
            model.screen.size = (width, height);
            navigation::refocus(model);
        }
        UiInput::Focus(has_focus) => {
            model.screen.has_focus = has_focus;
            if has_focus {
                themes::follow_background(model, effects);
            }
        }
        UiInput::Background(background) => model.screen.set_background(background),
        UiInput::Engine(event) => engine::apply_event(model, *event, effects),
        UiInput::Tick => {}
        UiInput::EditorClosed(Ok(text)) => {
            // Most editors end the file with a line break that is not part of the text.
            let text = text.strip_suffix('\n').unwrap_or(&text);
            if !model.dialogs.end_external_edit(Some(text)) {
                composer::replace_text(model, text.trim_end_matches('\n'));
            }
        }
        UiInput::EditorClosed(Err(problem)) => {
            model.dialogs.end_external_edit(None);
            model.notify(Notice::failure(problem));
        }
        UiInput::Copied(report) => copied(model, &report),
        UiInput::CommandRejected(command) => command_rejected(model, *command),
    }
}

/// Groups keys that were read together into inputs, so that bursts can be distinguished from typing.
pub fn inputs_from_keys(model: &UiModel, keys: &[KeyEvent]) -> Vec<UiInput> {
    let input_of = |group| match group {
        KeyGroup::Key(key) => UiInput::Key(key),
        KeyGroup::Burst(text) => UiInput::Burst(text),
    };
    let is_asking = model.dialog_has_keys() && !dialog_keys::is_field_open(model);
    group_keys(keys, is_asking)
        .into_iter()
        .map(input_of)
        .collect()
}

/// Applies everything that depends on elapsed time.
fn apply_elapsed_time(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let now = model.now;
    model.notices.expire(now);
    selection::scroll_while_dragging(model);
    if model
        .composer
        .paste_detector
        .enter_due_at()
        .is_some_and(|due| now >= due)
    {
        model.composer.paste_detector.take_held_enter();
        composer::submit_message(model, effects);
    }
    if model.interrupt.is_stuck(now) && model.notices.current().is_none() {
        let notice = Notice::warning("The engine is not responding.");
        let quit = model.keymap.hint(Action::Interrupt, "again to quit.");
        model.notify(notice.with_advice(quit.unwrap_or_default()));
    }
    model.with_layer(|layer, cx| {
        layer.tick(cx);
        Handled::Consumed
    });
    keys::choose_typed_digit(model);
}

/// Ends what concerns single keys, before text that has arrived at once becomes part of the message.
fn prepare_for_text(model: &mut UiModel) {
    dialog_keys::resolve_held_letter_before_paste(model);
    model.input.spent_keys.text_arrived();
    keys::record_key_press(model);
    selection::clear_selection(model);
}

/// Handles one key, then carries out the resulting requests before the next key.
fn handle_key(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    let open = OpenThings::of(model);
    keys::handle_key(model, key, effects);
    requests::run_requests(model, effects);
    open.note_closed(model, key);
}

/// Reverts the effects of a command that the engine's full queue rejected.
fn command_rejected(model: &mut UiModel, command: Command) {
    let notice = Notice::failure("The engine is busy and did not accept the command.")
        .with_advice("Try again in a moment.");
    model.composer.command_rejected(&command);
    if command == Command::SetPrivate(true) {
        set_aside::end_private(model);
        model.composer.save_draft_at_once();
    }
    if let Command::Submit { turn, .. } = command {
        let end = TurnEnd::Failed {
            notice: notice.clone(),
        };
        let event = TurnEvent::Ended {
            end,
            usage: Usage::default(),
        };
        model.chat.transcript.apply(turn, &event);
        model.chat.rebuild_indices();
    }
    model.notify(notice);
}

/// The setting that tmux needs is explained once per run.
fn copied(model: &mut UiModel, report: &CopyReport) {
    let explains_tmux = !model.input.has_explained_tmux;
    model.input.has_explained_tmux |=
        matches!(report.method, CopyMethod::Terminal { is_tmux: true });
    model.notify(report.notice(explains_tmux));
}

#[cfg(test)]
mod tests;
