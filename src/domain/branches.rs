//! The branches of a conversation. One is active. The others are stored flat: each records
//! the index at which it leaves the active branch, and its messages from there on. A branch
//! that is a prefix of another is not stored separately.

use super::session::{Branch, MessageRole};
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
        let text = first_prompt.map_or("", |prompt| &*prompt.content);
        let line = text.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().trim()
    }
}

impl Session {
    /// The index of the last answered prompt.
    pub fn last_prompt_index(&self) -> Option<usize> {
        self.messages
            .iter()
            .rposition(|message| message.role == MessageRole::User)
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

/// A branch of another session: messages shared with the active branch, then its own.
struct BranchPath<'a> {
    shared_messages: usize,
    tails: [&'a [SavedMessage]; 2],
}

#[cfg(test)]
mod tests {
    use super::super::Usage;
    use super::super::session::{CancelledTurn, StoredRecord, StoredRecords, TurnRecord};
    use super::*;
    use serde_json::json;

    fn add_turn(session: &mut Session, prompt: &str, answer: &str) {
        session.messages.push(SavedMessage::user(prompt));
        session.messages.push(SavedMessage::assistant(answer));
        session.metadata.turns.push(TurnRecord {
            message_index: session.messages.len() - 1,
            model: answer.to_owned(),
            usage: Usage::default(),
            calls: Vec::new(),
            thinking: String::new(),
            agent_results: Vec::new(),
            ended_at: None,
        });
    }

    fn session_with(turns: &[(&str, &str)]) -> Session {
        let mut session = Session::new("m");
        turns
            .iter()
            .for_each(|(prompt, answer)| add_turn(&mut session, prompt, answer));
        session
    }

    /// Every branch as the text of its messages and the models of its records.
    fn branch_texts(session: &Session) -> Vec<String> {
        let text = |messages: &[SavedMessage]| {
            let texts = messages.iter().map(|message| message.content.to_string());
            texts.collect::<Vec<_>>().join(" ")
        };
        let models = |turns: &StoredRecords<TurnRecord>| {
            let names = turns.iter().map(|turn| &*turn.model);
            names.collect::<Vec<_>>().join(" ")
        };
        let active_models = models(&session.metadata.turns);
        let active = format!("{} ({active_models})", text(&session.messages));
        let others = session.branches.iter().map(|branch| {
            let tail = text(&branch.messages);
            format!("{}+ {tail} ({})", branch.fork_index, models(&branch.turns))
        });
        std::iter::once(active).chain(others).collect()
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn rewound_turns_become_a_branch_with_their_records() {
        let mut session = session_with(&[("p", "a"), ("q", "b")]);
        session.rewind(2, now());
        add_turn(&mut session, "q", "c");
        assert_eq!(branch_texts(&session), ["p a q c (a c)", "2+ q b (b)"]);
        assert!(session.switch_branch(0, now()));
        assert_eq!(branch_texts(&session), ["p a q b (a b)", "2+ q c (c)"]);
        assert!(!session.switch_branch(1, now()), "no branch has this index");
    }

    fn cancel_turn(session: &mut Session, prompt: &str) {
        session.metadata.add_cancelled(CancelledTurn {
            cancelled_at: now(),
            messages_before: session.messages.len(),
            prompt: prompt.to_owned(),
            partial_answer: String::new(),
            calls: Vec::new(),
            was_interrupted: false,
            was_replacement: false,
        });
    }

    /// The prompts of the cancelled turns of each branch, the active one first.
    fn cancelled_prompts(session: &Session) -> Vec<Vec<&str>> {
        let others = session.branches.iter().map(|branch| &branch.cancelled);
        std::iter::once(&session.metadata.cancelled)
            .chain(others)
            .map(|turns| turns.iter().map(|turn| &*turn.prompt).collect())
            .collect()
    }

    #[test]
    fn cancelled_turns_move_with_the_turn_before_them() {
        let mut session = session_with(&[("p", "a")]);
        cancel_turn(&mut session, "x");
        add_turn(&mut session, "q", "b");
        cancel_turn(&mut session, "y");
        session.rewind(2, now());
        assert_eq!(cancelled_prompts(&session), [vec!["x"], vec!["y"]]);
        add_turn(&mut session, "q", "c");
        cancel_turn(&mut session, "z");
        session.rewind(0, now());
        assert_eq!(
            cancelled_prompts(&session),
            [vec![], vec!["x", "y"], vec!["x", "z"]]
        );
        assert!(session.switch_branch(0, now()));
        assert_eq!(
            cancelled_prompts(&session),
            [vec!["x", "y"], vec!["x", "z"]]
        );
    }

    #[test]
    fn turns_rewound_one_by_one_form_a_single_branch() {
        let mut session = session_with(&[("p", "a"), ("q", "b"), ("r", "c")]);
        session.rewind(4, now());
        session.rewind(2, now());
        session.rewind(0, now());
        session.rewind(0, now());
        assert_eq!(branch_texts(&session), [" ()", "0+ p a q b r c (a b c)"]);
        assert!(session.switch_branch(0, now()));
        assert_eq!(branch_texts(&session), ["p a q b r c (a b c)"]);
    }

    #[test]
    fn a_branch_of_rewound_turns_keeps_its_earlier_messages() {
        let mut session = session_with(&[("p", "a"), ("q", "b")]);
        session.rewind(2, now());
        add_turn(&mut session, "q", "c");
        session.rewind(0, now());
        add_turn(&mut session, "x", "y");
        let expected = ["x y (y)", "0+ p a q b (a b)", "0+ p a q c (a c)"];
        assert_eq!(branch_texts(&session), expected);
        assert!(session.switch_branch(0, now()));
        let expected = ["p a q b (a b)", "0+ p a q c (a c)", "0+ x y (y)"];
        assert_eq!(branch_texts(&session), expected);
    }

    #[test]
    fn records_of_unknown_shape_survive_a_branch_switch() {
        let mut session = session_with(&[("p", "a")]);
        session.rewind(0, now());
        session.branches[0].turns = StoredRecords::UnknownShape(json!("soon"));
        let unknown = StoredRecord {
            record: None,
            message_index: Some(1),
            original: Some(json!({ "message": 1, "kind": "new" })),
        };
        session.metadata.turns = StoredRecords::List(vec![unknown.clone()]);
        assert!(session.switch_branch(0, now()));
        let converted = StoredRecord {
            record: None,
            message_index: None,
            original: Some(json!("soon")),
        };
        assert_eq!(
            session.metadata.turns,
            StoredRecords::List(vec![unknown, converted])
        );
    }

    #[test]
    fn a_session_preserves_another_only_with_all_its_branches() {
        let mut ours = session_with(&[("p", "a"), ("q", "b")]);
        ours.rewind(2, now());
        add_turn(&mut ours, "q", "c");
        let prompt = SavedMessage::user;
        let answer = SavedMessage::assistant;
        let branch = |fork_index: usize, messages: &[SavedMessage]| Branch {
            fork_index,
            messages: messages.to_vec(),
            ..Branch::default()
        };
        let undone_turn = [prompt("q"), answer("b")];
        assert!(ours.preserves_branches(4, &[], &[]), "identical");
        assert!(ours.preserves_branches(2, &[], &[]), "a prefix of ours");
        assert!(
            ours.preserves_branches(2, &undone_turn, &[]),
            "our branch, active there"
        );
        assert!(
            ours.preserves_branches(3, &[answer("b")], &[]),
            "our branch, sharing one more message"
        );
        assert!(
            ours.preserves_branches(4, &[], &[branch(2, &undone_turn)]),
            "the same branches"
        );
        assert!(ours.preserves_branches(2, &undone_turn, &[branch(2, &[prompt("q")])]));
        assert!(
            !ours.preserves_branches(4, &[prompt("r")], &[]),
            "the active branch was continued there"
        );
        assert!(
            !ours.preserves_branches(2, &[prompt("r")], &[]),
            "an unknown active branch"
        );
        assert!(!ours.preserves_branches(4, &[], &[branch(2, &[prompt("z")])]));
        assert!(!ours.preserves_branches(0, &[prompt("z")], &[]));
        assert!(
            ours.preserves_branches(0, &[prompt("p"), answer("")], &[]),
            "our answer was continued"
        );
        let other = [prompt("p"), answer(""), prompt("q")];
        assert!(
            !ours.preserves_branches(0, &other, &[]),
            "continued differently"
        );
        assert!(
            !ours.preserves_branches(2, &[prompt("")], &[]),
            "prompts are not continued"
        );
    }
}
