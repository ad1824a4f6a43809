//! The branches of a conversation. One is active. The others are stored flat: each records
//! the index at which it leaves the active branch, and its messages from there on. A branch
//! that is a prefix of another is not stored separately.

use super::session::{Branch, MessageRole, TurnRecord};
use super::{SavedMessage, Session};
use jiff::Timestamp;
use serde_json::Map;

impl Branch {
    /// The first non-empty line of the branch's first prompt, used as its label.
    pub fn first_prompt_line(&self) -> &str {
        let first_prompt = self
            .messages
            .iter()
            .find(|message| message.role == MessageRole::User);
        first_line(first_prompt.map_or("", |prompt| &*prompt.content))
    }

    /// The first non-empty line of the branch's first answer.
    pub fn first_answer_line(&self) -> &str {
        let mut messages = self.messages.iter();
        let answer = messages.find(|message| message.role == MessageRole::Assistant);
        first_line(answer.map_or("", |answer| &*answer.content))
    }
}

/// The first non-empty line of a text.
fn first_line(text: &str) -> &str {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim()
}

impl Session {
    /// The index of the last answered prompt.
    pub fn last_prompt_index(&self) -> Option<usize> {
        self.messages
            .iter()
            .rposition(|message| message.role == MessageRole::User)
    }

    /// The index of the `count`-th last answered prompt; 1 means the last one.
    pub fn nth_last_prompt_index(&self, count: usize) -> Option<usize> {
        let messages = self.messages.iter().enumerate().rev();
        let mut prompts = messages.filter(|(_, message)| message.role == MessageRole::User);
        prompts.nth(count.checked_sub(1)?).map(|(index, _)| index)
    }

    /// The number of answered prompts that an unfinished turn was meant to replace: all from
    /// `first_index` on, or none if later turns were answered there after `began_at`.
    pub fn prompts_replaced_by(&self, first_index: usize, began_at: Option<Timestamp>) -> usize {
        let mut later = self.metadata.turns.iter();
        let has_later_turns = later.any(|turn| {
            let ended_after_it = turn
                .ended_at
                .zip(began_at)
                .is_some_and(|(end, begin)| end > begin);
            turn.message_index >= first_index && ended_after_it
        });
        if has_later_turns {
            return 0;
        }
        let messages = self.messages.iter().skip(first_index);
        messages
            .filter(|message| message.role == MessageRole::User)
            .count()
    }

    /// The index of the final answer to the prompt at `prompt_index`.
    fn answer_index(&self, prompt_index: usize) -> Option<usize> {
        let after = self.messages.get(prompt_index + 1..)?;
        let end = after
            .iter()
            .position(|message| message.role == MessageRole::User);
        let turn = &after[..end.unwrap_or(after.len())];
        let answer = turn
            .iter()
            .rposition(|message| message.role == MessageRole::Assistant)?;
        Some(prompt_index + 1 + answer)
    }

    /// Replaces the final answer to the `count`-th last prompt with `answer`. The old answer and
    /// everything after it become a branch left at `now`. Returns false if there is no such answer.
    pub fn replace_answer(&mut self, count: usize, answer: &str, now: Timestamp) -> bool {
        let prompt_index = self.nth_last_prompt_index(count);
        let answer_index = prompt_index.and_then(|index| self.answer_index(index));
        let (Some(prompt_index), Some(answer_index)) = (prompt_index, answer_index) else {
            return false;
        };
        let before_answer = self.messages[prompt_index..answer_index].to_vec();
        let records: Vec<TurnRecord> = self
            .metadata
            .turns
            .iter()
            .filter(|record| (prompt_index..=answer_index).contains(&record.message_index))
            .cloned()
            .collect();
        self.rewind(prompt_index, now);
        self.messages.extend(before_answer);
        self.messages.push(SavedMessage::assistant(answer));
        records
            .into_iter()
            .for_each(|record| self.metadata.turns.push(record));
        true
    }

    /// The branches that leave the active one at the `count`-th last prompt or at its answer.
    pub fn branches_at(&self, count: usize) -> Vec<&Branch> {
        let Some(prompt_index) = self.nth_last_prompt_index(count) else {
            return Vec::new();
        };
        let last = self.answer_index(prompt_index).unwrap_or(prompt_index);
        let forks_here = |branch: &&Branch| (prompt_index..=last).contains(&branch.fork_index);
        self.branches.iter().filter(forks_here).collect()
    }

    /// For each answered prompt, the number of branches that leave the active one within its turn.
    pub fn branch_counts(&self) -> Vec<usize> {
        let messages = self.messages.iter().enumerate();
        let prompts = messages.filter(|(_, message)| message.role == MessageRole::User);
        let prompts: Vec<usize> = prompts.map(|(index, _)| index).collect();
        let mut counts = vec![0; prompts.len()];
        for branch in &self.branches {
            let next = prompts.partition_point(|prompt| *prompt <= branch.fork_index);
            let leaves_inside = branch.fork_index < self.messages.len();
            if let Some(count) = next
                .checked_sub(1)
                .filter(|_| leaves_inside)
                .and_then(|index| counts.get_mut(index))
            {
                *count += 1;
            }
        }
        counts
    }

    /// Keeps the first `kept` messages. The removed messages become a branch left at `now`.
    pub fn rewind(&mut self, kept: usize, now: Timestamp) {
        if kept >= self.messages.len() {
            return;
        }
        // A branch that forks off a removed message now forks at `kept`, and receives copies of
        // the removed messages before its old fork.
        for branch in self
            .branches
            .iter_mut()
            .filter(|branch| branch.fork_index > kept)
        {
            let old_fork = branch.fork_index;
            let mut messages = self.messages[kept..old_fork.min(self.messages.len())].to_vec();
            messages.append(&mut branch.messages);
            let metadata = &self.metadata;
            let (mut turns, mut cancelled) = (
                std::mem::take(&mut branch.turns),
                std::mem::take(&mut branch.cancelled),
            );
            turns.prepend_from(&metadata.turns, |index| (kept..old_fork).contains(&index));
            cancelled.prepend_from(&metadata.cancelled, |messages_before| {
                messages_before > kept && messages_before <= old_fork
            });
            *branch = Branch {
                fork_index: kept,
                messages,
                turns,
                cancelled,
                ..std::mem::take(branch)
            };
        }
        let branch = Branch {
            fork_index: kept,
            messages: self.messages.split_off(kept),
            turns: self.metadata.turns.take_matching(|index| index >= kept),
            cancelled: self
                .metadata
                .cancelled
                .take_matching(|messages_before| messages_before > kept),
            left_at: Some(now),
            extra: Map::new(),
            has_plain_messages: true,
        };
        let extends = |longer: &Branch, shorter: &Branch| {
            longer.fork_index == shorter.fork_index
                && longer.messages.starts_with(&shorter.messages)
        };
        if !self.branches.iter().any(|other| extends(other, &branch)) {
            self.branches.retain(|other| !extends(&branch, other));
            self.branches.push(branch);
        }
    }

    /// Makes the branch at `index` active. The previously active messages become a branch.
    /// Returns false if the index is invalid.
    pub fn switch_branch(&mut self, index: usize, now: Timestamp) -> bool {
        if index >= self.branches.len() {
            return false;
        }
        let branch = self.branches.remove(index);
        self.rewind(branch.fork_index, now);
        self.messages.extend(branch.messages);
        self.metadata.turns.append(branch.turns);
        self.metadata.cancelled.append(branch.cancelled);
        let active = &self.messages;
        self.branches.retain(|other| {
            let active_tail = active.get(other.fork_index..).unwrap_or_default();
            !active_tail.starts_with(&other.messages)
        });
        true
    }

    /// A copy of the active branch as a new conversation.
    pub fn fork(&self) -> Self {
        Self {
            id: None,
            branches: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether saving this conversation would preserve every branch of another version of
    /// it. That version shares the first `common` messages, continues with `rest` and has
    /// `branches`.
    pub fn preserves_branches(
        &self,
        common: usize,
        rest: &[SavedMessage],
        branches: &[Branch],
    ) -> bool {
        let active = BranchPath {
            shared_messages: common,
            tails: [rest, &[]],
        };
        let others = branches.iter().map(|branch| {
            let shared_messages = branch.fork_index.min(common);
            let before_fork = rest
                .get(..branch.fork_index - shared_messages)
                .unwrap_or(rest);
            BranchPath {
                shared_messages,
                tails: [before_fork, &branch.messages],
            }
        });
        std::iter::once(active)
            .chain(others)
            .all(|path| self.contains_path(&path))
    }

    /// Whether one of this conversation's branches starts with all messages of `path`.
    fn contains_path(&self, path: &BranchPath) -> bool {
        let branches = self.branches.iter();
        let mut own_branches = std::iter::once((self.messages.len(), &[][..]))
            .chain(branches.map(|branch| (branch.fork_index, &branch.messages[..])));
        own_branches.any(|(fork_index, tail)| {
            // Both begin with this many messages of the active branch, so compare the rest.
            let equal = fork_index.min(path.shared_messages);
            let active_until = |end: usize| self.messages.get(equal..end).unwrap_or_default();
            let mut own_messages = active_until(fork_index).iter().chain(tail);
            let [first_tail, second_tail] = path.tails;
            let mut path_messages = active_until(path.shared_messages)
                .iter()
                .chain(first_tail)
                .chain(second_tail);
            while let Some(message) = path_messages.next() {
                match own_messages.next() {
                    Some(own) if own == message => {}
                    // An answer that was continued here still contains its truncated form.
                    Some(own) => return own.continues(message) && path_messages.next().is_none(),
                    None => return false,
                }
            }
            true
        })
    }
}

/// A branch of another version of a conversation: messages shared with this version's active branch,
/// then its own.
struct BranchPath<'a> {
    shared_messages: usize,
    tails: [&'a [SavedMessage]; 2],
}

#[cfg(test)]
mod tests;
