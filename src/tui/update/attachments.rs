//! Attaches files and server resources to the message, and removes them. Files come from the
//! clipboard, or from paths that are typed, completed or dropped on the terminal.

use crate::domain::attachment::{
    ATTACHMENTS_MAX, AttachedResource, AttachmentSource, ReadAttachment, shown_path,
};
use crate::domain::{ImageSupport, Notice, QueryId, ServerId};
use crate::protocol::{Command, Event, ServerContentCommand};
use crate::text::Clean;
use crate::tui::attachments::dropped::dropped_paths;
use crate::tui::attachments::mention::TypedPath;
use crate::tui::attachments::search::FoundMention;
use crate::tui::attachments::state::{AttachmentList, ReadOutcome};
use crate::tui::composer::state::CompletionState;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::UiRequest;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::server_content::mention::{MentionedResource, mentioned_resources};
use crate::tui::ui_model::UiModel;
use crate::tui::update::{earlier_files, mentions, submit};
use crate::tui::widgets::editor::Edit;
use crossterm::event::KeyEvent;

pub fn attach_clipboard(model: &mut UiModel) {
    let query = start_reading(model, "clipboard", AttachmentSource::Clipboard);
    model.attachments.clipboard_query = query;
}

/// Attaches a server resource, which is read at once.
pub fn attach_resource(model: &mut UiModel, server: ServerId, uri: String) {
    let name = format!("{server}:{uri}");
    start_reading(model, &name, AttachmentSource::Resource { server, uri });
}

pub fn attach_file(model: &mut UiModel, path: &str) {
    start_reading(model, path, AttachmentSource::Path(path.to_owned()));
}

/// Returns the id of the query unless there are too many files.
fn start_reading(model: &mut UiModel, name: &str, source: AttachmentSource) -> Option<QueryId> {
    model.panes.focus = Focus::Message;
    if model.attachments.is_full() {
        notify_full(model);
        return None;
    }
    let query = model.with_context(|cx| cx.next_query_id());
    let resource = match &source {
        AttachmentSource::Resource { server, uri } => Some(AttachedResource {
            server: server.clone(),
            uri: uri.clone(),
        }),
        _ => None,
    };
    model.attachments.add(query, name, resource);
    let command = Command::Attach { query, source };
    model.requests.push_back(UiRequest::Send(command));
    Some(query)
}

pub fn notify_full(model: &mut UiModel) {
    let text = format!("At most {ATTACHMENTS_MAX} files can be attached.");
    model.notify(Notice::warning(text));
}

/// Attaches files whose paths were pasted, as when they are dropped on the terminal. Returns false
/// if the paste is text, or names more files than can still be attached.
pub fn drop_paths(model: &mut UiModel, paste: &str) -> bool {
    let Some(paths) = dropped_paths(paste) else {
        return false;
    };
    let room = ATTACHMENTS_MAX - model.attachments.files().len().min(ATTACHMENTS_MAX);
    if paths.len() > room {
        return false;
    }
    let queries = paths.into_iter().filter_map(|path| {
        let source = AttachmentSource::Dropped(path.clone());
        start_reading(model, &path, source)
    });
    let queries = queries.collect();
    model.attachments.add_drop(queries, paste);
    true
}

/// Removes the last attached file, or the one with this name or number, together with its mentions in
/// the text.
pub fn detach(model: &mut UiModel, wanted: &str) {
    let Some(removed) = model.attachments.remove(wanted) else {
        let notice = match wanted {
            "" => Notice::info("No file is attached."),
            _ => Notice::warning("No such file is attached."),
        };
        return model.notify(notice);
    };
    follow_resources(model);
    if removed.is_mentioned {
        mentions::remove_from_text(model, &removed.mentioned_path());
        model.attachments.keep_unmentioned(removed.clone());
    } else {
        let text = model.composer.editor.text();
        model.attachments.keep_removed(removed.clone(), &text);
    }
    let name = Clean::name(&removed.name);
    let undo = model
        .keymap
        .hint(Action::Edit(Edit::Undo), "brings it back.");
    let notice = Notice::info(format!("Removed {}.", name.as_str()));
    model.notify(notice.with_advice(undo.unwrap_or_default()));
}

/// Undoes the removal of a file. If the text has changed since, does so only with `is_last_step`: then
/// nothing else is left to undo. Returns false if no file was removed.
pub fn restore_removed(model: &mut UiModel, is_last_step: bool) -> bool {
    let text = model.composer.editor.text();
    let Some(name) = model.attachments.restore_removed(&text, is_last_step) else {
        return false;
    };
    follow_resources(model);
    let name = Clean::name(&name);
    model.notify(Notice::info(format!("Attached {} again.", name.as_str())));
    true
}

/// Handles file events. Returns any other event.
pub fn handle_event(
    model: &mut UiModel,
    event: Event,
    effects: &mut Vec<UiEffect>,
) -> Option<Event> {
    match event {
        Event::AttachmentRead { query, result } => {
            let queue = &mut model.composer.queue;
            if queue.handle_read(query, result.as_ref().ok()) {
                earlier_files::report_lost(model);
                submit::send_queued(model, effects);
            } else {
                handle_read(model, query, result);
                mentions::send_if_read(model, effects);
            }
        }
        Event::MentionedFound {
            query,
            files,
            missing,
        } => mentions::handle_found(model, query, (&files, &missing), effects),
        Event::FilesFound { query, found } => model.attachments.search.handle_found(query, found),
        Event::ImageSupportChecked {
            model: checked,
            support,
        } => {
            model.attachments.set_support(checked, support);
            mentions::send_if_read(model, effects);
        }
        Event::LeftTaskEnded { call, files } => {
            model.chat.transcript.end_left_call(&call);
            model.attachments.add_result(files);
        }
        other => return Some(other),
    }
    None
}

fn handle_read(model: &mut UiModel, query: QueryId, result: Result<ReadAttachment, Notice>) {
    let (read, problem) = match result {
        Ok(read) => (Some(read), None),
        Err(notice) => (None, Some(notice)),
    };
    let revision = model.composer.editor.revision();
    let sends = model.attachments.mention_check.is_reading(revision);
    let is_clipboard = model.attachments.clipboard_query == Some(query);
    let outcome = model.attachments.handle_read(query, read);
    if model.attachments.unread_name().is_none() {
        // A notice may still name a file that was being read.
        model.notices.clear_about_key();
    }
    match outcome {
        ReadOutcome::Attached => {}
        ReadOutcome::Duplicate(_) if sends => {}
        ReadOutcome::Duplicate(resource) => {
            // The attached contents are current again, so the resource is no longer marked as changed.
            let commands = resource.map(|resource| {
                [
                    ServerContentCommand::FollowResource(resource.clone()),
                    ServerContentCommand::UnfollowResource(resource),
                ]
            });
            for command in commands.into_iter().flatten() {
                request(model, command);
            }
            model.notify(Notice::info("This file is already attached."));
        }
        ReadOutcome::Text(paste) => {
            model.composer.continue_typing();
            model.composer.editor.insert(&paste);
        }
        ReadOutcome::Failed if is_clipboard && model.composer.edit(Edit::Yank) => {
            let text = "The clipboard holds no image. Inserted the text that was cut last.";
            model.notify(Notice::info(text));
        }
        ReadOutcome::Failed => {
            let unread = model.attachments.mention_check.record_unread(revision);
            if let Some(notice) = problem {
                mentions::report_unread(model, notice, unread);
            }
        }
        ReadOutcome::Lost => {
            model.attachments.mention_check.cancel(revision);
            earlier_files::report_lost(model);
        }
        ReadOutcome::Ignored => {}
    }
    follow_resources(model);
}

/// Restores the files of a cleared message if undo or the history brought its text back. Returns
/// false if nothing was restored.
pub fn restore_cleared(model: &mut UiModel) -> bool {
    model.attachments.has_cleared() && {
        let text = model.composer.editor.text();
        model.attachments.restore_cleared(&text)
    }
}

/// The commands that subscribe to changes of the resources in the message, and unsubscribe from all
/// others.
fn take_resource_commands(model: &mut UiModel) -> Vec<Command> {
    let (added, gone) = model.attachments.take_resource_changes();
    let added = added.into_iter().map(ServerContentCommand::FollowResource);
    let gone = gone.into_iter().map(ServerContentCommand::UnfollowResource);
    added.chain(gone).map(Command::ServerContent).collect()
}

fn follow_resources(model: &mut UiModel) {
    let commands = take_resource_commands(model).into_iter();
    model.requests.extend(commands.map(UiRequest::Send));
}

fn request(model: &mut UiModel, command: ServerContentCommand) {
    let command = Command::ServerContent(command);
    model.requests.push_back(UiRequest::Send(command));
}

/// Follows the resources of the message again, because leaving a conversation unsubscribes from them.
pub fn conversation_opened(model: &mut UiModel) {
    model.attachments.clear_followed();
    follow_resources(model);
}

/// Whether the message can be sent with its files. If not, shows a notice with the reason and leaves
/// the message unchanged.
pub fn can_send(model: &mut UiModel) -> bool {
    if model.attachments.is_empty() {
        return true;
    }
    let text = model.composer.editor.text();
    if text.starts_with('/') && model.composer.queue.edited().is_none() {
        return true;
    }
    let remove = model.keymap.key_name(Action::DETACH);
    let remove = remove.unwrap_or_else(|| "/detach".to_owned());
    let send = model.keymap.key_name(Action::Send).unwrap_or_default();
    let selected = model.engine.selected.as_ref();
    let takes_no_images = model.attachments.support_of(selected) == ImageSupport::No;
    let notice = if let Some(name) = model.attachments.unread_name() {
        let name = Clean::name(name);
        Notice::info(format!("{} is still being read.", name.as_str()))
    } else if takes_no_images && model.attachments.has_images() {
        let name = model.engine.model_name();
        Notice::warning(format!("{name} takes no images.")).with_advice(format!(
            "{remove} removes them, /set-model changes the model."
        ))
    } else if text.trim().is_empty() {
        Notice::info("Write a message to go with the files.")
    } else if let Some(name) = model.attachments.ask_about_secret() {
        let name = Clean::name(&name);
        Notice::warning(format!("{} may hold secrets.", name.as_str())).with_advice(format!(
            "Press {send} again to send it, or {remove} to remove it."
        ))
    } else {
        return true;
    };
    model.notify_about_key(notice);
    false
}

/// Makes the attached files match the mentions in the text, searches for the path being typed, and
/// asks whether the model takes images.
pub fn after_input(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    model.attachments.follow_mentions(&model.composer.editor);
    let commands = take_resource_commands(model);
    effects.extend(commands.into_iter().map(UiEffect::Send));
    match AttachmentList::typed_path(&model.composer) {
        None => model.attachments.search.clear(),
        Some(TypedPath {
            fragment,
            is_argument,
            ..
        }) if model.attachments.search.must_search(&fragment) => {
            let query = model.with_context(|cx| cx.next_query_id());
            let servers = &model.servers_pane.servers;
            let resources = match is_argument {
                true => Vec::new(),
                false => mentioned_resources(servers, &fragment),
            };
            let search = &mut model.attachments.search;
            search.record_request(query, &fragment, resources);
            effects.push(UiEffect::Send(Command::FindFiles { query, fragment }));
        }
        Some(_) => {}
    }
    if model.attachments.has_images() && model.attachments.asked_model != model.engine.selected {
        model.attachments.asked_model = model.engine.selected.clone();
        effects.push(UiEffect::Send(Command::CheckImageSupport));
    }
}

/// Handles a key while files and resources are listed. Returns whether the key was handled.
pub fn handle_completion_key(model: &mut UiModel, key: KeyEvent) -> bool {
    let typed = AttachmentList::typed_path(&model.composer);
    let list = model.attachments.completions(&model.composer);
    let (Some(typed), Some(list)) = (typed, list) else {
        return false;
    };
    let last = list.rows.len() - 1;
    let key = model.keymap.layer_key(key, &[KeyContext::Completions]);
    let is_choice = matches!(key, Some(LayerKey::Complete | LayerKey::Confirm));
    // Until the answer arrives, the list belongs to an earlier path, so nothing can be chosen.
    if is_choice && model.attachments.search.is_outdated(&typed.fragment) {
        return !typed.is_argument || key == Some(LayerKey::Complete);
    }
    match key {
        Some(LayerKey::Up) => {
            let above = list.selected.and_then(|row| row.checked_sub(1));
            model.composer.completion = CompletionState::Selected(above.unwrap_or(last));
        }
        Some(LayerKey::Down) => {
            let below = list.selected.map_or(0, |row| row + 1);
            let row = if below > last { 0 } else { below };
            model.composer.completion = CompletionState::Selected(row);
        }
        Some(LayerKey::Complete) => choose(model, &typed, list.selected.unwrap_or(0), false),
        Some(LayerKey::Confirm) => {
            let paste = &model.composer.paste_detector;
            let is_pasted = paste.should_hold_enter(model.now) || paste.is_pasting(model.now);
            match list.selected.filter(|_| !is_pasted) {
                Some(row) => choose(model, &typed, row, true),
                None => return false,
            }
        }
        Some(LayerKey::Back) => model.composer.completion = CompletionState::Closed,
        _ => return false,
    }
    true
}

fn choose_resource(model: &mut UiModel, typed: &TypedPath, resource: MentionedResource) {
    let completed = typed.completed(&shown_path(&resource.full_uri()), false);
    model
        .composer
        .complete_mention(typed.replaced_bytes, &completed);
    attach_resource(model, resource.server, resource.uri);
}

/// Completes the path. A file is attached, unless it is an argument that the user may still change.
fn choose(model: &mut UiModel, typed: &TypedPath, row: usize, is_confirmed: bool) {
    let file = match model.attachments.search.found(row) {
        Some(FoundMention::File(file)) => file.clone(),
        Some(FoundMention::Resource(resource)) => {
            let resource = resource.clone();
            return choose_resource(model, typed, resource);
        }
        None => return,
    };
    let shown = shown_path(&file.path);
    let completed = typed.completed(&shown, file.is_folder);
    model
        .composer
        .complete_mention(typed.replaced_bytes, &completed);
    if file.is_folder {
        return;
    }
    if !typed.is_argument {
        attach_file(model, &file.path);
    } else if is_confirmed || shown != file.path {
        // The user confirmed, or the escaped path in the message would not name the file.
        model.composer.editor.take();
        attach_file(model, &file.path);
    } else {
        model.composer.completion = CompletionState::Closed;
    }
}
