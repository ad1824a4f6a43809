//! The branches of a conversation. One is active. Every other branch is stored flat, as the
//! messages after a point of the active one. A branch that is a prefix of another is not
//! stored separately.

use super::session::{Branch, Role};
use super::{SavedMessage, Session};
use jiff::Timestamp;
use serde_json::Map;

impl Branch {
    /// A label: the first line of its first prompt.
    pub fn words(&self) -> &str {
        let prompt = self
            .messages
            .iter()
            .find(|message| message.role == Role::User);
        let text = prompt.map_or("", |prompt| &*prompt.content);
        let line = text.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().trim()
    }
}

impl Session {
    /// The index of the last answered prompt.
    pub fn last_prompt(&self) -> Option<usize> {
        self.messages
            .iter()
            .rposition(|message| message.role == Role::User)
    }

    /// Removes all but the first `at` messages, which become a branch left at `now`.
    pub fn rewind(&mut self, at: usize, now: Timestamp) {
        if at >= self.messages.len() {
            return;
        }
        // Branches that start in the removed part take their share of it along.
        for branch in self.branches.iter_mut().filter(|branch| branch.at > at) {
            let until = branch.at;
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
                at,
                messages,
                turns,
                cancelled,
                ..std::mem::take(branch)
            };
        }
        let branch = Branch {
            at,
            messages: self.messages.split_off(at),
            turns: self.metadata.turns.take(|turn| turn >= at),
            cancelled: self.metadata.cancelled.take(|after| after > at),
            left_at: Some(now),
            extra: Map::new(),
            is_plain: true,
        };
        let goes_on = |other: &Branch, one: &Branch| {
            other.at == one.at && other.messages.starts_with(&one.messages)
        };
        if !self.branches.iter().any(|other| goes_on(other, &branch)) {
            self.branches.retain(|other| !goes_on(&branch, other));
            self.branches.push(branch);
        }
    }

    /// Makes this branch active and the active one a branch. Returns false if the index is
    /// invalid.
    pub fn switch(&mut self, index: usize, now: Timestamp) -> bool {
        if index >= self.branches.len() {
            return false;
        }
        let branch = self.branches.remove(index);
        self.rewind(branch.at, now);
        self.messages.extend(branch.messages);
        self.metadata.turns.append(branch.turns);
        self.metadata.cancelled.append(branch.cancelled);
        let active = &self.messages;
        self.branches.retain(|other| {
            let rest = active.get(other.at..).unwrap_or_default();
            !rest.starts_with(&other.messages)
        });
        true
    }

    /// A copy of the active branch as a new conversation.
    pub fn forked(&self) -> Self {
        Self {
            id: None,
            branches: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether saving this conversation would preserve every branch of another version of
    /// it. That version shares the first `common` messages, continues with `rest` and has
    /// `branches`.
    pub fn holds(&self, common: usize, rest: &[SavedMessage], branches: &[Branch]) -> bool {
        let active = BranchPath {
            trunk: common,
            tails: [rest, &[]],
        };
        let others = branches.iter().map(|branch| {
            let trunk = branch.at.min(common);
            let between = rest.get(..branch.at - trunk).unwrap_or(rest);
            BranchPath {
                trunk,
                tails: [between, &branch.messages],
            }
        });
        std::iter::once(active)
            .chain(others)
            .all(|way| self.has(&way))
    }

    fn has(&self, way: &BranchPath) -> bool {
        let branches = self.branches.iter();
        let mut own = std::iter::once((self.messages.len(), &[][..]))
            .chain(branches.map(|branch| (branch.at, &branch.messages[..])));
        own.any(|(at, tail)| {
            // Both share these messages of the active branch.
            let same = at.min(way.trunk);
            let between = |until: usize| self.messages.get(same..until).unwrap_or_default();
            let mut ours = between(at).iter().chain(tail);
            let [first, then] = way.tails;
            let mut wanted = between(way.trunk).iter().chain(first).chain(then);
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
    trunk: usize,
    tails: [&'a [SavedMessage]; 2],
}

#[cfg(test)]
mod tests {
    use super::super::Usage;
    use super::super::session::{CancelledTurn, Records, Stored, TurnRecord};
    use super::*;
    use serde_json::json;

    fn add_turn(session: &mut Session, prompt: &str, answer: &str) {
        session.messages.push(SavedMessage::user(prompt));
        session.messages.push(SavedMessage::assistant(answer));
        session.metadata.turns.push(TurnRecord {
            message: session.messages.len() - 1,
            model: answer.to_owned(),
            usage: Usage::default(),
            tools: Vec::new(),
            thinking: String::new(),
            at: None,
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
        let notes = |turns: &Records<TurnRecord>| {
            let models = turns.iter().map(|turn| &*turn.model);
            models.collect::<Vec<_>>().join(" ")
        };
        let own = notes(&session.metadata.turns);
        let active = format!("{} ({own})", text(&session.messages));
        let others = session.branches.iter().map(|branch| {
            let tail = text(&branch.messages);
            format!("{}+ {tail} ({})", branch.at, notes(&branch.turns))
        });
        std::iter::once(active).chain(others).collect()
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn what_is_taken_back_becomes_a_branch_with_its_notes() {
        let mut session = talk(&[("p", "a"), ("q", "b")]);
        session.rewind(2, now());
        add_turn(&mut session, "q", "c");
        assert_eq!(branch_texts(&session), ["p a q c (a c)", "2+ q b (b)"]);
        assert!(session.switch(0, now()));
        assert_eq!(branch_texts(&session), ["p a q b (a b)", "2+ q c (c)"]);
        assert!(!session.switch(1, now()), "there is no such branch");
    }

    fn stopped(session: &mut Session, prompt: &str) {
        session.metadata.add_cancelled(CancelledTurn {
            at: now(),
            after: session.messages.len(),
            prompt: prompt.to_owned(),
            words: String::new(),
            interrupted: false,
            replaces: false,
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
    fn words_without_an_answer_go_where_the_turn_before_them_goes() {
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
        assert!(session.switch(0, now()));
        assert_eq!(cancelled(&session), [vec!["x", "y"], vec!["x", "z"]]);
    }

    #[test]
    fn turns_that_are_taken_back_one_after_the_other_are_one_branch() {
        let mut session = talk(&[("p", "a"), ("q", "b"), ("r", "c")]);
        session.rewind(4, now());
        session.rewind(2, now());
        session.rewind(0, now());
        session.rewind(0, now());
        assert_eq!(branch_texts(&session), [" ()", "0+ p a q b r c (a b c)"]);
        assert!(session.switch(0, now()));
        assert_eq!(branch_texts(&session), ["p a q b r c (a b c)"]);
    }

    #[test]
    fn a_branch_of_what_is_taken_back_keeps_what_came_before_it() {
        let mut session = talk(&[("p", "a"), ("q", "b")]);
        session.rewind(2, now());
        add_turn(&mut session, "q", "c");
        session.rewind(0, now());
        add_turn(&mut session, "x", "y");
        let expected = ["x y (y)", "0+ p a q b (a b)", "0+ p a q c (a c)"];
        assert_eq!(branch_texts(&session), expected);
        assert!(session.switch(0, now()));
        let expected = ["p a q b (a b)", "0+ p a q c (a c)", "0+ x y (y)"];
        assert_eq!(branch_texts(&session), expected);
    }

    #[test]
    fn notes_of_an_unknown_shape_survive_their_branch_becoming_active() {
        let mut session = talk(&[("p", "a")]);
        session.rewind(0, now());
        session.branches[0].turns = Records::Foreign(json!("soon"));
        let known = Stored {
            record: None,
            place: Some(1),
            original: Some(json!({ "message": 1, "kind": "new" })),
        };
        session.metadata.turns = Records::List(vec![known.clone()]);
        assert!(session.switch(0, now()));
        let soon = Stored {
            record: None,
            place: None,
            original: Some(json!("soon")),
        };
        assert_eq!(session.metadata.turns, Records::List(vec![known, soon]));
    }

    #[test]
    fn a_conversation_holds_another_only_with_all_its_ways() {
        let mut ours = talk(&[("p", "a"), ("q", "b")]);
        ours.rewind(2, now());
        add_turn(&mut ours, "q", "c");
        let message = SavedMessage::user;
        let answer = SavedMessage::assistant;
        let branch = |at: usize, messages: &[SavedMessage]| Branch {
            at,
            messages: messages.to_vec(),
            ..Branch::default()
        };
        let old = [message("q"), answer("b")];
        assert!(ours.holds(4, &[], &[]), "identical");
        assert!(ours.holds(2, &[], &[]), "a prefix of ours");
        assert!(ours.holds(2, &old, &[]), "the branch is active there");
        assert!(
            ours.holds(3, &[answer("b")], &[]),
            "our branch, sharing one more message"
        );
        assert!(ours.holds(4, &[], &[branch(2, &old)]), "has our branch");
        assert!(ours.holds(2, &old, &[branch(2, &[message("q")])]));
        assert!(!ours.holds(4, &[message("r")], &[]), "continued there");
        assert!(!ours.holds(2, &[message("r")], &[]), "another branch");
        assert!(!ours.holds(4, &[], &[branch(2, &[message("z")])]));
        assert!(!ours.holds(0, &[message("z")], &[]));
        assert!(
            ours.holds(0, &[message("p"), answer("")], &[]),
            "our answer was continued"
        );
        let other = [message("p"), answer(""), message("q")];
        assert!(!ours.holds(0, &other, &[]), "continued differently");
        assert!(
            !ours.holds(2, &[message("")], &[]),
            "prompts are not continued"
        );
    }
}
