//! Mentions of files in the message. A mention and its attachment are removed together. The file of a
//! mention that was typed in full is attached when the message is sent.

use crate::domain::attachment::shown_path;
use crate::domain::{Notice, QueryId};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::attachments::mention::mentions_to_remove;
use crate::tui::attachments::state::AttachmentList;
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::Action;
use crate::tui::layer::UiRequest;
use crate::tui::msg::UiEffect;
use crate::tui::server_content::mention::{MentionedResource, mentioned_resources};
use crate::tui::ui_model::UiModel;
use crate::tui::update::{attachments, composer};

/// Remembers the path of the mention that is being typed.
pub fn char_typed(model: &mut UiModel) {
    if let Some(typed) = AttachmentList::typed_path(&model.composer)
        && !typed.is_argument
    {
        model
            .attachments
            .mention_check
            .record_typed_path(&typed.fragment);
    }
}

/// Looks for mentioned files that are not attached yet. Returns true if the message has to wait for
/// the answer.
pub fn look_for_files(model: &mut UiModel) -> bool {
    let editor = &model.composer.editor;
    let revision = editor.revision();
    if !can_mention(model) || model.attachments.mention_check.was_checked(revision) {
        return false;
    }
    if model.attachments.mention_check.is_looking(revision) {
        model.notify_about_key(Notice::info(
            "Still looking for the files that the message mentions.",
        ));
        return true;
    }
    let mentions = model.attachments.unattached_mentions(editor);
    let paths: Vec<String> = mentions.concat().into_iter().map(str::to_owned).collect();
    if paths.is_empty() {
        return false;
    }
    let query = model.with_context(|cx| cx.next_query_id());
    model.attachments.mention_check.begin(query, revision);
    let command = Command::FindMentioned(query, paths);
    model.requests.push_back(UiRequest::Send(command));
    true
}

/// Whether the message is a prompt of the user: commands and answers of the model mention nothing.
fn can_mention(model: &UiModel) -> bool {
    let composer = &model.composer;
    let edited = composer.edited().map(|edited| edited.target);
    let is_answer = matches!(edited, Some(MessageTarget::Answer(_)));
    let mut lines = composer.editor.lines_with_chips();
    let is_command = lines.next().is_some_and(|line| line.starts_with('/'));
    !is_answer && (!is_command || composer.queue.edited().is_some())
}

/// Attaches the files and resources that were found. If there are none and no typed path is
/// missing, sends the message at once; if the user typed all their paths, once they have been read.
/// Otherwise a notice says what was attached or is missing, and the user has to send the message
/// again.
pub fn handle_found(
    model: &mut UiModel,
    query: QueryId,
    (files, missing): (&[String], &[String]),
    effects: &mut Vec<UiEffect>,
) {
    let revision = model.composer.editor.revision();
    if !model.attachments.mention_check.finish(query, revision) {
        return;
    }
    let found = found_mentions(model, files);
    let missing = typed_missing(model, files, missing);
    if found.is_empty() && missing.is_none() {
        return composer::submit_message(model, effects);
    }
    let names: Vec<String> = found.iter().map(MentionTarget::path).collect();
    for mention in found {
        if model.attachments.is_full() {
            return attachments::notify_full(model);
        }
        match mention {
            MentionTarget::File(path) => attachments::attach_file(model, &path),
            MentionTarget::Resource(resource) => {
                attachments::attach_resource(model, resource.server, resource.uri);
            }
        }
    }
    if let Some(missing) = missing {
        let notice = Notice::warning(format!("There is no file {}.", missing.as_str()));
        let key = model.keymap.key_name(Action::Send);
        let advice = key.map(|key| format!("Press {key} again to send the message as it is."));
        let notice = notice.with_advice(advice.unwrap_or_default());
        return model.notices.show_about_message(notice, model.now);
    }
    if names
        .iter()
        .all(|name| model.attachments.mention_check.was_typed(name))
    {
        return model.attachments.mention_check.send_when_read(revision);
    }
    let name = match names.as_slice() {
        [name] => Clean::name(name).as_str().to_owned(),
        names => format!("{} files", names.len()),
    };
    let notice = Notice::info(format!("The message mentions {name}, now attached."));
    let send = model.keymap.hint(Action::Send, "sends it.");
    let notice = notice.with_advice(send.unwrap_or_default());
    model.notices.show_about_message(notice, model.now);
}

enum MentionTarget {
    File(String),
    Resource(MentionedResource),
}

impl MentionTarget {
    fn path(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Resource(resource) => shown_path(&resource.full_uri()).into_owned(),
        }
    }
}

fn found_mentions(model: &UiModel, files: &[String]) -> Vec<MentionTarget> {
    let mentions = model
        .attachments
        .unattached_mentions(&model.composer.editor);
    let servers = &model.servers_pane.servers;
    let find = |path: &str| {
        if files.iter().any(|file| file == path) {
            return Some(MentionTarget::File(path.to_owned()));
        }
        let mut resources = mentioned_resources(servers, path).into_iter();
        let resource = resources.find(|resource| shown_path(&resource.full_uri()) == path)?;
        Some(MentionTarget::Resource(resource))
    };
    let found = mentions
        .into_iter()
        .filter_map(|spellings| spellings.into_iter().find_map(&find));
    found.collect()
}

/// The first mention that the user typed and that looks like a file, but names none. Returns its
/// shortest spelling, which excludes punctuation or a particle after the path.
fn typed_missing(model: &UiModel, files: &[String], missing: &[String]) -> Option<Clean> {
    let mentions = model
        .attachments
        .unattached_mentions(&model.composer.editor);
    let names_file = |path: &&str| files.iter().any(|file| file == path);
    let mut unnamed = mentions
        .iter()
        .filter(|spellings| !spellings.iter().any(names_file))
        .filter_map(|spellings| spellings.last());
    let path = unnamed.find(|path| {
        model.attachments.mention_check.was_typed(path)
            && missing.iter().any(|other| other == *path)
    })?;
    Some(Clean::name(path))
}

/// Sends a message that waits for its files, if they have all been read.
pub fn send_if_read(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let revision = model.composer.editor.revision();
    let selected = model.engine.selected.as_ref();
    if model.attachments.mention_check.is_reading(revision)
        && model.attachments.is_checked(selected)
    {
        model.attachments.mention_check.cancel(revision);
        composer::submit_message(model, effects);
    }
}

/// Reports a file that could not be read. `unread` counts the files that the checked message could
/// not get: if Enter would send it without them, the notice says so.
pub fn report_unread(model: &mut UiModel, notice: Notice, unread: usize) {
    let consequence = match unread {
        0 => None,
        1 => Some("sends the message without it.".to_owned()),
        2 => Some("sends the message without it and another unread file.".to_owned()),
        _ => Some(format!(
            "sends the message without it and {} other unread files.",
            unread - 1
        )),
    };
    let advice = consequence.and_then(|consequence| model.keymap.hint(Action::Send, &consequence));
    let notice = notice.with_advice(advice.unwrap_or_default());
    model.notices.show_about_unread_file(notice, model.now);
}

/// Removes a path from the text, because its file is no longer attached.
pub fn remove_from_text(model: &mut UiModel, path: &str) {
    let editor = &mut model.composer.editor;
    let lines = editor.lines_with_chips();
    let removed: Vec<_> = lines
        .map(|line| mentions_to_remove(line, path))
        .enumerate()
        .collect();
    for (line, mentions) in removed {
        for bytes in mentions {
            editor.remove_in_line(line, bytes);
        }
    }
}
