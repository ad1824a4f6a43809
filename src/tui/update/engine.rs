//! Applies engine events to the model.

use crate::domain::{KeySettings, Notice, ServerId, Session, SessionId};
use crate::protocol::{Event, ExportFailure, SavedSessionEvent};
use crate::text::grapheme::truncate_to_width;
use crate::tui::chat::state::Chat;
use crate::tui::elicitation::sampling_progress::SamplingProgress;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::Layer;
use crate::tui::msg::UiEffect;
use crate::tui::servers::commands as servers;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{
    attachments, branch_list, branches, find, messages, probe, queue, set_aside, submit, themes,
    turns, unsent,
};
use std::sync::Arc;

const TITLE_COLUMNS_MAX: usize = 50;

pub fn apply_event(model: &mut UiModel, event: Event, effects: &mut Vec<UiEffect>) {
    model.with_layer(|layer, cx| layer.handle_event(&event, cx));
    model.with_dialogs(|dialogs, cx| dialogs.handle_event(&event, cx));
    if let Event::PromptTemplatesListed(templates) = &event {
        let problems = model.template_problems.take_new(templates);
        model.notices.queue_all(problems);
    }
    let needed_first_model = model.needs_first_model();
    let Some(event) = model.engine.apply(event) else {
        // The event may have selected the first model; prompts sent earlier waited for one.
        if needed_first_model {
            submit::send_queued(model, effects);
        }
        return;
    };
    let Some(event) = attachments::handle_event(model, event, effects) else {
        return;
    };
    match event {
        Event::Turn(id, event) if turns::apply_event(model, id, &event, effects) => {
            submit::send_queued(model, effects);
        }
        Event::SessionOpened(session) => session_opened(model, &session, effects),
        Event::SessionNotOpened => {
            model.conversation.is_opening = false;
            queue::withdraw_prompts(model);
        }
        Event::SessionSaved(session) => session_saved(model, session),
        Event::SessionDeleted { title, .. } => session_deleted(model, &title),
        Event::SavedSession(event) => saved_session_event(model, event),
        // A later event confirms that the title is saved.
        Event::SessionRenamed(title) => model.conversation.set_title(title),
        Event::BranchesCounted(counts) => {
            model.chat.transcript.set_branch_counts(&counts);
        }
        Event::BranchesListed(list) => branch_list::show(model, list),
        Event::PrivateChanged(is_private) => set_aside::private_changed(model, is_private),
        Event::KeysChanged(keys) => keys_changed(model, keys),
        Event::ThemesChanged(themes) => themes::themes_changed(model, themes, effects),
        Event::ResumingTurn => resuming_turn(model),
        Event::PromptOffered { prompt, notice } => {
            unsent::prompt_offered(model, prompt, notice, effects);
        }
        Event::TurnResumed(prompt) => branches::resume(model, prompt, effects),
        Event::CatalogChanged(catalog) => {
            let before = std::mem::replace(&mut model.engine.catalog, catalog);
            let after = &model.engine.catalog;
            model.first_run.follow(&before, after, model.now);
        }
        Event::ProbeChanged(state) => probe::probe_changed(model, state, effects),
        Event::SamplingChanged(servers) => sampling_changed(model, servers),
        Event::ServersListed(_) | Event::ServerChanged(_) | Event::TrustChanged(_) => {
            servers_event(model, event);
        }
        Event::RecentCommandsLoaded(recent) => {
            let names = recent.names().map(str::to_owned);
            model.recent_commands.add_earlier(names);
        }
        Event::HistoryLoaded { prompts, draft } => unsent::history_loaded(model, &prompts, draft),
        Event::NoticePosted(notice) => model.notify(notice),
        Event::LowPriorityNoticePosted(notice) => model.notices.queue(notice),
        Event::InterruptAcknowledged => model.interrupt.sent_at = None,
        Event::ShutDown => effects.push(UiEffect::Quit),
        // Layers, dialogs and the engine state have already handled the rest.
        _ => {}
    }
}

fn session_saved(model: &mut UiModel, session: SessionId) {
    let stopped_prompt = model.chat.transcript.first_prompt_with_text();
    model.conversation.saved(session, stopped_prompt);
    if let Some(tour) = &mut model.tour {
        tour.has_saved = true;
    }
}

fn session_deleted(model: &mut UiModel, title: &str) {
    let message = format!("Deleted {}.", quoted_title(model, title));
    let undo_key = model
        .keymap
        .layer_key_name(KeyContext::Sessions, LayerKey::UndoDelete);
    let advice = match undo_key {
        Some(key) => format!("Press {key} in /sessions, or type /delete undo, to restore it."),
        None => "Type /delete undo to restore it.".to_owned(),
    };
    model.notify(Notice::info(message).with_advice(advice));
}

/// Makes prompts wait until the conversation of the resumed turn is open.
fn resuming_turn(model: &mut UiModel) {
    model.conversation.is_opening = true;
    model.composer.queue.pause();
}

/// Updates the progress of the answers that the model generates for servers.
fn sampling_changed(model: &mut UiModel, servers: Vec<ServerId>) {
    let was_sampling = model.sampling.is_some();
    model.sampling = SamplingProgress::update(model.sampling.take(), servers, model.now);
    if was_sampling && model.sampling.is_none() {
        // A Ctrl+C that comes just after the end was meant for the model and must not quit.
        model.chat.timing.ended_at = Some(model.now);
    }
}

fn servers_event(model: &mut UiModel, event: Event) {
    match event {
        Event::ServersListed(servers) => model.servers_pane.set_servers(servers),
        Event::ServerChanged(server) => {
            model.with_servers_pane(|pane, cx| servers::server_changed(pane, server, cx));
        }
        Event::TrustChanged(entries) => {
            servers::trust_changed(&mut model.servers_pane, &entries);
            model.engine.trust_entries = entries;
        }
        _ => {}
    }
}

fn quoted_title(model: &UiModel, title: &str) -> String {
    let start = truncate_to_width(title, TITLE_COLUMNS_MAX);
    let is_truncated = start.len() < title.len();
    let mark = if is_truncated {
        model.screen.glyphs.more
    } else {
        ""
    };
    format!("\"{start}{mark}\"")
}

fn saved_session_event(model: &mut UiModel, event: SavedSessionEvent) {
    let quoted = |title: &str| quoted_title(model, title);
    let notice = match event {
        SavedSessionEvent::Found { .. } | SavedSessionEvent::Indexed(_) => return,
        SavedSessionEvent::Forked { title } => {
            model.conversation.set_title(title);
            return;
        }
        SavedSessionEvent::Renamed { title, .. } => {
            Notice::info(format!("Renamed to {}.", quoted(&title)))
        }
        SavedSessionEvent::Copied {
            original_title,
            title,
            ..
        } => {
            let (original, copy) = (quoted(&original_title), quoted(&title));
            Notice::info(format!("Forked {original} as {copy}."))
        }
        SavedSessionEvent::Restored { title, .. } => {
            Notice::info(format!("Restored {}.", quoted(&title)))
        }
        SavedSessionEvent::Exported { title, result, .. } => match result {
            Ok(path) => {
                let path = path.display();
                Notice::info(format!("Exported {} to {path}", quoted(&title)))
            }
            Err(ExportFailure::Failed(notice)) => notice,
            // The form asks whether to replace the file.
            Err(ExportFailure::Exists(_)) => return,
        },
    };
    model.notify(notice);
}

fn session_opened(model: &mut UiModel, session: &Session, effects: &mut Vec<UiEffect>) {
    branches::cancel_edit(model);
    // Prompts sent while `--continue`, `--session` or a resumed turn was opening a conversation
    // belong to it.
    let has_waiting_prompts = model.conversation.is_opening;
    if !has_waiting_prompts {
        queue::withdraw_prompts(model);
    }
    model.chat = Chat::from_session(session, model.chat.shows_raw_text);
    model.conversation.open(session);
    model.interrupt.is_stopping = false;
    model.engine.trace = None;
    model.layer = None;
    unsent::continue_edit(model);
    messages::select_again(model);
    let found = model.conversation.find_when_opened.take();
    if let Some((_, text)) = found.filter(|(id, _)| session.id.as_ref() == Some(id)) {
        find::show_first(model, &text);
    }
    attachments::conversation_opened(model);
    if has_waiting_prompts {
        submit::send_queued(model, effects);
    }
    set_aside::end_private(model);
}

fn keys_changed(model: &mut UiModel, keys: Arc<KeySettings>) {
    if model.keymap.set_settings(keys) {
        let lost = model.keymap.take_lost_key_notice();
        model.notices.queue_about_lost_keys(lost);
    }
}
