//! Prompts that wait, usually for the running turn. The user can select, edit, move and delete them.

use crate::domain::attachment::ReadAttachment;
use crate::domain::{Attachment, QueryId, UnsentFile};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPrompt {
    pub text: String,
    pub attachments: Vec<Arc<Attachment>>,
    /// Files of a prompt from an earlier run that have not been attached again yet, or could not be.
    pub missing: Vec<UnrestoredFile>,
    /// It was queued in an earlier run, so it belongs to no private conversation of this one.
    pub is_from_earlier_run: bool,
}

/// A file that was attached to a queued prompt in an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrestoredFile {
    /// Set while the file is being read.
    pub query: Option<QueryId>,
    pub file: UnsentFile,
}

impl QueuedPrompt {
    pub fn new(text: String) -> Self {
        Self {
            text,
            attachments: Vec::new(),
            missing: Vec::new(),
            is_from_earlier_run: false,
        }
    }

    /// All of its files, as a draft stores them.
    pub fn files(&self) -> Vec<UnsentFile> {
        let attached = self
            .attachments
            .iter()
            .map(|file| UnsentFile::from(&**file));
        let missing = self.missing.iter().map(|missing| missing.file.clone());
        attached.chain(missing).collect()
    }

    /// The files that could not be attached again.
    pub fn lost_files(&self) -> impl Iterator<Item = &UnsentFile> {
        let missing = self.missing.iter();
        let lost = missing.filter(|missing| missing.query.is_none());
        lost.map(|missing| &missing.file)
    }

    fn is_reading(&self) -> bool {
        self.missing.iter().any(|missing| missing.query.is_some())
    }
}

#[derive(Debug, Default)]
pub struct PromptQueue {
    prompts: VecDeque<QueuedPrompt>,
    pub is_paused: bool,
    selected: Option<usize>,
    /// The prompt that is being edited in the message. It keeps its place and its text until the
    /// edit ends.
    edited: Option<usize>,
    /// Increases with each change of the prompts.
    revision: u64,
}

impl PromptQueue {
    pub fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }

    pub fn prompts(&self) -> impl ExactSizeIterator<Item = &QueuedPrompt> {
        self.prompts.iter()
    }

    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    pub fn edited(&self) -> Option<usize> {
        self.edited
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn push(&mut self, prompt: QueuedPrompt) {
        self.prompts.push_back(prompt);
        self.revision += 1;
    }

    /// Stops sending queued prompts until the user resumes.
    pub fn pause(&mut self) {
        self.is_paused |= !self.prompts.is_empty();
    }

    /// Removes the first prompt to send it; `None` while the queue is paused, or that prompt is
    /// being edited or waits for its files.
    pub fn take_next(&mut self) -> Option<QueuedPrompt> {
        let is_reading = self.prompts.front().is_some_and(QueuedPrompt::is_reading);
        if self.is_paused || self.edited == Some(0) || is_reading {
            return None;
        }
        self.remove(0)
    }

    /// Attaches a file of an earlier run to the prompt that waits for it. `read` is `None` if the
    /// file could not be read. Returns false if no prompt waits for it.
    pub fn handle_read(&mut self, query: QueryId, read: Option<&ReadAttachment>) -> bool {
        for prompt in &mut self.prompts {
            let is_awaited = |missing: &UnrestoredFile| missing.query == Some(query);
            let Some(index) = prompt.missing.iter().position(is_awaited) else {
                continue;
            };
            match read {
                Some(read) => {
                    let name = prompt.missing.remove(index).file.name;
                    prompt.attachments.push(read.attachment.renamed(name));
                }
                None => prompt.missing[index].query = None,
            }
            self.revision += 1;
            return true;
        }
        false
    }

    /// Whether a file of an earlier run is still being read.
    pub fn is_restoring(&self) -> bool {
        self.prompts.iter().any(QueuedPrompt::is_reading)
    }

    /// The files of an earlier run that could not be attached again.
    pub fn lost_files(&self) -> impl Iterator<Item = &UnsentFile> {
        self.prompts.iter().flat_map(QueuedPrompt::lost_files)
    }

    /// The selection and the edit stay with their prompts.
    fn remove(&mut self, index: usize) -> Option<QueuedPrompt> {
        let prompt = self.prompts.remove(index)?;
        self.revision += 1;
        let after_removal = |position: usize| match position.cmp(&index) {
            std::cmp::Ordering::Less => Some(position),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(position - 1),
        };
        self.selected = self.selected.and_then(after_removal);
        self.edited = self.edited.and_then(after_removal);
        Some(prompt)
    }

    /// Selects the last prompt. Returns false if there is none or one is being edited.
    pub fn select_last(&mut self) -> bool {
        if self.edited.is_none() {
            self.selected = self.prompts.len().checked_sub(1);
        }
        self.selected.is_some()
    }

    pub fn select_previous(&mut self) {
        self.selected = self.selected.map(|index| index.saturating_sub(1));
    }

    /// Selects the next prompt, or none after the last one.
    pub fn select_next(&mut self) {
        let next = self.selected.map(|index| index + 1);
        self.selected = next.filter(|index| *index < self.prompts.len());
    }

    pub fn deselect(&mut self) {
        self.selected = None;
    }

    /// Removes the selected prompt and selects the one that takes its place.
    pub fn remove_selected(&mut self) -> Option<QueuedPrompt> {
        let index = self.selected?;
        let removed = self.remove(index)?;
        let last = self.prompts.len().checked_sub(1);
        self.selected = last.map(|last| index.min(last));
        Some(removed)
    }

    /// Moves the selected prompt one place toward the front or the back.
    pub fn move_selected(&mut self, toward_front: bool) {
        let Some(from) = self.selected else { return };
        let to = match toward_front {
            true => from.checked_sub(1),
            false => Some(from + 1).filter(|to| *to < self.prompts.len()),
        };
        if let Some(to) = to {
            self.prompts.swap(from, to);
            self.selected = Some(to);
            self.revision += 1;
        }
    }

    /// Starts editing the selected prompt. Returns a copy for the message.
    pub fn begin_edit(&mut self) -> Option<QueuedPrompt> {
        let index = self.selected.take()?;
        let prompt = self.prompts.get(index)?.clone();
        self.edited = Some(index);
        Some(prompt)
    }

    /// Replaces the edited prompt; a blank one is removed. Returns false if none was being edited.
    pub fn finish_edit(&mut self, mut prompt: QueuedPrompt) -> bool {
        let Some(index) = self.edited.take() else {
            return false;
        };
        if prompt.text.trim().is_empty() {
            self.remove(index);
        } else {
            prompt.is_from_earlier_run = self.prompts[index].is_from_earlier_run;
            self.prompts[index] = prompt;
            self.revision += 1;
        }
        true
    }

    /// Leaves the edited prompt as it was. Returns false if none was being edited.
    pub fn cancel_edit(&mut self) -> bool {
        self.edited.take().is_some()
    }

    /// Removes the prompts of an earlier run, because a private conversation must not send them.
    pub fn take_from_earlier_run(&mut self) -> Vec<QueuedPrompt> {
        let indices = (0..self.prompts.len()).rev();
        let mut taken: Vec<QueuedPrompt> = indices
            .filter_map(|index| match self.prompts[index].is_from_earlier_run {
                true => self.remove(index),
                false => None,
            })
            .collect();
        taken.reverse();
        self.is_paused &= !self.prompts.is_empty();
        taken
    }

    /// Removes all prompts, because their conversation is being closed.
    pub fn take_all(&mut self) -> Vec<QueuedPrompt> {
        let revision = self.revision + 1;
        let queue = std::mem::take(self);
        self.revision = revision;
        queue.prompts.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> QueuedPrompt {
        QueuedPrompt::new(text.to_owned())
    }

    fn queue(texts: &str) -> PromptQueue {
        let mut queue = PromptQueue::default();
        texts
            .split_whitespace()
            .for_each(|text| queue.push(prompt(text)));
        queue
    }

    fn texts(queue: &PromptQueue) -> String {
        let texts: Vec<&str> = queue.prompts().map(|prompt| &*prompt.text).collect();
        texts.join(" ")
    }

    #[test]
    fn selection_stays_with_its_prompt() {
        let mut queue = queue("a b c");
        assert!(queue.select_last());
        queue.select_previous();
        assert_eq!(queue.take_next(), Some(prompt("a")));
        assert_eq!(queue.selected(), Some(0));
        assert_eq!(queue.remove_selected(), Some(prompt("b")));
        assert_eq!(queue.remove_selected(), Some(prompt("c")));
        assert_eq!((queue.selected(), queue.remove_selected()), (None, None));
        assert!(!queue.select_last());
    }

    #[test]
    fn prompts_move_within_the_queue() {
        let mut queue = queue("a b c");
        queue.select_last();
        queue.move_selected(false);
        queue.move_selected(true);
        assert_eq!(
            (texts(&queue).as_str(), queue.selected()),
            ("a c b", Some(1))
        );
        queue.move_selected(true);
        queue.move_selected(true);
        assert_eq!(
            (texts(&queue).as_str(), queue.selected()),
            ("c a b", Some(0))
        );
    }

    #[test]
    fn edited_prompt_keeps_its_place_and_holds_back_later_prompts() {
        let mut queue = queue("a b c");
        queue.select_last();
        queue.select_previous();
        assert_eq!(queue.begin_edit(), Some(prompt("b")));
        assert_eq!(queue.take_next(), Some(prompt("a")));
        assert_eq!(queue.take_next(), None, "b is being edited");
        assert!(queue.finish_edit(prompt("B")));
        assert_eq!(texts(&queue), "B c");
        queue.select_last();
        queue.begin_edit();
        assert!(queue.cancel_edit());
        assert_eq!(texts(&queue), "B c");
        queue.select_last();
        queue.begin_edit();
        assert!(queue.finish_edit(prompt(" ")));
        assert_eq!(texts(&queue), "B");
        assert!(!queue.finish_edit(prompt("x")) && !queue.cancel_edit());
    }

    #[test]
    fn paused_queue_sends_nothing() {
        let mut queue = queue("a");
        queue.pause();
        assert_eq!(queue.take_next(), None);
        let mut empty = PromptQueue::default();
        empty.pause();
        assert!(!empty.is_paused);
    }
}
