//! Questions that commands ask: a number from a list, yes or no, or a text.

use super::state::Linear;
use crate::headless::tty_reader::{HiddenTyping, TtyReader};
use crate::text::Clean;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

type Then<T> = Box<dyn FnOnce(&mut Linear, T)>;

pub struct Expected {
    /// The prompt, sanitized when it is printed.
    pub question: String,
    /// Set while typed characters are not shown.
    pub hidden_typing: Option<HiddenTyping>,
    answer: ExpectedAnswer,
}

/// A confirmation that the user can answer at the moment. A separate task asks it, so that Ctrl+C still
/// works.
#[derive(Default)]
pub struct OpenConfirmation(Option<AbortOnDropHandle<Option<String>>>);

enum ExpectedAnswer {
    Number { count: usize, then: Then<usize> },
    Confirmation { then: Then<()> },
    Text { then: Then<String> },
    HiddenLine { then: Then<String> },
}

impl Expected {
    fn new(question: impl Into<String>, answer: ExpectedAnswer) -> Self {
        Self {
            question: question.into(),
            hidden_typing: None,
            answer,
        }
    }

    pub fn hides_typing(&self) -> bool {
        matches!(self.answer, ExpectedAnswer::HiddenLine { .. })
    }

    pub fn is_confirmation(&self) -> bool {
        matches!(self.answer, ExpectedAnswer::Confirmation { .. })
    }
}

impl OpenConfirmation {
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub fn open(&mut self, tty: Arc<TtyReader>, question: String) {
        let task = tokio::spawn(async move { tty.ask(&question).await });
        self.0 = Some(AbortOnDropHandle::new(task));
    }

    /// Withdraws the question. Returns whether one was open.
    pub fn close(&mut self) -> bool {
        self.0.take().is_some()
    }

    /// Waits for the answer, or forever without a question. `None` for Ctrl+D. Cancel-safe.
    pub async fn answer(&mut self) -> Option<String> {
        let Some(task) = &mut self.0 else {
            return std::future::pending().await;
        };
        let answer = task.await;
        self.0 = None;
        answer.ok().flatten()
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
            ExpectedAnswer::Confirmation { then },
        ));
    }

    /// Asks for a text, which may have several lines.
    pub fn ask_text(&mut self, question: &str, then: impl FnOnce(&mut Self, String) + 'static) {
        let then = Box::new(then);
        let question = Clean::single_line(question).as_str().to_owned();
        self.expected = Some(Expected::new(question, ExpectedAnswer::Text { then }));
    }

    /// Asks for one line, which the terminal does not show.
    pub fn ask_hidden(&mut self, question: &str, then: impl FnOnce(&mut Self, String) + 'static) {
        let answer = ExpectedAnswer::HiddenLine {
            then: Box::new(then),
        };
        self.expected = Some(Expected::new(question, answer));
    }

    /// Handles a line that was typed while a question of a command was open.
    pub fn answer_expected(&mut self, lines: Vec<String>) {
        let Some(expected) = self.expected.take() else {
            return;
        };
        if let ExpectedAnswer::Text { then } = expected.answer {
            // Several lines are assembled as in a message.
            return match self.message.push(lines) {
                Some(text) => then(self, text),
                None => {
                    let answer = ExpectedAnswer::Text { then };
                    self.expected = Some(Expected::new("... ", answer));
                }
            };
        }
        let [line] = lines.as_slice() else {
            self.say("(Ignored: that was pasted.)");
            self.expected = Some(expected);
            return;
        };
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
                    self.expected = Some(Expected::new(expected.question, answer));
                }
            },
            ExpectedAnswer::HiddenLine { then } => then(self, line.clone()),
            ExpectedAnswer::Text { .. } => {}
        }
    }

    /// Lets the user answer the confirmation. Pasted text confirms nothing.
    pub fn open_confirmation(&mut self, question: String) {
        self.output.hold();
        self.confirmation.open(Arc::clone(&self.tty), question);
    }

    pub fn confirmation_answered(&mut self, line: Option<String>) {
        self.output.release();
        match line {
            Some(line) => self.answer_expected(vec![line]),
            None => {
                self.expected = None;
                self.say("Nothing was changed.");
            }
        }
        self.ask_waiting();
    }

    fn confirm_again(&mut self, question: String, then: Then<()>) {
        self.say("Please type y or n.");
        let answer = ExpectedAnswer::Confirmation { then };
        self.expected = Some(Expected::new(question, answer));
    }
}
