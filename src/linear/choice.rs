//! Questions that commands ask: a number from a list, yes or no, or a text.

use super::state::Linear;
use crate::headless::tty_reader::{HiddenTyping, TYPE_AHEAD_WINDOW};
use crate::text::Clean;
use tokio::time::Instant;

type Then<T> = Box<dyn FnOnce(&mut Linear, T)>;

pub struct Expected {
    /// The prompt, sanitized when it is printed.
    pub question: String,
    /// A line that was typed or pasted before the question could be read does not count.
    pub is_guarded: bool,
    pub asked_at: Instant,
    /// Set while typed characters are not shown.
    pub hidden_typing: Option<HiddenTyping>,
    answer: ExpectedAnswer,
}

enum ExpectedAnswer {
    Number { count: usize, then: Then<usize> },
    Confirmation { then: Then<()> },
    Text { then: Then<String> },
    HiddenLine { then: Then<String> },
}

impl Expected {
    fn new(question: impl Into<String>, is_guarded: bool, answer: ExpectedAnswer) -> Self {
        Self {
            question: question.into(),
            is_guarded,
            asked_at: Instant::now(),
            hidden_typing: None,
            answer,
        }
    }

    pub fn hides_typing(&self) -> bool {
        matches!(self.answer, ExpectedAnswer::HiddenLine { .. })
    }
}

/// One row of a numbered list.
pub fn numbered(number: usize, name: &str, note: &str) -> String {
    match note.is_empty() {
        true => format!("{number}. {name}"),
        false => format!("{number}. {name}: {note}"),
    }
}

impl Linear {
    /// Prints the rows with numbers from 1 on, and asks for one of them. `keep` names the choice of 0.
    pub fn pick(
        &mut self,
        title: &str,
        keep: &str,
        rows: &[(String, String)],
        then: impl FnOnce(&mut Self, usize) + 'static,
    ) {
        self.say(&format!("{title}:"));
        for (index, (name, note)) in rows.iter().enumerate() {
            let row = Clean::single_line(&numbered(index + 1, name, note));
            self.output.clean_line(&row);
        }
        self.say(&format!("0. {keep}"));
        self.expected = Some(Expected::new(
            format!("Number (0 to {}): ", rows.len()),
            false,
            ExpectedAnswer::Number {
                count: rows.len(),
                then: Box::new(then),
            },
        ));
    }

    /// Asks before something is lost. Only `y` counts as yes.
    pub fn confirm(&mut self, question: &str, then: impl FnOnce(&mut Self) + 'static) {
        let then: Then<()> = Box::new(move |linear, ()| then(linear));
        self.expected = Some(Expected::new(
            format!("{} (y/n) ", Clean::single_line(question)),
            true,
            ExpectedAnswer::Confirmation { then },
        ));
    }

    /// Asks for a text, which may have several lines.
    pub fn ask_text(&mut self, question: &str, then: impl FnOnce(&mut Self, String) + 'static) {
        let then = Box::new(then);
        let question = Clean::single_line(question).as_str().to_owned();
        self.expected = Some(Expected::new(
            question,
            false,
            ExpectedAnswer::Text { then },
        ));
    }

    /// Asks for one line, which the terminal does not show.
    pub fn ask_hidden(&mut self, question: &str, then: impl FnOnce(&mut Self, String) + 'static) {
        let answer = ExpectedAnswer::HiddenLine {
            then: Box::new(then),
        };
        self.expected = Some(Expected::new(question, true, answer));
    }

    /// Handles a line that was typed while a question of a command was open.
    pub fn answer_expected(&mut self, lines: Vec<String>, was_asked: bool) {
        let Some(expected) = self.expected.take() else {
            return;
        };
        if let ExpectedAnswer::Text { then } = expected.answer {
            // Several lines are assembled as in a message.
            return match self.message.push(lines) {
                Some(text) => then(self, text),
                None => {
                    let answer = ExpectedAnswer::Text { then };
                    self.expected = Some(Expected::new("... ", false, answer));
                }
            };
        }
        let is_early = !was_asked || expected.asked_at.elapsed() < TYPE_AHEAD_WINDOW;
        let [line] = lines.as_slice() else {
            self.say("(Ignored: that was pasted.)");
            self.expected = Some(expected);
            return;
        };
        if expected.is_guarded && is_early {
            self.say("(Ignored: typed before the question could be read.)");
            self.expected = Some(expected);
            return;
        }
        let typed = line.trim();
        match expected.answer {
            ExpectedAnswer::Confirmation { then } => match typed.to_lowercase().as_str() {
                "y" | "yes" | "ㅛ" => then(self, ()),
                "n" | "no" | "ㅜ" | "" => self.say("Nothing was changed."),
                _ => self.confirm_again(expected.question, then),
            },
            ExpectedAnswer::Number { .. } if typed.starts_with('/') => self.run_command(typed),
            ExpectedAnswer::Number { count, then } => match typed.parse::<usize>() {
                Ok(0) => self.say("Nothing was changed."),
                Ok(number) if number <= count => then(self, number - 1),
                _ if typed.is_empty() => self.say("Nothing was changed."),
                _ => {
                    self.say(&format!("Please enter a number from 0 to {count}."));
                    let answer = ExpectedAnswer::Number { count, then };
                    self.expected = Some(Expected::new(expected.question, false, answer));
                }
            },
            ExpectedAnswer::HiddenLine { then } => then(self, line.clone()),
            ExpectedAnswer::Text { .. } => {}
        }
    }

    fn confirm_again(&mut self, question: String, then: Then<()>) {
        self.say("Please type y or n.");
        let answer = ExpectedAnswer::Confirmation { then };
        self.expected = Some(Expected::new(question, true, answer));
    }
}
