//! Random edits, compared with a simple model of the text: one string, rescanned for each edit.

use crate::tui::widgets::editor::*;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

#[derive(Debug, Clone, Default)]
struct SimpleText {
    text: String,
    cursor: usize,
    anchor: usize,
    /// Newest last.
    killed: Vec<String>,
    follows_kill: bool,
}

impl SimpleText {
    fn boundaries(&self) -> Vec<usize> {
        let starts = self.text.grapheme_indices(true).map(|(at, _)| at);
        starts.chain([self.text.len()]).collect()
    }

    fn target(&self, motion: Motion) -> usize {
        let (before, after) = self.text.split_at(self.cursor);
        let boundaries = self.boundaries();
        let up_to = |at: usize| *boundaries.iter().rfind(|edge| **edge <= at).unwrap();
        let from = |at: usize| *boundaries.iter().find(|edge| **edge >= at).unwrap();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_end = after
            .find('\n')
            .map_or(self.text.len(), |at| self.cursor + at);
        match motion {
            Motion::Left => up_to(self.cursor.saturating_sub(1)),
            Motion::Right => from((self.cursor + 1).min(self.text.len())),
            Motion::WordLeft if self.cursor == line_start => self.target(Motion::Left),
            Motion::WordRight if self.cursor == line_end => self.target(Motion::Right),
            Motion::WordLeft | Motion::WordRight => {
                let is_left = motion == Motion::WordLeft;
                let cluster_kind = |at: usize| {
                    let cluster: &str = match boundaries.iter().find(|edge| **edge > at) {
                        Some(end) => &self.text[at..*end],
                        None => "",
                    };
                    let is_picture = cluster.contains(['👩', '🇰', '🇷']);
                    (is_picture, cluster.starts_with(char::is_alphanumeric))
                };
                let mut at = self.cursor;
                let mut in_word = false;
                while at != if is_left { line_start } else { line_end } {
                    let next = match is_left {
                        true => up_to(at - 1),
                        false => from(at + 1),
                    };
                    match cluster_kind(next.min(at)) {
                        (true, _) if !in_word => return next,
                        (false, true) => in_word = true,
                        _ if in_word => return at,
                        _ => {}
                    }
                    at = next;
                }
                at
            }
            Motion::BlankLeft => unreachable!("tested in key_scripts"),
            Motion::LineStart => line_start,
            Motion::LineEnd => line_end,
            Motion::TextStart => 0,
            Motion::TextEnd => self.text.len(),
            Motion::Up | Motion::Down => unreachable!("depends on the width"),
        }
    }

    fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.text.replace_range(start..end, text);
        let after = start + text.len();
        self.cursor = *self
            .boundaries()
            .iter()
            .find(|edge| **edge >= after)
            .unwrap();
        self.anchor = self.cursor;
    }

    fn selected(&self) -> (usize, usize) {
        (self.cursor.min(self.anchor), self.cursor.max(self.anchor))
    }

    /// Deletes the selection, or else up to the target of the motion. Returns the deleted text.
    fn delete(&mut self, motion: Motion) -> String {
        if self.cursor == self.anchor {
            self.anchor = self.target(motion);
        }
        let (start, end) = self.selected();
        let text = self.text[start..end].to_owned();
        if !text.is_empty() {
            self.replace(start, end, "");
        }
        text
    }

    fn kill(&mut self, motion: Motion, follows_kill: bool) {
        let has_selection = self.cursor != self.anchor;
        let is_left = match has_selection {
            true => self.cursor > self.anchor,
            false => self.target(motion) < self.cursor,
        };
        let text = self.delete(motion);
        if text.is_empty() {
            return;
        }
        self.follows_kill = true;
        match self
            .killed
            .last_mut()
            .filter(|_| follows_kill && !has_selection)
        {
            Some(last) if is_left => last.insert_str(0, &text),
            Some(last) => last.push_str(&text),
            None => self.killed.push(text),
        }
    }

    fn apply(&mut self, edit: Edit) {
        let follows_kill = std::mem::take(&mut self.follows_kill);
        let (start, end) = self.selected();
        match edit {
            Edit::Move(Motion::Left) if start < end => self.cursor = start,
            Edit::Move(Motion::Right) if start < end => self.cursor = end,
            Edit::Move(motion) => self.cursor = self.target(motion),
            Edit::Select(motion) => self.cursor = self.target(motion),
            Edit::SelectAll => (self.anchor, self.cursor) = (0, self.text.len()),
            Edit::Newline => self.replace(start, end, "\n"),
            Edit::Backspace => drop(self.delete(Motion::Left)),
            Edit::Delete => drop(self.delete(Motion::Right)),
            Edit::KillWordLeft => self.kill(Motion::WordLeft, follows_kill),
            Edit::KillWordRight => self.kill(Motion::WordRight, follows_kill),
            Edit::KillToStart => self.kill(Motion::LineStart, follows_kill),
            Edit::KillToEnd => {
                let is_at_end = self.cursor == self.target(Motion::LineEnd);
                let motion = if is_at_end {
                    Motion::Right
                } else {
                    Motion::LineEnd
                };
                self.kill(motion, follows_kill);
            }
            Edit::Copy | Edit::Cut if start < end => {
                self.killed.push(self.text[start..end].to_owned());
                if edit == Edit::Cut {
                    self.replace(start, end, "");
                }
            }
            Edit::Yank => {
                if let Some(text) = self.killed.last().cloned() {
                    self.replace(start, end, &text);
                }
            }
            _ => {}
        }
        if matches!(edit, Edit::Move(_)) {
            self.anchor = self.cursor;
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Type(String),
    Paste(String),
    Edit(Edit),
    /// Undoes or redoes up to this many times.
    Undo(u8),
    Redo(u8),
}

fn motion() -> impl Strategy<Value = Motion> {
    use Motion::*;
    prop::sample::select(vec![
        Left, Right, WordLeft, WordRight, LineStart, LineEnd, TextStart, TextEnd,
    ])
}

fn step() -> impl Strategy<Value = Step> {
    use Edit::*;
    let edits = vec![
        SelectAll,
        Newline,
        Backspace,
        Delete,
        KillWordLeft,
        KillWordRight,
        KillToStart,
        KillToEnd,
        Cut,
        Copy,
        Yank,
    ];
    prop_oneof![
        6 => "[a-c 가-나한🇰🇷👩\u{200d}\u{301}\u{1112}\u{1161}\u{600}]{1,2}".prop_map(Step::Type),
        2 => "[a 가\n🇰]{0,30}".prop_map(Step::Paste),
        5 => prop::sample::select(edits).prop_map(Step::Edit),
        3 => motion().prop_map(|motion| Step::Edit(Move(motion))),
        3 => motion().prop_map(|motion| Step::Edit(Select(motion))),
        1 => (1u8..4).prop_map(Step::Undo),
        1 => (1u8..4).prop_map(Step::Redo),
    ]
}

/// The byte offset of a position in the whole text, which has no chips.
fn offset(editor: &Editor, position: TextPosition) -> usize {
    editor.raw_text(TextPosition::default()..position).len()
}

fn apply_step(editor: &mut Editor, simple: &mut SimpleText, step: &Step) {
    match step {
        Step::Type(text) => {
            editor.insert(text);
            let (start, end) = simple.selected();
            simple.replace(start, end, text);
            simple.follows_kill = false;
        }
        Step::Paste(text) => {
            editor.paste(text);
            let (start, end) = simple.selected();
            simple.follows_kill = false;
            match text.lines().count() > chips::PASTE_LINES_MAX {
                // The model has no chips, so the editor must not keep one either.
                true => {
                    editor.unfold();
                    simple.replace(start, end, text);
                    simple.cursor = offset(editor, editor.cursor);
                    simple.anchor = simple.cursor;
                }
                false => simple.replace(start, end, text),
            }
        }
        Step::Edit(edit) => {
            editor.edit(*edit);
            simple.apply(*edit);
        }
        Step::Undo(count) | Step::Redo(count) => {
            let edit = match step {
                Step::Undo(_) => Edit::Undo,
                _ => Edit::Redo,
            };
            for _ in 0..*count {
                editor.edit(edit);
            }
            simple.text = editor.text();
            simple.cursor = offset(editor, editor.cursor);
            simple.anchor = offset(editor, editor.anchor.unwrap_or(editor.cursor));
            simple.follows_kill = false;
        }
    }
}

proptest! {
    #[test]
    fn editor_agrees_with_a_simple_model(
        start in "[a-c 가\n👩]{0,20}",
        steps in prop::collection::vec(step(), 0..60),
        columns in 2u16..20,
    ) {
        let mut editor = Editor::new(&start);
        let mut simple = SimpleText {
            cursor: start.len(),
            anchor: start.len(),
            text: start.clone(),
            ..SimpleText::default()
        };
        let mut seen = vec![start.clone()];
        for step in steps {
            apply_step(&mut editor, &mut simple, &step);
            if matches!(step, Step::Undo(_) | Step::Redo(_)) && !editor.has_chip() {
                prop_assert!(seen.contains(&simple.text), "never had this text");
            }
            if editor.has_chip() {
                while editor.unfold() {}
                simple.text = editor.text();
                simple.cursor = offset(&editor, editor.cursor);
                simple.anchor = simple.cursor;
            }
            prop_assert_eq!(editor.text(), simple.text.clone());
            prop_assert_eq!(offset(&editor, editor.cursor), simple.cursor);
            let anchor = offset(&editor, editor.anchor.unwrap_or(editor.cursor));
            prop_assert_eq!(anchor, simple.anchor);
            // Views are cached, and each edit must keep them right.
            let view = editor.view(columns, 5);
            let mut fresh = Editor { top: editor.top, ..editor.clone() };
            fresh.lines.iter_mut().for_each(|line| line.wrapped = None);
            prop_assert_eq!(view, fresh.view(columns, 5));
            seen.push(simple.text.clone());
        }
        while editor.edit(Edit::Redo) {}
        let last = editor.text();
        while editor.edit(Edit::Undo) {
            let text = editor.text();
            prop_assert!(editor.has_chip() || seen.contains(&text), "never had this text");
        }
        prop_assert_eq!(editor.text(), start);
        while editor.edit(Edit::Redo) {}
        prop_assert_eq!(editor.text(), last);
    }
}
