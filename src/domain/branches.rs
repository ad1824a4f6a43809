//! The branches of a conversation. One is active. Every other branch is stored flat, as the
//! messages after a point of the active one. A branch that is a prefix of another is not
//! stored separately.

use super::session::{Branch, MessageRole};
use super::{SavedMessage, Session};
use jiff::Timestamp;
use serde_json::Map;

impl Branch {
    /// A label: the first line of its first prompt.
    pub fn first_prompt_line(&self) -> &str {
        let prompt = self
            .messages
            .iter()
            .find(|message| message.role == MessageRole::User);
        let text = prompt.map_or("", |prompt| &*prompt.content);
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

    /// Removes all but the first `at` messages, which become a branch left at `now`.
    pub fn rewind(&mut self, at: usize, now: Timestamp) {
        if at >= self.messages.len() {
            return;
        }
        // Branches that start in the removed part take their share of it along.
        for branch in self
            .branches
            .iter_mut()
            .filter(|branch| branch.fork_index > at)
        {
            let until = branch.fork_index;
            let mut messages = self.messages[at..until.min(self.messages.len())].to_vec();
            messages.append(&mut branch.messages);
            let metadata = &self.metadata;
            let (mut turns, mut cancelled) = (
                std::mem::take(&mut branch.turns),
                std::mem::take(&mut branch.cancelled),
            );
            turns.prepend_from(&metadata.turns, |turn| (at..until).contains(&turn));
            cancelled.prepend_from(&metadata.cancelled, |after| after > at && after <= until);
            *branch = Branch {
                fork_index: at,
                messages,
                turns,
                cancelled,
                ..std::mem::take(branch)
            };
        }
        let branch = Branch {
            fork_index: at,
            messages: self.messages.split_off(at),
            turns: self.metadata.turns.take_matching(|turn| turn >= at),
            cancelled: self.metadata.cancelled.take_matching(|after| after > at),
            left_at: Some(now),
            extra: Map::new(),
            has_plain_messages: true,
        };
        let is_prefix_of = |other: &Branch, one: &Branch| {
            other.fork_index == one.fork_index && other.messages.starts_with(&one.messages)
        };
        if !self
            .branches
            .iter()
            .any(|other| is_prefix_of(other, &branch))
        {
            self.branches.retain(|other| !is_prefix_of(&branch, other));
            self.branches.push(branch);
        }
    }

    /// Makes this branch active and the active one a branch. Returns false if the index is
    /// invalid.
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
            let rest = active.get(other.fork_index..).unwrap_or_default();
            !rest.starts_with(&other.messages)
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
            let trunk = branch.fork_index.min(common);
            let between = rest.get(..branch.fork_index - trunk).unwrap_or(rest);
            BranchPath {
                shared_messages: trunk,
                tails: [between, &branch.messages],
            }
        });
        std::iter::once(active)
            .chain(others)
            .all(|path| self.contains_path(&path))
    }

    fn contains_path(&self, path: &BranchPath) -> bool {
        let branches = self.branches.iter();
        let mut own = std::iter::once((self.messages.len(), &[][..]))
            .chain(branches.map(|branch| (branch.fork_index, &branch.messages[..])));
        own.any(|(at, tail)| {
            // Both share these messages of the active branch.
            let same = at.min(path.shared_messages);
            let between = |until: usize| self.messages.get(same..until).unwrap_or_default();
            let mut ours = between(at).iter().chain(tail);
            let [first, then] = path.tails;
            let mut wanted = between(path.shared_messages)
                .iter()
                .chain(first)
                .chain(then);
            while let Some(message) = wanted.next() {
                match ours.next() {
                    Some(our) if our == message => {}
                    // A truncated answer that was continued still contains its first half.
                    Some(our) => return our.continues(message) && wanted.next().is_none(),
                    None => return false,
                }
            }
            true
        })
    }
}

/// A branch of another session: shared messages, then its own.
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
            ended_at: None,
        });
    }

    fn talk(turns: &[(&str, &str)]) -> Session {
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
        let notes = |turns: &StoredRecords<TurnRecord>| {
            let models = turns.iter().map(|turn| &*turn.model);
            models.collect::<Vec<_>>().join(" ")
        };
        let own = notes(&session.metadata.turns);
        let active = format!("{} ({own})", text(&session.messages));
        let others = session.branches.iter().map(|branch| {
            let tail = text(&branch.messages);
            format!("{}+ {tail} ({})", branch.fork_index, notes(&branch.turns))
        });
        std::iter::once(active).chain(others).collect()
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn rewound_turns_become_a_branch_with_their_records() {
        let mut session = talk(&[("p", "a"), ("q", "b")]);
        session.rewind(2, now());
        add_turn(&mut session, "q", "c");
        assert_eq!(branch_texts(&session), ["p a q c (a c)", "2+ q b (b)"]);
        assert!(session.switch_branch(0, now()));
        assert_eq!(branch_texts(&session), ["p a q b (a b)", "2+ q c (c)"]);
        assert!(!session.switch_branch(1, now()), "there is no such branch");
    }

    fn stopped(session: &mut Session, prompt: &str) {
        session.metadata.add_cancelled(CancelledTurn {
            cancelled_at: now(),
            messages_before: session.messages.len(),
            prompt: prompt.to_owned(),
            partial_answer: String::new(),
            was_interrupted: false,
            was_replacement: false,
        });
    }

    /// The prompts of the cancelled turns of each branch, the active one first.
    fn cancelled(session: &Session) -> Vec<Vec<&str>> {
        let others = session.branches.iter().map(|branch| &branch.cancelled);
        std::iter::once(&session.metadata.cancelled)
            .chain(others)
            .map(|turns| turns.iter().map(|turn| &*turn.prompt).collect())
            .collect()
    }

    #[test]
    fn cancelled_turns_move_with_the_turn_before_them() {
        let mut session = talk(&[("p", "a")]);
        stopped(&mut session, "x");
        add_turn(&mut session, "q", "b");
        stopped(&mut session, "y");
        session.rewind(2, now());
        assert_eq!(cancelled(&session), [vec!["x"], vec!["y"]]);
        add_turn(&mut session, "q", "c");
        stopped(&mut session, "z");
        session.rewind(0, now());
        assert_eq!(
            cancelled(&session),
            [vec![], vec!["x", "y"], vec!["x", "z"]]
        );
        assert!(session.switch_branch(0, now()));
        assert_eq!(cancelled(&session), [vec!["x", "y"], vec!["x", "z"]]);
    }

    #[test]
    fn turns_rewound_one_by_one_form_a_single_branch() {
        let mut session = talk(&[("p", "a"), ("q", "b"), ("r", "c")]);
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
        let mut session = talk(&[("p", "a"), ("q", "b")]);
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
        let mut session = talk(&[("p", "a")]);
        session.rewind(0, now());
        session.branches[0].turns = StoredRecords::UnknownShape(json!("soon"));
        let known = StoredRecord {
            record: None,
            message_index: Some(1),
            original: Some(json!({ "message": 1, "kind": "new" })),
        };
        session.metadata.turns = StoredRecords::List(vec![known.clone()]);
        assert!(session.switch_branch(0, now()));
        let soon = StoredRecord {
            record: None,
            message_index: None,
            original: Some(json!("soon")),
        };
        assert_eq!(
            session.metadata.turns,
            StoredRecords::List(vec![known, soon])
        );
    }

    #[test]
    fn a_session_preserves_another_only_with_all_its_branches() {
        let mut ours = talk(&[("p", "a"), ("q", "b")]);
        ours.rewind(2, now());
        add_turn(&mut ours, "q", "c");
        let message = SavedMessage::user;
        let answer = SavedMessage::assistant;
        let branch = |at: usize, messages: &[SavedMessage]| Branch {
            fork_index: at,
            messages: messages.to_vec(),
            ..Branch::default()
        };
        let old = [message("q"), answer("b")];
        assert!(ours.preserves_branches(4, &[], &[]), "identical");
        assert!(ours.preserves_branches(2, &[], &[]), "a prefix of ours");
        assert!(
            ours.preserves_branches(2, &old, &[]),
            "the branch is active there"
        );
        assert!(
            ours.preserves_branches(3, &[answer("b")], &[]),
            "our branch, sharing one more message"
        );
        assert!(
            ours.preserves_branches(4, &[], &[branch(2, &old)]),
            "has our branch"
        );
        assert!(ours.preserves_branches(2, &old, &[branch(2, &[message("q")])]));
        assert!(
            !ours.preserves_branches(4, &[message("r")], &[]),
            "continued there"
        );
        assert!(
            !ours.preserves_branches(2, &[message("r")], &[]),
            "another branch"
        );
        assert!(!ours.preserves_branches(4, &[], &[branch(2, &[message("z")])]));
        assert!(!ours.preserves_branches(0, &[message("z")], &[]));
        assert!(
            ours.preserves_branches(0, &[message("p"), answer("")], &[]),
            "our answer was continued"
        );
        let other = [message("p"), answer(""), message("q")];
        assert!(
            !ours.preserves_branches(0, &other, &[]),
            "continued differently"
        );
        assert!(
            !ours.preserves_branches(2, &[message("")], &[]),
            "prompts are not continued"
        );
    }
}
