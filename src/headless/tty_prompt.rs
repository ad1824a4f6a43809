//! Asks questions on the terminal. Without a terminal, picks the safe answer.

use super::question_text::{default_choice, question_text};
use super::tty_form;
use super::tty_pages::print_pages;
use super::tty_reader::{COLUMNS_DEFAULT, TtyReader};
use super::tty_sampling;
use crate::domain::{AskId, Decision};
use crate::protocol::{Ask, CallToApprove, ChoiceRow, UserAnswer};
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
}

struct WaitingQuestion {
    ask: AskId,
    question: Ask,
    summaries: Vec<String>,
    always_needs_approval: bool,
    /// Further choices of each call; none where this is shorter.
    extra_choices: Vec<ExtraCallChoices>,
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
        }
    }

    /// Asks on a terminal that is already being read.
    pub fn on(tty: Arc<TtyReader>) -> Self {
        Self {
            tty: Some(tty),
            open_question: None,
            waiting: VecDeque::new(),
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

    /// Opens a question, or queues it while another is open. If it is about calls, `summaries`
    /// describes each call in full. For other questions, they are shown before the choices.
    /// `always_needs_approval` means that no flag would have avoided the question.
    pub fn ask(
        &mut self,
        ask: AskId,
        question: Ask,
        summaries: Vec<String>,
        always_needs_approval: bool,
    ) {
        self.waiting.push_back(WaitingQuestion {
            ask,
            question,
            summaries,
            always_needs_approval,
            extra_choices: Vec::new(),
        });
        self.open_next();
    }

    /// Like [`Self::ask`], for questions about calls with further choices.
    pub fn ask_with_choices(
        &mut self,
        ask: AskId,
        question: Ask,
        summaries: Vec<String>,
        extra_choices: Vec<ExtraCallChoices>,
    ) {
        self.waiting.push_back(WaitingQuestion {
            ask,
            question,
            summaries,
            always_needs_approval: false,
            extra_choices,
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
        let tty = self.tty.clone();
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
    let WaitingQuestion {
        question,
        summaries,
        always_needs_approval,
        ..
    } = waiting;
    let calls = match question {
        Ask::FillForm { server, form } => return tty_form::ask_form(tty, server, form).await,
        Ask::VisitPage { server, page } => return tty_form::ask_page(tty, server, page).await,
        Ask::AskModel {
            server,
            request,
            model,
        } => return tty_sampling::ask_model(tty, server, request, model).await,
        Ask::SendModelAnswer { server, answer } => {
            return tty_sampling::send_answer(tty, server, answer).await;
        }
        Ask::ApproveCalls(calls) => calls,
        // The user must see the full text first, which `humble ask` does not show.
        Ask::PinChanged(_) | Ask::SendInstructions { .. } if summaries.is_empty() => {
            return (UserAnswer::Dismissed, Some(question_text(question)));
        }
        _ => {
            if let Some(tty) = &tty
                && !print_pages(tty, &summaries.join("\n")).await
            {
                return (UserAnswer::Dismissed, None);
            }
            return ask_choice(tty, question).await;
        }
    };
    let Some(tty) = tty else {
        let deny = |call: &CallToApprove| (call.call, Decision::Deny { message: None });
        let report = if *always_needs_approval {
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
        let summary = summaries.get(index).map_or("", String::as_str);
        let decision = match print_pages(&tty, summary).await {
            true => {
                let extra = waiting.extra_choices.get(index).copied();
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

async fn ask_choice(tty: Option<Arc<TtyReader>>, question: &Ask) -> (UserAnswer, Option<String>) {
    let rows = question.choices();
    let text = question_text(question);
    let chosen = match &tty {
        None => None,
        Some(tty) => {
            for (index, row) in rows.iter().enumerate() {
                eprintln!("  {}  {}  {}", index + 1, row.key, row.label);
            }
            let prompt = format!("{text} (1-{}) ", rows.len());
            loop {
                // Neither the end of input nor an empty line chooses anything.
                let line = tty.ask(&prompt).await.unwrap_or_default();
                let row = find_row(rows, &line);
                if row.is_some() || line.trim().is_empty() {
                    break row.map(|row| row.choice);
                }
            }
        }
    };
    let choice = chosen.unwrap_or_else(|| default_choice(question));
    let row = rows.iter().find(|row| row.choice == choice);
    let label = row.map_or("", |row| row.label);
    (
        UserAnswer::Choice(choice),
        Some(format!("{text} Chosen: {label}.")),
    )
}

/// The choice that a line names by its number or one of its keys.
fn find_row(rows: &'static [ChoiceRow], line: &str) -> Option<&'static ChoiceRow> {
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
