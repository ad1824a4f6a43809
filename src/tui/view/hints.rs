//! The hint line: a notice, or the keys that are useful now.

use crate::domain::Severity;
use crate::front_end::advice;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::Layer;
use crate::tui::layout::{SIDEBAR_SCREEN_COLUMNS_MIN, ScreenLayout};
use crate::tui::models::view::pull_progress;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::line_selection;
use crate::tui::view::notice_area::{MARK_COLUMNS, fits_hint_line, stop_hint};
use crate::tui::view::pane_hints::{pane_hints, selected_stop_hints};
use crate::tui::widgets::editor::{Edit, Motion};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Minimum screen width for the long form of the hint on how to return to the first-run choice.
const LONG_FIRST_RUN_HINT_COLUMNS_MIN: u16 = 64;

/// On screens narrower than this, the help is named before other keys of the message.
const HELP_FIRST_BELOW_COLUMNS: u16 = 50;

pub fn draw(model: &UiModel, layout: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = layout.hints else { return };
    let x = area.x + 1.min(area.width);
    let columns = area.width.saturating_sub(2);
    if let Some(notice) = model.notices.current() {
        let sentence = advice::notice_line(notice);
        // If a dialog fills a small screen, only this row can show why a key did nothing.
        let is_only_row =
            (layout.dialog).is_some_and(|dialog| dialog.union(layout.notice_area) == dialog);
        let must_show = is_only_row && model.notices.is_about_key();
        if must_show || fits_hint_line(&sentence, model, area.width) {
            return draw_notice(
                model,
                notice.severity,
                &Clean::single_line(&sentence),
                area,
                pen,
            );
        }
    }
    let (mut contextual, mut always) = hints(model);
    if layout.rule.is_some() && layer_hints(model).is_some() {
        contextual.clear();
    }
    if let Some(pull) = &model.engine.pull
        && !model.is_layer_open(Action::MODELS)
    {
        let progress = pull_progress(pull, pen, area.width >= 120);
        always = vec![Clean::single_line(&progress).as_str().to_owned()];
    }
    if model.engine.pull.is_none() {
        make_room_for_help(
            model,
            &mut contextual,
            &mut always,
            usize::from(columns),
            pen,
        );
    }
    let separator = format!(" {} ", pen.glyphs.dot);
    let right = always.join(&separator);
    // Reserve columns for a running pull. Without one, the hints on the left come first.
    let reserved = match &model.engine.pull {
        Some(_) => width(&right) + 3,
        None => 0,
    };
    let left = fitting_hints(
        contextual,
        usize::from(columns).saturating_sub(reserved),
        pen,
    );
    let used = pen.put_truncated(x, area.y, &left, pen.theme.dim, columns);
    if usize::from(used) + 3 + width(&right) <= usize::from(columns) {
        pen.put_right(
            area.right().saturating_sub(1),
            area.y,
            &right,
            pen.theme.dim,
        );
    }
}

/// Drops the hints for the panes where they would displace the one for the help, and then the one for
/// the commands.
fn make_room_for_help(
    model: &UiModel,
    contextual: &mut Vec<String>,
    always: &mut Vec<String>,
    columns: usize,
    pen: &Painter,
) {
    if always.is_empty() || model.screen.size.0 < HELP_FIRST_BELOW_COLUMNS {
        return;
    }
    let between = width(pen.glyphs.dot) + 2;
    let is_too_wide = |contextual: &[String], always: &[String]| {
        let hints = contextual.iter().chain(always);
        hints.map(|hint| width(hint) + between).sum::<usize>() > columns + between
    };
    let panes = [
        model.keymap.hint(Action::SIDEBAR, "servers"),
        model.keymap.hint(Action::NextPane, "chat"),
    ];
    for pane in panes.into_iter().flatten() {
        if is_too_wide(contextual, always) {
            contextual.retain(|hint| *hint != pane);
        }
    }
    if always.len() > 1 && is_too_wide(contextual, always) {
        always.remove(0);
    }
}

/// Draws a notice on the left. On the right, draws the hint that no notice may hide, or else
/// hints that fit: those of the focused pane, or those that always apply.
fn draw_notice(model: &UiModel, severity: Severity, text: &Clean, area: Rect, pen: &mut Painter) {
    let columns = width(text.as_str()) as u16;
    let plain = pen.theme.plain;
    // Only a notice that must be shown here is wider.
    if columns + MARK_COLUMNS > area.width {
        pen.put_truncated(area.x, area.y, text.as_str(), plain, area.width);
        return;
    }
    let (mark, style) = match severity {
        Severity::Failure => (pen.glyphs.failed, pen.theme.failure),
        Severity::Warning => ("!", pen.theme.attention),
        Severity::Info => (pen.glyphs.dot, pen.theme.accent),
    };
    pen.put(area.x + 1, area.y, mark, style, 1);
    pen.put(area.x + 3, area.y, text.as_str(), plain, columns);
    let separator = format!(" {} ", pen.glyphs.dot);
    let room = usize::from(area.width.saturating_sub(columns + 7));
    let right = stop_hint(model).unwrap_or_else(|| match hints(model) {
        (contextual, always) if always.is_empty() => fitting_hints(contextual, room, pen),
        (_, always) => always.join(&separator),
    });
    if width(&right) <= room {
        pen.put_right(area.right() - 1, area.y, &right, pen.theme.dim);
    }
}

/// The least important hint is last and is dropped first.
fn fitting_hints(mut hints: Vec<String>, columns: usize, pen: &Painter) -> String {
    let between = format!(" {} ", pen.glyphs.dot);
    while hints.len() > 1 && width(&hints.join(&between)) > columns {
        hints.pop();
    }
    hints.join(&between)
}

/// The keys of the open layer or completion list, which the rule below it names.
pub fn layer_keys(model: &UiModel, columns: usize, pen: &Painter) -> Option<String> {
    let mut hints = layer_hints(model)?;
    // The hint that closes the layer is last. It is dropped only if two hints do not fit.
    let between = width(pen.glyphs.dot) + 2;
    let is_too_wide = |hints: &[String]| {
        let words: usize = hints.iter().map(|hint| width(hint) + between).sum();
        words > columns + between
    };
    while hints.len() > 2 && is_too_wide(&hints) {
        hints.remove(hints.len() - 2);
    }
    Some(fitting_hints(hints, columns, pen))
}

fn layer_hints(model: &UiModel) -> Option<Vec<String>> {
    if model.visible_dialog().is_some() {
        return None;
    }
    match &model.layer {
        Some(layer) => Some(layer.hints(model.shared())),
        None => model
            .completions()
            .map(|list| completion_hints(list.confirm_hint, &model.keymap)),
    }
}

/// The contextual hints, most important first, and the hints that always apply.
fn hints(model: &UiModel) -> (Vec<String>, Vec<String>) {
    let hint = |action, word: &str| model.keymap.hint(action, word);
    if let Some(dialog) = model.visible_dialog() {
        let effect = match model.running_turn() {
            Some(_) => "stop the turn",
            None => "dismiss",
        };
        let stop = dialog.accepts_keys.then(|| hint(Action::Interrupt, effect));
        let stop = stop.flatten();
        return (model.dialogs.hints(model.shared()), Vec::from_iter(stop));
    }
    if let Some(hints) = layer_hints(model) {
        return (hints, Vec::new());
    }
    if let Some(find) = &model.chat.find
        && (find.is_typing
            || model.panes.focus == Focus::Chat && !line_selection::is_extending(model))
    {
        return (find_hints(model, find.is_typing), Vec::new());
    }
    if model.panes.focus != Focus::Message {
        return (pane_hints(model), Vec::new());
    }
    let always = [
        hint(Action::Commands, "commands"),
        hint(Action::HELP, "help"),
    ];
    (message_hints(model), always.into_iter().flatten().collect())
}

fn completion_hints(confirm_hint: &str, keymap: &Keymap) -> Vec<String> {
    let hint = |key, word| keymap.layer_hint(KeyContext::Completions, key, word);
    hint_list([
        hint(LayerKey::Complete, "complete"),
        hint(LayerKey::Confirm, confirm_hint),
        hint(LayerKey::Back, "close"),
    ])
}

fn find_hints(model: &UiModel, is_typing: bool) -> Vec<String> {
    let keymap = &model.keymap;
    if !is_typing {
        let matches = [Action::NextMatch, Action::PreviousMatch];
        let mut hints = vec![
            keymap.pair_hint(matches, "next, previous"),
            keymap.hint(Action::Back, "stay here"),
        ];
        // The match is selected, so the keys for its message or block work too.
        hints.extend(selected_stop_hints(model));
        hints.push(keymap.hint(Action::FIND, "change the text"));
        return hints.into_iter().flatten().collect();
    }
    let hint = |key, word: &str| keymap.layer_hint(KeyContext::Find, key, word);
    let matches = [Action::NextMatch, Action::PreviousMatch].map(|action| keymap.key_name(action));
    let next = match matches {
        [Some(next), Some(previous)] => format!("next (then {next} and {previous})"),
        _ => "next".to_owned(),
    };
    hint_list([
        hint(LayerKey::Confirm, &next),
        hint(LayerKey::Switch, "stay here"),
        hint(LayerKey::Back, "back"),
        hint(LayerKey::Up, "previous"),
    ])
}

fn queue_hints(model: &UiModel) -> Option<Vec<String>> {
    let keymap = &model.keymap;
    let hint = |key, word| keymap.layer_hint(KeyContext::Queue, key, word);
    let pair = |keys, word| keymap.layer_pair_hint(KeyContext::Queue, keys, word);
    let queue = &model.composer.queue;
    if queue.selected().is_some() {
        return Some(hint_list([
            hint(LayerKey::Confirm, "edit"),
            hint(LayerKey::Delete, "delete"),
            pair([LayerKey::MoveUp, LayerKey::MoveDown], "move"),
            hint(LayerKey::Back, "message"),
            pair([LayerKey::Up, LayerKey::Down], "select"),
        ]));
    }
    queue.edited().map(|_| {
        hint_list([
            hint(LayerKey::Confirm, "back to the queue"),
            hint(LayerKey::Back, "discard edit"),
        ])
    })
}

fn message_hints(model: &UiModel) -> Vec<String> {
    let hint = |action, word: &str| model.keymap.hint(action, word);
    if model.first_run_takes_keys() {
        return first_run_hints(model);
    }
    if model.interrupt.is_stopping && model.running_turn().is_some() {
        return vec!["Stopping".to_owned()];
    }
    if let Some(hints) = queue_hints(model) {
        return hints;
    }
    let is_calling = model.chat.running_calls().next().is_some();
    if model.composer.editor.has_selection() {
        let hints = [
            hint(Action::Edit(Edit::Copy), "copy"),
            hint(Action::Edit(Edit::Cut), "cut"),
            hint(Action::Edit(Edit::Backspace), "delete"),
        ];
        return hints.into_iter().flatten().collect();
    }
    let mut hints = Vec::new();
    if model.running_turn().is_some() || model.active_probe().is_some() {
        hints.push(hint(Action::Interrupt, "stop"));
        hints.push(hint(Action::Send, "queue"));
        if !model.composer.queue.is_empty() && model.composer.editor.is_blank() {
            let up = Action::Edit(Edit::Move(Motion::Up));
            hints.push(hint(up, "queued prompts"));
        }
        hints.push(running_call_hint(model));
    } else if let Some(edited) = model.composer.edited() {
        hints.push(hint(
            Action::Send,
            match edited.target {
                MessageTarget::Answer(_) => "keep the edit (nothing is sent)",
                MessageTarget::LastPrompt | MessageTarget::Prompt(_) => "send the edit",
            },
        ));
        hints.push(hint(Action::Back, "discard edit"));
    } else if model.composer.queue.is_paused && model.composer.editor.is_blank() {
        hints.push(hint(Action::Send, "resume the queue"));
    } else {
        hints.extend(resting_hints(model));
    }
    let (editor, fold) = (&model.composer.editor, Action::Edit(Edit::Unfold));
    if editor.is_in_unfolded_paste() {
        hints.insert(1, hint(fold, "fold the paste"));
    } else if editor.has_chip() {
        hints.insert(1, hint(fold, "unfold the paste"));
    }
    if !model.attachments.is_empty() {
        hints.push(hint(Action::DETACH, "remove file"));
    }
    // On narrow screens a fourth hint would displace those for commands and help.
    if model.screen.size.0 < SIDEBAR_SCREEN_COLUMNS_MIN
        && !is_calling
        && hints.iter().flatten().count() < 3
    {
        hints.push(hint(Action::SIDEBAR, "servers"));
    }
    hints.into_iter().flatten().collect()
}

/// Hints for the message while no turn or probe runs and nothing is edited.
fn resting_hints(model: &UiModel) -> Vec<Option<String>> {
    let hint = |action, word: &str| model.keymap.hint(action, word);
    let mut hints = Vec::new();
    if model.sampling.is_some() {
        hints.push(hint(Action::Interrupt, "stop"));
    }
    hints.push(hint(Action::Send, "send"));
    // The conversation was opened at a match.
    if model.chat.find.is_some() {
        hints.push(hint(Action::NextPane, "other matches"));
        hints.push(hint(Action::Back, "stay here"));
        return hints;
    }
    let asks_again = model.chat.transcript.was_last_turn_cancelled()
        && !model.conversation.is_last_answer_truncated
        && model.composer.editor.is_blank();
    if asks_again {
        hints.push(hint(Action::RETRY, "ask again"));
    }
    if model.screen.size.0 < HELP_FIRST_BELOW_COLUMNS {
        hints.push(hint(Action::HELP, "help"));
    }
    if model.conversation.is_last_answer_truncated {
        hints.push(hint(Action::CONTINUE, "continue the answer"));
    }
    // "ask again" takes the place of "newline": narrow screens have no room for both.
    if !asks_again {
        hints.push(hint(Action::Edit(Edit::Newline), "newline"));
    }
    if !model.chat.transcript.entries().is_empty() {
        hints.push(hint(Action::NextPane, "chat"));
    }
    hints
}

/// The hint about the running calls: a task can also be left.
fn running_call_hint(model: &UiModel) -> Option<String> {
    let mut calls = model.chat.running_calls().peekable();
    calls.peek()?;
    match calls.any(|call| call.task.is_some()) {
        true => model.keymap.hint(Action::LEAVE, "leave the task"),
        false => Some("/cancel one call".to_owned()),
    }
}

fn first_run_hints(model: &UiModel) -> Vec<String> {
    let later = match model.screen.size.0 {
        LONG_FIRST_RUN_HINT_COLUMNS_MIN.. => "later (/models brings this back)",
        _ => "later (/models)",
    };
    let keymap = &model.keymap;
    let hint = |key, word| keymap.layer_hint(KeyContext::FirstRun, key, word);
    let rows = [LayerKey::Up, LayerKey::Down];
    let rows = keymap.layer_pair_hint(KeyContext::FirstRun, rows, "");
    hint_list([
        hint(LayerKey::Confirm, "choose"),
        rows.map(|rows| rows.trim_end().to_owned()),
        hint(LayerKey::Back, later),
    ])
}
