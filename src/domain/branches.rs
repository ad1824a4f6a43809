//! The ways that a conversation took. One is active; each of the others is kept as
//! what followed a point of the active one, so that the list stays flat however
//! often a prompt was taken back. A way that another one goes on from is part of it.

use super::session::{Branch, Role};
use super::{SavedMessage, Session};
use jiff::Timestamp;
use serde_json::{Map, Value};

const TURNS: &str = "turns";
const CANCELLED: &str = "cancelled";

impl Branch {
    /// The first words that tell it from others: its first prompt.
    pub fn words(&self) -> &str {
        let prompt = self.messages.iter().find(|one| one.role == Role::User);
        let text = prompt.map_or("", |prompt| &*prompt.content);
        let line = text.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().trim()
    }
}

impl Session {
    /// Where the last prompt stands that was answered.
    pub fn last_prompt(&self) -> Option<usize> {
        self.messages
            .iter()
            .rposition(|message| message.role == Role::User)
    }

    /// Takes back all but the first `at` messages: they become a branch, left `now`.
    pub fn rewind(&mut self, at: usize, now: Timestamp) {
        if at >= self.messages.len() {
            return;
        }
        // A branch that leaves what goes takes its part of it along.
        for branch in self.branches.iter_mut().filter(|branch| branch.at > at) {
            let until = branch.at;
            let mut messages = self.messages[at..until.min(self.messages.len())].to_vec();
            messages.append(&mut branch.messages);
            let mut turns = copied(&self.humble, TURNS, |turn| (at..until).contains(&turn));
            turns.append(&mut branch.turns);
            let mut cancelled = copied(&self.humble, CANCELLED, |after| {
                after > at && after <= until
            });
            cancelled.append(&mut branch.cancelled);
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
            turns: taken(&mut self.humble, TURNS, |turn| turn >= at),
            cancelled: taken(&mut self.humble, CANCELLED, |after| after > at),
            left_at: Some(now),
            other: Map::new(),
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

    /// Makes the branch of this index the active one; what was active becomes a
    /// branch. False where there is none.
    pub fn switch(&mut self, index: usize, now: Timestamp) -> bool {
        if index >= self.branches.len() {
            return false;
        }
        let mut branch = self.branches.remove(index);
        self.rewind(branch.at, now);
        self.messages.extend(branch.messages);
        for (key, mut notes) in [(TURNS, branch.turns), (CANCELLED, branch.cancelled)] {
            // Notes of a shape that nobody here understands are kept all the same.
            notes.extend(branch.other.shift_remove(key));
            put(&mut self.humble, key, notes);
        }
        let active = &self.messages;
        self.branches.retain(|other| {
            let rest = active.get(other.at..).unwrap_or_default();
            !rest.starts_with(&other.messages)
        });
        true
    }

    /// The conversation so far, as the beginning of one of its own.
    pub fn forked(&self) -> Self {
        Self {
            id: None,
            branches: Vec::new(),
            ..self.clone()
        }
    }

    /// Would writing this conversation keep every way of another one, whose first
    /// `common` messages are those of this one, `rest` what follows them there, and
    /// `branches` its others?
    pub fn holds(&self, common: usize, rest: &[SavedMessage], branches: &[Branch]) -> bool {
        let active = Way {
            trunk: common,
            tails: [rest, &[]],
        };
        let others = branches.iter().map(|branch| {
            let trunk = branch.at.min(common);
            let between = rest.get(..branch.at - trunk).unwrap_or(rest);
            Way {
                trunk,
                tails: [between, &branch.messages],
            }
        });
        std::iter::once(active)
            .chain(others)
            .all(|way| self.has(&way))
    }

    fn has(&self, way: &Way) -> bool {
        let own = std::iter::once((self.messages.len(), &[][..]));
        let branches = self.branches.iter();
        let own = own.chain(branches.map(|branch| (branch.at, &branch.messages[..])));
        own.into_iter().any(|(at, tail)| {
            // Both begin with the same messages of the active branch.
            let same = at.min(way.trunk);
            let between = |until: usize| self.messages.get(same..until).unwrap_or_default();
            let mut ours = between(at).iter().chain(tail);
            let [first, then] = way.tails;
            let mut wanted = between(way.trunk).iter().chain(first).chain(then);
            while let Some(message) = wanted.next() {
                match ours.next() {
                    Some(our) if our == message => {}
                    // An answer that was cut and then continued still holds its first half.
                    Some(our) => return our.continues(message) && wanted.next().is_none(),
                    None => return false,
                }
            }
            true
        })
    }
}

/// A way of another conversation: so many messages of ours, then others.
struct Way<'a> {
    trunk: usize,
    tails: [&'a [SavedMessage]; 2],
}

/// The message that an entry of `turns` or `cancelled` is about.
fn place(entry: &Value) -> Option<usize> {
    let place = entry.get("message").or_else(|| entry.get("after"))?;
    usize::try_from(place.as_u64()?).ok()
}

fn copied(humble: &Map<String, Value>, key: &str, wanted: impl Fn(usize) -> bool) -> Vec<Value> {
    let entries = humble.get(key).and_then(Value::as_array).into_iter();
    entries
        .flatten()
        .filter(|entry| place(entry).is_some_and(&wanted))
        .cloned()
        .collect()
}

fn taken(humble: &mut Map<String, Value>, key: &str, wanted: impl Fn(usize) -> bool) -> Vec<Value> {
    match humble.get_mut(key) {
        Some(Value::Array(entries)) => entries
            .extract_if(.., |entry| place(entry).is_some_and(&wanted))
            .collect(),
        _ => Vec::new(),
    }
}

fn put(humble: &mut Map<String, Value>, key: &str, mut entries: Vec<Value>) {
    if entries.is_empty() {
        return;
    }
    let slot = humble
        .entry(key)
        .or_insert_with(|| Value::Array(Vec::new()));
    match slot {
        Value::Array(there) => there.append(&mut entries),
        other => {
            entries.insert(0, other.take());
            *other = Value::Array(entries);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(session: &mut Session, prompt: &str, answer: &str) {
        session.messages.push(SavedMessage::user(prompt));
        session.messages.push(SavedMessage::assistant(answer));
        let note = json!({ "message": session.messages.len() - 1, "model": answer });
        put(&mut session.humble, TURNS, vec![note]);
    }

    fn talk(turns: &[(&str, &str)]) -> Session {
        let mut session = Session::new("m");
        turns
            .iter()
            .for_each(|(prompt, answer)| said(&mut session, prompt, answer));
        session
    }

    /// Every way, as the words of its messages, with the models of its notes.
    fn ways(session: &Session) -> Vec<String> {
        let words = |messages: &[SavedMessage]| {
            let words = messages.iter().map(|one| one.content.to_string());
            words.collect::<Vec<_>>().join(" ")
        };
        let notes = |entries: &[Value]| {
            let models = entries.iter().filter_map(|entry| entry["model"].as_str());
            models.collect::<Vec<_>>().join(" ")
        };
        let own = session.humble.get(TURNS).and_then(Value::as_array);
        let own = notes(own.map_or(&[], |own| own));
        let active = format!("{} ({own})", words(&session.messages));
        let others = session.branches.iter().map(|branch| {
            let tail = words(&branch.messages);
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
        said(&mut session, "q", "c");
        assert_eq!(ways(&session), ["p a q c (a c)", "2+ q b (b)"]);
        assert!(session.switch(0, now()));
        assert_eq!(ways(&session), ["p a q b (a b)", "2+ q c (c)"]);
        assert!(!session.switch(1, now()), "there is no such branch");
    }

    fn stopped(session: &mut Session, prompt: &str) {
        let note = json!({ "after": session.messages.len(), "prompt": prompt });
        put(&mut session.humble, CANCELLED, vec![note]);
    }

    /// The prompts of the cancelled turns of each way, the active one first.
    fn cancelled(session: &Session) -> Vec<Vec<&str>> {
        let own = session.humble.get(CANCELLED).and_then(Value::as_array);
        let own = own.map_or(&[][..], Vec::as_slice);
        let others = session.branches.iter().map(|branch| &branch.cancelled[..]);
        std::iter::once(own)
            .chain(others)
            .map(|notes| {
                notes
                    .iter()
                    .filter_map(|note| note["prompt"].as_str())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn words_without_an_answer_go_where_the_turn_before_them_goes() {
        let mut session = talk(&[("p", "a")]);
        stopped(&mut session, "x");
        said(&mut session, "q", "b");
        stopped(&mut session, "y");
        session.rewind(2, now());
        assert_eq!(cancelled(&session), [vec!["x"], vec!["y"]]);
        said(&mut session, "q", "c");
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
        assert_eq!(ways(&session), [" ()", "0+ p a q b r c (a b c)"]);
        assert!(session.switch(0, now()));
        assert_eq!(ways(&session), ["p a q b r c (a b c)"]);
    }

    #[test]
    fn a_branch_of_what_is_taken_back_keeps_what_came_before_it() {
        let mut session = talk(&[("p", "a"), ("q", "b")]);
        session.rewind(2, now());
        said(&mut session, "q", "c");
        session.rewind(0, now());
        said(&mut session, "x", "y");
        let expected = ["x y (y)", "0+ p a q b (a b)", "0+ p a q c (a c)"];
        assert_eq!(ways(&session), expected);
        assert!(session.switch(0, now()));
        let expected = ["p a q b (a b)", "0+ p a q c (a c)", "0+ x y (y)"];
        assert_eq!(ways(&session), expected);
    }

    #[test]
    fn notes_of_an_unknown_shape_survive_their_branch_becoming_active() {
        let mut session = talk(&[("p", "a")]);
        session.rewind(0, now());
        session.branches[0]
            .other
            .insert(TURNS.to_owned(), json!("soon"));
        assert!(session.switch(0, now()));
        let expected = json!([{ "message": 1, "model": "a" }, "soon"]);
        assert_eq!(session.humble[TURNS], expected);
    }

    #[test]
    fn a_conversation_holds_another_only_with_all_its_ways() {
        let mut ours = talk(&[("p", "a"), ("q", "b")]);
        ours.rewind(2, now());
        said(&mut ours, "q", "c");
        let message = SavedMessage::user;
        let answer = SavedMessage::assistant;
        let branch = |at: usize, messages: &[SavedMessage]| Branch {
            at,
            messages: messages.to_vec(),
            ..Branch::default()
        };
        let old = [message("q"), answer("b")];
        assert!(ours.holds(4, &[], &[]), "the same");
        assert!(ours.holds(2, &[], &[]), "a beginning of ours");
        assert!(ours.holds(2, &old, &[]), "the branch was active there");
        assert!(ours.holds(3, &[answer("b")], &[]), "the same, seen later");
        assert!(ours.holds(4, &[], &[branch(2, &old)]), "it has the branch");
        assert!(ours.holds(2, &old, &[branch(2, &[message("q")])]));
        assert!(!ours.holds(4, &[message("r")], &[]), "it went on there");
        assert!(!ours.holds(2, &[message("r")], &[]), "elsewhere");
        assert!(!ours.holds(4, &[], &[branch(2, &[message("z")])]));
        assert!(!ours.holds(0, &[message("z")], &[]));
        assert!(ours.holds(0, &[message("p"), answer("")], &[]), "it grew");
        let other = [message("p"), answer(""), message("q")];
        assert!(!ours.holds(0, &other, &[]), "it grew and went on elsewhere");
        assert!(!ours.holds(2, &[message("")], &[]), "prompts do not grow");
    }
}
