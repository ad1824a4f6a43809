//! Questions on the terminal, a line each; without one, the safe answer.

use crate::domain::{AskId, Decision, Dialect};
use crate::protocol::{Ask, CallToApprove, UserAnswer, UserChoice};
use crate::text::Clean;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, mpsc};
use tokio_util::task::AbortOnDropHandle;

/// Lines typed while nobody asks.
const LINES_MAX: usize = 64;
/// A line that comes sooner was typed before its question was read.
const TYPE_AHEAD_WINDOW: Duration = Duration::from_millis(500);
/// A terminal that tells no width, or none that anything fits into, is this wide.
const COLUMNS_DEFAULT: u16 = 80;
const COLUMNS_MIN: u16 = 12;

/// What came of a question: the answer, and a line that says what was taken where
/// that is not plain.
type TtyAnswer = (AskId, UserAnswer, Option<String>);

/// The terminal of the person, who may have piped something into standard input.
pub struct TtyPrompt {
    tty: Option<Arc<TtyReader>>,
    /// The open question. It is asked beside everything else, so that Ctrl+C is
    /// heard meanwhile.
    open_question: Option<(AskId, AbortOnDropHandle<TtyAnswer>)>,
}

/// One thread reads the terminal for as long as the program runs: a read cannot be
/// cancelled, and two readers would take each other's lines.
struct TtyReader {
    file: File,
    lines: Mutex<mpsc::Receiver<String>>,
}

impl TtyPrompt {
    pub fn open() -> Self {
        let asks = io::stderr().is_terminal();
        let tty = asks.then(|| TtyReader::open().ok()).flatten();
        Self {
            tty: tty.map(Arc::new),
            open_question: None,
        }
    }

    /// Is there somebody to ask?
    pub fn is_available(&self) -> bool {
        self.tty.is_some()
    }

    /// The width of the terminal, or a usual one where it does not tell.
    pub fn columns(&self) -> u16 {
        let size = self
            .tty
            .as_ref()
            .and_then(|tty| tcgetwinsize(&tty.file).ok());
        let columns = size.map_or(0, |size| size.ws_col);
        if columns < COLUMNS_MIN {
            COLUMNS_DEFAULT
        } else {
            columns
        }
    }

    /// Asks; `summaries` are the calls in full, where it is about calls, and
    /// `asks_always` that no flag would have kept it from asking.
    pub fn ask(&mut self, ask: AskId, question: Ask, summaries: Vec<String>, asks_always: bool) {
        let tty = self.tty.clone();
        let task = tokio::spawn(async move {
            let (answer, said) = ask_question(tty, &question, &summaries, asks_always).await;
            (ask, answer, said)
        });
        self.open_question = Some((ask, AbortOnDropHandle::new(task)));
    }

    pub fn close(&mut self, ask: AskId) {
        if self
            .open_question
            .as_ref()
            .is_some_and(|(open, _)| *open == ask)
        {
            self.open_question = None;
        }
    }

    /// Waits for the open question's answer; for ever where there is none. Safe to
    /// drop while it waits.
    pub async fn next_answer(&mut self) -> TtyAnswer {
        if let Some((_, task)) = &mut self.open_question {
            let answered = task.await;
            self.open_question = None;
            if let Ok(answered) = answered {
                return answered;
            }
        }
        std::future::pending().await
    }
}

impl TtyReader {
    fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let from = file.try_clone()?;
        let (line, lines) = mpsc::channel(LINES_MAX);
        std::thread::spawn(move || {
            for read in BufReader::new(from).lines() {
                // Whoever types on while nobody asks loses what is too much.
                if read.is_err() || line.blocking_send(read.unwrap_or_default()).is_err() {
                    return;
                }
            }
        });
        let lines = Mutex::new(lines);
        Ok(Self { file, lines })
    }

    /// Asks, and waits for a line that was typed after the question could be read:
    /// what was typed ahead, or pasted, answers nothing (S7.4). None at the end of
    /// input.
    async fn ask(&self, question: &str) -> Option<String> {
        let mut lines = self.lines.lock().await;
        loop {
            // Where it fails the check of the time below is left.
            let _ = tcflush(&self.file, QueueSelector::IFlush);
            while lines.try_recv().is_ok() {}
            (&self.file).write_all(question.as_bytes()).ok()?;
            let asked = Instant::now();
            let line = lines.recv().await?;
            if asked.elapsed() >= TYPE_AHEAD_WINDOW {
                return Some(line);
            }
            eprintln!("(That was typed before the question could be read.)");
        }
    }
}

async fn ask_question(
    tty: Option<Arc<TtyReader>>,
    question: &Ask,
    summaries: &[String],
    asks_always: bool,
) -> (UserAnswer, Option<String>) {
    let calls = match question {
        Ask::ApproveCalls(calls) => calls,
        // What cannot be read here whole is decided where it can.
        Ask::PinChanged(_) | Ask::SendInstructions { .. } => {
            return (UserAnswer::Dismissed, Some(question_text(question)));
        }
        _ => return ask_choice(tty, question).await,
    };
    let Some(tty) = tty else {
        let deny = |call: &CallToApprove| (call.call, Decision::Deny { message: None });
        let said = if asks_always {
            "Denied: there is no terminal to ask on, and nothing lets such a call run unasked."
        } else {
            "Denied: there is no terminal to ask on (--yes runs tools unasked)."
        };
        return (
            UserAnswer::Calls(calls.iter().map(deny).collect()),
            Some(said.to_owned()),
        );
    };
    let mut decisions = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        if let Some(summary) = summaries.get(index) {
            eprintln!("{summary}");
        }
        let place = match calls.len() {
            1 => String::new(),
            count => format!("{} of {count}: ", index + 1),
        };
        let decision = ask_approval(&tty, &place).await;
        let refused = decision == Decision::Refuse;
        decisions.push((call.call, decision));
        if refused {
            break;
        }
    }
    (UserAnswer::Calls(decisions), None)
}

/// Asks about one call. The end of input refuses it.
async fn ask_approval(tty: &TtyReader, place: &str) -> Decision {
    let question = format!("{place}Call now? (Y/N) ");
    loop {
        let Some(line) = tty.ask(&question).await else {
            return Decision::Refuse;
        };
        match parse_decision(&line) {
            Some(decision) => return decision,
            None => eprintln!(
                "y runs it; n refuses it and ends; d, with a word to the model if you like, denies it and goes on; s runs it from now on. 6 allows this tool for good, 7 its whole server, 9 rules the tool out."
            ),
        }
    }
}

/// What a whole line means. Hangul two-set letters count as the key they lie on;
/// anything that only begins like an answer is none.
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
    let (key, word) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = Some(word.trim().to_owned()).filter(|word| !word.is_empty());
    matches!(key, "d" | "D" | "3" | "ㅇ").then_some(Decision::Deny { message: word })
}

async fn ask_choice(tty: Option<Arc<TtyReader>>, question: &Ask) -> (UserAnswer, Option<String>) {
    let rows = question.choices();
    let words = question_text(question);
    let line = match &tty {
        None => None,
        Some(tty) => {
            for (index, row) in rows.iter().enumerate() {
                eprintln!("  {}  {}  {}", index + 1, row.key, row.label);
            }
            tty.ask(&format!("{words} (1-{}) ", rows.len())).await
        }
    };
    let chosen = line.and_then(|line| {
        let line = line.trim().to_lowercase();
        let by_number = line.parse::<usize>().ok();
        let by_number = by_number.and_then(|n| rows.get(n.checked_sub(1)?));
        by_number.or_else(|| rows.iter().find(|row| line == row.key.to_string()))
    });
    let choice = chosen.map_or_else(|| default_choice(question), |row| row.choice);
    let row = rows.iter().find(|row| row.choice == choice);
    let label = row.map_or("", |row| row.label);
    (
        UserAnswer::Choice(choice),
        Some(format!("{words} Chosen: {label}.")),
    )
}

/// What happened, in a few words.
fn question_text(question: &Ask) -> String {
    match question {
        Ask::ApproveCalls(_) => "The model asks for tools.".to_owned(),
        Ask::InvalidCall { .. } => "The model's tool call cannot be used again.".to_owned(),
        Ask::AfterError { .. } => "The model asks for more tools after a failed one.".to_owned(),
        Ask::Stalled { seconds } => format!("Nothing came from the model for {seconds} s."),
        Ask::AddModel { name, server } => {
            format!(
                "{} has `{name}`, which config.json does not list.",
                server.url
            )
        }
        Ask::RemoveModel {
            name,
            server,
            is_in_use,
            ..
        } => {
            let used = if *is_in_use {
                ", the model in use,"
            } else {
                ""
            };
            format!("`{name}`{used} would be removed from {}.", server.url)
        }
        Ask::RoundLimit {
            was_extended: true, ..
        } => "The model was told to answer now, and asks for tools all the same.".to_owned(),
        Ask::RoundLimit { rounds, .. } => format!("The model used tools in {rounds} rounds."),
        Ask::GrowContext { estimate, from, to } => format!(
            "About {estimate} tokens are to be sent; the context has {from} and would grow to {to} (`options.num_ctx` allows it)."
        ),
        Ask::StoreDialect { report, to } => {
            let dialect = to.map_or("", Dialect::name);
            let name = Clean::single_line(&report.model.name);
            format!("Store `{dialect}` as `toolCalls` of {}?", name.as_str())
        }
        Ask::ExternalEdit(_) => "The settings were changed from outside.".to_owned(),
        Ask::ReplacePrompt { .. } => "The system prompt is an older one.".to_owned(),
        Ask::UnfinishedTurn(_) => "An earlier turn was not finished.".to_owned(),
        Ask::ConfirmDiscard { .. } => "It would be discarded.".to_owned(),
        Ask::PinChanged(change) => {
            let (tool, server) = (&change.tool.name, &change.server);
            Clean::single_line(&format!(
                "`{tool}` of {server} is not what was accepted; humble itself shows the difference."
            ))
            .as_str()
            .to_owned()
        }
        Ask::SendInstructions { server, .. } => {
            Clean::single_line(&format!("{server} has instructions for the model."))
                .as_str()
                .to_owned()
        }
    }
}

fn default_choice(question: &Ask) -> UserChoice {
    match question {
        Ask::RoundLimit {
            was_extended: false,
            ..
        } => UserChoice::AnswerNow,
        // JSON that names no tool may be the very answer that was asked for.
        Ask::InvalidCall { raw, .. } if raw.starts_with(['{', '[']) => UserChoice::AsText,
        Ask::ExternalEdit(_) | Ask::ReplacePrompt { .. } => UserChoice::Stop,
        Ask::UnfinishedTurn(_) | Ask::ConfirmDiscard { .. } => UserChoice::KeepForLater,
        _ => UserChoice::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_answers_are_rejected() {
        for line in ["y", "Y", "yes", " 1 ", "ㅛ"] {
            assert_eq!(parse_decision(line), Some(Decision::Run), "{line}");
        }
        let lasting = ["6", "7", "9"].map(parse_decision);
        let expected = [
            Decision::RunAlways,
            Decision::RunWholeServer,
            Decision::Never,
        ];
        assert_eq!(lasting, expected.map(Some));
        for line in [
            "stop", "8", "66", "yikes", "yn", "123", "so what", "dont", "ㅛ ㅜ", "", "never",
        ] {
            assert_eq!(parse_decision(line), None, "{line}");
        }
    }

    #[test]
    fn a_denial_carries_the_rest_of_the_line() {
        let deny = |word: Option<&str>| {
            Some(Decision::Deny {
                message: word.map(str::to_owned),
            })
        };
        assert_eq!(parse_decision("d"), deny(None));
        assert_eq!(parse_decision("d 다른 폴더"), deny(Some("다른 폴더")));
        assert_eq!(parse_decision("ㅇ  later "), deny(Some("later")));
    }
}
