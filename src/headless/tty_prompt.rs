//! Asks questions on the terminal. Without a terminal, picks the safe answer.

use super::advice;
use super::tty_form;
use super::tty_pages::print_pages;
use super::tty_reader::{COLUMNS_DEFAULT, TtyReader};
use crate::domain::{AskId, Decision, Notice};
use crate::protocol::{CallToApprove, ChoiceRow, Question, UserAnswer, UserChoice};
use crate::questions::rows::block_rows;
use crate::text::styled_line::StyledLine;
use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// The answer to a question, and a line that reports the answer, if one is needed.
type TtyAnswer = (AskId, UserAnswer, Option<String>);

/// The controlling terminal, which works even if standard input is a pipe.
pub struct TtyPrompt {
    tty: Option<Arc<TtyReader>>,
    /// The open question. A separate task asks it, so that Ctrl+C still works.
    open_question: Option<(AskId, AbortOnDropHandle<TtyAnswer>)>,
    /// Questions that arrived while another one was open.
    waiting: VecDeque<WaitingQuestion>,
    /// The wording of advice.
    notice_line: fn(&Notice) -> String,
    /// Whether questions without a default choice are asked, too.
    asks_all: bool,
}

struct WaitingQuestion {
    ask: AskId,
    question: Question,
    calls: CallTexts,
    notice_line: fn(&Notice) -> String,
}

/// What is shown of the calls of an approval.
#[derive(Debug, Default)]
pub struct CallTexts {
    /// Each call in full.
    pub summaries: Vec<String>,
    /// No flag would have avoided the question.
    pub always_needs_approval: bool,
    /// Further choices of each call; none where this is shorter.
    pub extra_choices: Vec<ExtraCallChoices>,
}

/// Choices that only some calls have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtraCallChoices {
    /// `u`: the call repeats an earlier one, whose result can be used.
    pub reuses_result: bool,
    /// `t`: the model wrote the call as text.
    pub can_be_text: bool,
}

impl TtyPrompt {
    pub fn open() -> Self {
        let is_interactive = io::stderr().is_terminal();
        let tty = is_interactive.then(|| TtyReader::open().ok()).flatten();
        Self {
            tty: tty.map(Arc::new),
            open_question: None,
            waiting: VecDeque::new(),
            notice_line: advice::notice_line,
            asks_all: false,
        }
    }

    /// Asks on a terminal that is already being read.
    pub fn on(tty: Arc<TtyReader>, notice_line: fn(&Notice) -> String) -> Self {
        Self {
            tty: Some(tty),
            open_question: None,
            waiting: VecDeque::new(),
            notice_line,
            asks_all: true,
        }
    }

    /// The open question, if any.
    pub fn open_question(&self) -> Option<AskId> {
        self.open_question.as_ref().map(|(ask, _)| *ask)
    }

    pub fn is_available(&self) -> bool {
        self.tty.is_some()
    }

    /// The width of the terminal, or a default.
    pub fn columns(&self) -> u16 {
        self.tty
            .as_ref()
            .map_or(COLUMNS_DEFAULT, |tty| tty.columns())
    }

    /// Opens a question, or queues it while another is open.
    pub fn ask(&mut self, ask: AskId, question: Question, calls: CallTexts) {
        self.waiting.push_back(WaitingQuestion {
            ask,
            question,
            calls,
            notice_line: self.notice_line,
        });
        self.open_next();
    }

    fn open_next(&mut self) {
        if self.open_question.is_some() {
            return;
        }
        let Some(waiting) = self.waiting.pop_front() else {
            return;
        };
        let question = &waiting.question;
        let is_asked = self.asks_all || question.default.is_some();
        let tty = self.tty.clone().filter(|_| is_asked);
        let ask = waiting.ask;
        let task = tokio::spawn(async move {
            let (answer, report) = ask_question(tty, &waiting).await;
            (ask, answer, report)
        });
        self.open_question = Some((ask, AbortOnDropHandle::new(task)));
    }

    pub fn close(&mut self, ask: AskId) {
        self.waiting.retain(|waiting| waiting.ask != ask);
        if self
            .open_question
            .as_ref()
            .is_some_and(|(open, _)| *open == ask)
        {
            self.open_question = None;
            // What follows must not continue the line of the question.
            if self.is_available() {
                eprintln!();
            }
            self.open_next();
        }
    }

    /// Waits for the answer to the open question, or forever if none is open. Cancel-safe.
    pub async fn next_answer(&mut self) -> TtyAnswer {
        if let Some((_, task)) = &mut self.open_question {
            let result = task.await;
            self.open_question = None;
            self.open_next();
            if let Ok(answer) = result {
                return answer;
            }
        }
        std::future::pending().await
    }
}

async fn ask_question(
    tty: Option<Arc<TtyReader>>,
    waiting: &WaitingQuestion,
) -> (UserAnswer, Option<String>) {
    let question = &waiting.question;
    if !question.calls().is_empty() {
        return ask_about_calls(tty, question.calls(), &waiting.calls).await;
    }
    let Some(tty) = tty else {
        return answer_without_terminal(question);
    };
    let rows = question_rows(question, tty.columns(), waiting.notice_line);
    let choices = asked_choices(question);
    if !print_pages(&tty, &rows.join("\n"), choices.len()).await {
        let refusal = question.choices.iter().find(|row| row.key == 'n');
        let refusal = refusal.map(|row| UserAnswer::Choice(row.choice));
        return (refusal.unwrap_or(UserAnswer::Dismissed), None);
    }
    match question.form() {
        Some(form) => tty_form::ask_form(&tty, question, form).await,
        None => ask_choice(&tty, question, &choices).await,
    }
}

/// What a question is about, as rows of text.
pub fn question_rows(
    question: &Question,
    columns: u16,
    notice_line: fn(&Notice) -> String,
) -> Vec<String> {
    let rows = block_rows(&question.blocks, columns, notice_line);
    // A blank at the end of a row could be wrapped onto a row of its own.
    let rows = rows.iter().map(StyledLine::text);
    rows.map(|row| row.trim_end().to_owned()).collect()
}

/// The safe answer, and a line that says so.
pub(super) fn answer_without_terminal(question: &Question) -> (UserAnswer, Option<String>) {
    let summary = question.summary();
    match question.default {
        Some(choice) => {
            let chosen = chosen(question, choice);
            let report = format!("{summary} There is no terminal to ask on. {chosen}");
            (UserAnswer::Choice(choice), Some(report))
        }
        None => {
            let report = format!("{summary} Start `humble` to decide.");
            (UserAnswer::Dismissed, Some(report))
        }
    }
}

fn chosen(question: &Question, choice: UserChoice) -> String {
    let row = question.choices.iter().find(|row| row.choice == choice);
    format!("Chosen: {}.", row.map_or("", |row| row.label))
}

async fn ask_about_calls(
    tty: Option<Arc<TtyReader>>,
    calls: &[CallToApprove],
    texts: &CallTexts,
) -> (UserAnswer, Option<String>) {
    let Some(tty) = tty else {
        let deny = |call: &CallToApprove| (call.call, Decision::Deny { message: None });
        let report = if texts.always_needs_approval {
            "Denied: there is no terminal to ask on, and this call always needs approval."
        } else {
            "Denied: there is no terminal to ask on (--yes runs tools without asking)."
        };
        return (
            UserAnswer::Calls(calls.iter().map(deny).collect()),
            Some(report.to_owned()),
        );
    };
    let mut decisions = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let position = match calls.len() {
            1 => String::new(),
            count => format!("{} of {count}: ", index + 1),
        };
        let summary = texts.summaries.get(index).map_or("", String::as_str);
        let decision = match print_pages(&tty, summary, 0).await {
            true => {
                let extra = texts.extra_choices.get(index).copied();
                ask_approval(&tty, &position, extra.unwrap_or_default()).await
            }
            false => Decision::Refuse,
        };
        let is_refusal = decision == Decision::Refuse;
        decisions.push((call.call, decision));
        if is_refusal {
            break;
        }
    }
    (UserAnswer::Calls(decisions), None)
}

/// End of input counts as a refusal.
async fn ask_approval(tty: &TtyReader, position: &str, extra: ExtraCallChoices) -> Decision {
    let question = format!("{position}Call now? (Y/N) ");
    loop {
        let Some(line) = tty.ask(&question).await else {
            return Decision::Refuse;
        };
        match parse_decision(&line).or_else(|| parse_extra_decision(&line, extra)) {
            Some(decision) => return decision,
            None => eprintln!(
                "y: run it. n: refuse and stop. d, optionally with a reason for the model: deny and continue. s: allow it for this session. 6: always allow this tool. 7: always allow its server. 9: block this tool."
            ),
        }
    }
}

/// Parses a whole line as a decision; a line that only starts like one is rejected. A letter of the
/// Korean two-set keyboard layout counts as the Latin letter on the same key.
fn parse_decision(line: &str) -> Option<Decision> {
    let line = line.trim();
    match line.to_lowercase().as_str() {
        "y" | "yes" | "1" | "ㅛ" => return Some(Decision::Run),
        "n" | "no" | "2" | "ㅜ" => return Some(Decision::Refuse),
        "s" | "5" | "ㄴ" => return Some(Decision::RunForSession),
        "6" => return Some(Decision::RunAlways),
        "7" => return Some(Decision::RunWholeServer),
        "9" => return Some(Decision::Never),
        _ => {}
    }
    let (key, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let message = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    matches!(key, "d" | "D" | "3" | "ㅇ").then_some(Decision::Deny { message })
}

fn parse_extra_decision(line: &str, extra: ExtraCallChoices) -> Option<Decision> {
    match line.trim().to_lowercase().as_str() {
        "u" | "ㅕ" if extra.reuses_result => Some(Decision::ReuseResult),
        "t" | "ㅅ" if extra.can_be_text => Some(Decision::TreatAsText),
        _ => None,
    }
}

/// The choices that answer the question; a form is filled in instead.
fn asked_choices(question: &Question) -> Vec<ChoiceRow> {
    let choices = question.choices.iter();
    let choices = choices.filter(|row| !row.choice.is_for_screen() && question.form().is_none());
    choices.copied().collect()
}

async fn ask_choice(
    tty: &TtyReader,
    question: &Question,
    rows: &[ChoiceRow],
) -> (UserAnswer, Option<String>) {
    for (index, row) in rows.iter().enumerate() {
        eprintln!("  {}  {}  {}", index + 1, row.key, row.label);
    }
    let prompt = format!("{} (1-{}) ", question.prompt, rows.len());
    let chosen_row = loop {
        // The end of input leaves the choice to the question. An empty line may be meant for the page
        // before.
        let Some(line) = tty.ask(&prompt).await else {
            break None;
        };
        if let Some(row) = find_row(rows, &line) {
            break Some(row);
        }
    };
    match chosen_row.map(|row| row.choice).or(question.default) {
        Some(choice) => (UserAnswer::Choice(choice), Some(chosen(question, choice))),
        None => (UserAnswer::Dismissed, None),
    }
}

/// The choice that a line names by its number or one of its keys.
fn find_row<'a>(rows: &'a [ChoiceRow], line: &str) -> Option<&'a ChoiceRow> {
    let line = line.trim().to_lowercase();
    let by_number = line.parse::<usize>().ok();
    let by_number = by_number.and_then(|n| rows.get(n.checked_sub(1)?));
    by_number.or_else(|| {
        let is_key = |key: char| key != ' ' && line == key.to_string();
        rows.iter().find(|row| is_key(row.key) || is_key(row.alias))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_known_answers_to_an_approval_are_accepted() {
        for line in ["y", "Y", "yes", " 1 ", "ㅛ"] {
            assert_eq!(parse_decision(line), Some(Decision::Run), "{line}");
        }
        let permanent = ["6", "7", "9"].map(parse_decision);
        let expected = [
            Decision::RunAlways,
            Decision::RunWholeServer,
            Decision::Never,
        ];
        assert_eq!(permanent, expected.map(Some));
        for line in [
            "stop", "8", "66", "yikes", "yn", "123", "so what", "dont", "ㅛ ㅜ", "", "never",
        ] {
            assert_eq!(parse_decision(line), None, "{line}");
        }
    }

    #[test]
    fn a_call_without_further_choices_has_none() {
        let parsed = |line, reuses_result, can_be_text| {
            let extra = ExtraCallChoices {
                reuses_result,
                can_be_text,
            };
            parse_extra_decision(line, extra)
        };
        assert_eq!(parsed("u", true, false), Some(Decision::ReuseResult));
        assert_eq!(parsed("ㅅ", false, true), Some(Decision::TreatAsText));
        assert_eq!(parsed("t", true, false), None);
        assert_eq!(parsed("u", false, true), None);
    }

    #[test]
    fn a_denial_typed_in_a_terminal_includes_the_rest_of_the_line() {
        let deny = |message: Option<&str>| {
            Some(Decision::Deny {
                message: message.map(str::to_owned),
            })
        };
        assert_eq!(parse_decision("d"), deny(None));
        assert_eq!(parse_decision("d 다른 폴더"), deny(Some("다른 폴더")));
        assert_eq!(parse_decision("ㅇ  later "), deny(Some("later")));
    }
}
