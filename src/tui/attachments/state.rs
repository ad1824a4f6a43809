//! The files attached to the message.

use crate::domain::attachment::{ATTACHMENTS_MAX, AttachedResource, ReadAttachment};
use crate::domain::{Attachment, ImageSupport, ModelRef, QueryId, UnsentFile};
use crate::text::token_estimate::{self, Vocabulary};
use crate::tui::attachments::cleared::ClearedFiles;
use crate::tui::attachments::file::AttachedFile;
use crate::tui::attachments::mention::{TypedPath, mentions, typed_path};
use crate::tui::attachments::mention_check::{MENTIONS_MAX, MentionCheck};
use crate::tui::attachments::removed::is_same_file;
use crate::tui::attachments::search::FileSearch;
use crate::tui::composer::completion::CompletionList;
use crate::tui::composer::state::Composer;
use crate::tui::widgets::editor::Editor;
use std::collections::HashSet;
use std::sync::Arc;

/// The tokens of longer texts are not estimated again, because that would delay a frame.
const ESTIMATED_BYTES_MAX: usize = 256 * 1024;

#[derive(Debug, Default)]
pub struct AttachmentList {
    pub(super) files: Vec<AttachedFile>,
    drops: Vec<DroppedPaths>,
    /// Files of the last run's message that can no longer be read.
    pub(super) lost: Vec<UnsentFile>,
    /// The resources of the message that the engine was asked to follow: it reports their changes.
    pub(super) followed: Vec<AttachedResource>,
    /// The files of the message before another prompt was loaded into it.
    pub(super) before_edit: Option<Vec<AttachedFile>>,
    /// Whether the model takes images, for the model that was asked about.
    support: Option<(ModelRef, ImageSupport)>,
    /// The model that the engine was asked about last.
    pub(in crate::tui) asked_model: Option<ModelRef>,
    pub search: FileSearch,
    pub mention_check: MentionCheck,
    /// The image that was requested from the clipboard last.
    pub(in crate::tui) clipboard_query: Option<QueryId>,
    /// Files that were removed with their mention, in case undo restores it.
    unmentioned: Vec<AttachedFile>,
    /// Files that were removed when the message was cleared.
    pub(super) cleared: ClearedFiles,
    /// The files without a mention that were removed, each with the digest of the message then.
    pub(super) removed_files: Vec<(AttachedFile, u64)>,
    /// The revision of the message and the number of files that were compared last.
    compared: (u64, usize),
}

/// Paths that were dropped together. If one of them cannot be read, the paste was text.
#[derive(Debug)]
struct DroppedPaths {
    queries: Vec<QueryId>,
    paste: String,
}

/// The outcome of reading a file.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    Attached,
    /// It was attached already, with the same contents. Holds the resource, unless it is a file.
    Duplicate(Option<AttachedResource>),
    /// The paste turned out to be text.
    Text(String),
    /// It was removed in the meantime.
    Ignored,
    /// The failure must be reported.
    Failed,
    /// It belongs to an earlier run and can no longer be read.
    Lost,
}

impl AttachmentList {
    pub fn files(&self) -> &[AttachedFile] {
        &self.files
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.files.len() >= ATTACHMENTS_MAX
    }

    pub fn has_images(&self) -> bool {
        let is_image =
            |file: &AttachedFile| matches!(&file.read, Some(read) if read.attachment.is_image());
        self.files.iter().any(is_image)
    }

    /// Adds a file that is being read.
    pub fn add(&mut self, query: QueryId, name: &str, resource: Option<AttachedResource>) {
        self.files.push(AttachedFile {
            query,
            name: name.to_owned(),
            resource,
            read: None,
            is_secret_confirmed: false,
            earlier_path: None,
            is_mentioned: false,
        });
    }

    /// Adds files that have been read already. Returns false, and adds none, if there are too many.
    pub fn add_read(&mut self, files: Vec<ReadAttachment>) -> bool {
        if self.files.len() + files.len() > ATTACHMENTS_MAX {
            return false;
        }
        self.files.extend(files.into_iter().map(already_read));
        true
    }

    /// Adds the result of a task that the user left running, even to a full message: it can not be read
    /// again. While another prompt is edited, adds it to the message from before.
    pub fn add_result(&mut self, files: Vec<ReadAttachment>) {
        let message = self.before_edit.as_mut().unwrap_or(&mut self.files);
        message.extend(files.into_iter().map(already_read));
    }

    /// Remembers the paste that named these files.
    pub fn add_drop(&mut self, queries: Vec<QueryId>, paste: &str) {
        self.drops.push(DroppedPaths {
            queries,
            paste: paste.to_owned(),
        });
    }

    /// Stores a file that was read. `read` is `None` if it could not be read.
    pub fn handle_read(&mut self, query: QueryId, read: Option<ReadAttachment>) -> ReadOutcome {
        let is_awaited = |file: &AttachedFile| file.query == query && file.read.is_none();
        let Some(index) = self.files.iter().position(is_awaited) else {
            return ReadOutcome::Ignored;
        };
        let Some(mut read) = read else {
            let file = self.files.remove(index);
            return match file.earlier_path {
                Some(_) => {
                    self.lost.push(file.to_unsent());
                    ReadOutcome::Lost
                }
                None => self.undo_drop(query),
            };
        };
        if self.files[index].earlier_path.is_some() {
            read.attachment = read.attachment.renamed(self.files[index].name.clone());
        }
        let is_same = |file: &AttachedFile| {
            let other = file.read.as_ref();
            other.is_some_and(|other| is_same_file(&other.attachment, &read.attachment))
        };
        if self.files.iter().any(is_same) {
            return ReadOutcome::Duplicate(self.files.remove(index).resource);
        }
        self.files[index].read = Some(read);
        ReadOutcome::Attached
    }

    /// Removes the files of a paste that turned out to be text, and returns that text. Fails if the
    /// file was not dropped.
    fn undo_drop(&mut self, query: QueryId) -> ReadOutcome {
        let is_drop = |drop: &DroppedPaths| drop.queries.contains(&query);
        let Some(index) = self.drops.iter().position(is_drop) else {
            return ReadOutcome::Failed;
        };
        let drop = self.drops.remove(index);
        self.files
            .retain(|file| !drop.queries.contains(&file.query));
        ReadOutcome::Text(drop.paste)
    }

    /// Removes the last file, or the one with this name or number. `None` if there is no such file.
    pub fn remove(&mut self, wanted: &str) -> Option<AttachedFile> {
        let number = wanted.parse::<usize>().ok();
        let by_number = number.and_then(|number| number.checked_sub(1));
        let index = match wanted {
            "" => self.files.len().checked_sub(1),
            name => by_number
                .filter(|index| *index < self.files.len())
                .or_else(|| self.files.iter().position(|file| file.name == name)),
        }?;
        Some(self.files.remove(index))
    }

    /// The name of a file that is still being read.
    pub fn unread_name(&self) -> Option<&str> {
        let unread = self.files.iter().find(|file| file.read.is_none());
        unread.map(|file| file.name.as_str())
    }

    /// The name of a file that may hold secrets, to ask the user about it. Returns each file only
    /// once.
    pub fn ask_about_secret(&mut self) -> Option<String> {
        let may_hold_secrets = |file: &&mut AttachedFile| {
            let read = file.read.as_ref();
            !file.is_secret_confirmed && read.is_some_and(|read| read.may_hold_secrets)
        };
        let file = self.files.iter_mut().find(may_hold_secrets)?;
        file.is_secret_confirmed = true;
        Some(file.name.clone())
    }

    /// Removes and returns the files, to send them.
    pub fn take_ready(&mut self) -> Vec<Arc<Attachment>> {
        self.drops.clear();
        self.lost.clear();
        self.cleared = ClearedFiles::default();
        self.unmentioned.clear();
        self.removed_files.clear();
        // The conversation continues to follow the resources.
        self.followed.clear();
        let files = self.files.drain(..);
        files
            .filter_map(|file| Some(file.read?.attachment))
            .collect()
    }

    /// Shows these files while another prompt is edited in the message.
    pub fn replace_for_edit(&mut self, attachments: Vec<Arc<Attachment>>) {
        let before = self.show(attachments);
        self.before_edit.get_or_insert(before);
    }

    /// Restores the files from before the edit.
    pub fn end_edit(&mut self) {
        if let Some(before) = self.before_edit.take() {
            self.files = before;
        }
    }

    /// Shows these files, such as those of a prompt from an earlier run. Returns the files shown
    /// before.
    pub fn show(&mut self, attachments: Vec<Arc<Attachment>>) -> Vec<AttachedFile> {
        let shown = attachments.into_iter().map(|attachment| {
            already_read(ReadAttachment {
                tokens: quick_estimate(&attachment),
                attachment,
                may_hold_secrets: false,
            })
        });
        std::mem::replace(&mut self.files, shown.collect())
    }

    /// Makes the files match the mentions in the text: a file is removed with its mention, and comes
    /// back if undo restores the mention.
    pub fn follow_mentions(&mut self, editor: &Editor) {
        let state = (editor.revision(), self.files.len());
        let has_files = !self.files.is_empty() || !self.unmentioned.is_empty();
        if std::mem::replace(&mut self.compared, state) == state || !has_files {
            return;
        }
        let mentions = editor.lines_with_chips().flat_map(mentions);
        let paths: HashSet<&str> = mentions.flat_map(|mention| mention.spellings()).collect();
        let is_named = |file: &AttachedFile| paths.contains(&*file.mentioned_path());
        for file in &mut self.files {
            file.is_mentioned |= is_named(file);
        }
        let removed = self
            .files
            .extract_if(.., |file| file.is_mentioned && !is_named(file));
        let removed: Vec<AttachedFile> = removed.collect();
        let room = ATTACHMENTS_MAX.saturating_sub(self.files.len());
        let restored = self.unmentioned.extract_if(.., |file| is_named(file));
        self.files.extend(restored.take(room));
        removed
            .into_iter()
            .for_each(|file| self.keep_unmentioned(file));
        self.compared.1 = self.files.len();
    }

    /// Keeps a file that was read, in case undo restores its mention.
    pub fn keep_unmentioned(&mut self, mut file: AttachedFile) {
        if file.read.is_none() {
            return;
        }
        file.is_secret_confirmed = false;
        self.unmentioned.push(file);
        if self.unmentioned.len() > ATTACHMENTS_MAX {
            self.unmentioned.remove(0);
        }
    }

    /// The mentions in the text that name no attached file, each with its spellings, at most
    /// [`MENTIONS_MAX`].
    pub fn unattached_mentions<'a>(&self, editor: &'a Editor) -> Vec<Vec<&'a str>> {
        let is_attached = |path: &&str| {
            let mut files = self.files.iter();
            files.any(|file| file.mentioned_path() == *path)
        };
        let mut unattached: Vec<Vec<&str>> = Vec::new();
        for mention in editor.lines_with_chips().flat_map(mentions) {
            let spellings: Vec<&str> = mention.spellings().collect();
            if !spellings.iter().any(is_attached) && !unattached.contains(&spellings) {
                unattached.push(spellings);
            }
            if unattached.len() == MENTIONS_MAX {
                break;
            }
        }
        unattached
    }

    /// Whether all files were read, and it is known whether `model` takes the images among them.
    pub fn is_checked(&self, model: Option<&ModelRef>) -> bool {
        let is_known = |model| matches!(&self.support, Some((checked, _)) if checked == model);
        let knows_support = !self.has_images() || model.is_none_or(is_known);
        self.unread_name().is_none() && knows_support
    }

    /// The path that is being typed.
    pub fn typed_path(composer: &Composer) -> Option<TypedPath> {
        let (before_cursor, is_first_line) = composer.editor.before_cursor();
        typed_path(before_cursor, is_first_line)
    }

    /// The list of files that match the path being typed.
    pub fn completions(&self, composer: &Composer) -> Option<CompletionList> {
        let typed = Self::typed_path(composer)?;
        self.search.completions(&typed, &composer.completion)
    }

    pub fn set_support(&mut self, model: ModelRef, support: ImageSupport) {
        self.support = Some((model, support));
    }

    /// Whether this model takes images, if that is known.
    pub fn support_of(&self, model: Option<&ModelRef>) -> ImageSupport {
        match &self.support {
            Some((checked, support)) if Some(checked) == model => *support,
            _ => ImageSupport::Unknown,
        }
    }
}

fn already_read(read: ReadAttachment) -> AttachedFile {
    AttachedFile {
        // No query has this id.
        query: QueryId(u64::MAX),
        name: read.attachment.name.clone(),
        resource: None,
        read: Some(read),
        is_secret_confirmed: true,
        earlier_path: None,
        is_mentioned: false,
    }
}

/// 0 for a long text.
fn quick_estimate(attachment: &Attachment) -> u64 {
    let text = attachment.text();
    match text.filter(|text| text.len() <= ESTIMATED_BYTES_MAX) {
        Some(text) => token_estimate::estimate(text, Vocabulary::default()),
        None => attachment.image_tokens(),
    }
}
