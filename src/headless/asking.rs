//! Questions on the terminal, a line each; without one, the safe answer.

use crate::domain::{AskId, Decision};
use crate::protocol::{Answer, Ask, Choice};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// What came of a question: the answer, and a line that says what was taken where
/// that is not plain.
type Answered = (AskId, Answer, Option<String>);

/// The terminal of the person, who may have piped something into standard input.
pub struct Terminal {
    tty: Option<Arc<File>>,
    /// The open question. It is asked beside everything else, so that Ctrl+C is
    /// heard meanwhile.
    asking: Option<(AskId, AbortOnDropHandle<Answered>)>,
}

impl Terminal {
    pub fn open() -> Self {
        let asks = io::stderr().is_terminal();
        let open = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open("/dev/tty")
                .ok()
        };
        Self {
            tty: asks.then(open).flatten().map(Arc::new),
            asking: None,
        }
    }

    pub fn ask(&mut self, ask: AskId, question: Ask) {
        let tty = self.tty.clone();
        let task = tokio::spawn(async move {
            let (answer, said) = answer(tty, &question).await;
            (ask, answer, said)
        });
        self.asking = Some((ask, AbortOnDropHandle::new(task)));
    }

    pub fn close(&mut self, ask: AskId) {
        if self.asking.as_ref().is_some_and(|(open, _)| *open == ask) {
            self.asking = None;
        }
    }

    /// Waits for the open question's answer; for ever where there is none. Safe to
    /// drop while it waits.
    pub async fn answered(&mut self) -> Answered {
        if let Some((_, task)) = &mut self.asking {
            let answered = task.await;
            self.asking = None;
            if let Ok(answered) = answered {
                return answered;
            }
        }
        std::future::pending().await
    }
}

async fn answer(tty: Option<Arc<File>>, question: &Ask) -> (Answer, Option<String>) {
    let Ask::Approve(calls) = question else {
        return choose(tty, question).await;
    };
    let Some(tty) = tty else {
        let deny = |call: &crate::protocol::ApproveCall| (call.call, Decision::Deny { word: None });
        let said = "Denied: there is no terminal to ask on (--yes runs tools unasked).";
        return (
            Answer::Calls(calls.iter().map(deny).collect()),
            Some(said.to_owned()),
        );
    };
    let mut decisions = Vec::new();
    for call in calls {
        let decision = approve(&tty, &call.tool.name).await;
        let refused = decision == Decision::Refuse;
        decisions.push((call.call, decision));
        if refused {
            break;
        }
    }
    (Answer::Calls(decisions), None)
}

/// Asks about one call. The end of input refuses it.
async fn approve(tty: &Arc<File>, tool: &str) -> Decision {
    let tool = crate::text::Clean::line(tool);
    loop {
        let Some(line) = read(tty, format!("{}: Call now? (Y/N) ", tool.as_str())).await else {
            return Decision::Refuse;
        };
        let line = line.trim();
        let (head, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        // Hangul two-set letters count as the key they lie on.
        match head {
            "y" | "Y" | "1" | "ㅛ" => return Decision::Run,
            "n" | "N" | "2" | "ㅜ" => return Decision::Refuse,
            "s" | "S" | "5" | "ㄴ" => return Decision::RunForSession,
            "d" | "D" | "3" | "ㅇ" => {
                let word = Some(rest.trim().to_owned()).filter(|word| !word.is_empty());
                return Decision::Deny { word };
            }
            _ => eprintln!(
                "y runs it; n refuses it and ends; d, with a word to the model if you like, denies it and goes on; s runs it from now on."
            ),
        }
    }
}

async fn choose(tty: Option<Arc<File>>, question: &Ask) -> (Answer, Option<String>) {
    let rows = question.choices();
    let words = words(question);
    let line = match &tty {
        None => None,
        Some(tty) => {
            for (index, row) in rows.iter().enumerate() {
                eprintln!("  {}  {}  {}", index + 1, row.key, row.label);
            }
            read(tty, format!("{words} (1-{}) ", rows.len())).await
        }
    };
    let chosen = line.and_then(|line| {
        let line = line.trim().to_lowercase();
        let by_number = line
            .parse::<usize>()
            .ok()
            .and_then(|n| rows.get(n.checked_sub(1)?));
        by_number.or_else(|| rows.iter().find(|row| line == row.key.to_string()))
    });
    let choice = chosen.map_or_else(|| safe(question), |row| row.choice);
    let label = rows
        .iter()
        .find(|row| row.choice == choice)
        .map_or("", |row| row.label);
    (Answer::Choice(choice), Some(format!("{words} {label}.")))
}

async fn read(tty: &Arc<File>, question: String) -> Option<String> {
    let tty = Arc::clone(tty);
    let (answer, line) = tokio::sync::oneshot::channel();
    // A thread of its own: a read of the terminal cannot be cancelled, and must
    // not hold up the exit after Ctrl+C.
    std::thread::spawn(move || {
        let _ = answer.send(read_line(&tty, &question).ok());
    });
    line.await.ok().flatten().filter(|line| !line.is_empty())
}

fn read_line(mut tty: &File, question: &str) -> io::Result<String> {
    tty.write_all(question.as_bytes())?;
    let mut line = String::new();
    BufReader::new(tty).read_line(&mut line)?;
    Ok(line)
}

/// What happened, in a few words.
fn words(question: &Ask) -> String {
    match question {
        Ask::Approve(_) => "The model asks for tools.".to_owned(),
        Ask::Repair { .. } => "The model's tool call cannot be used again.".to_owned(),
        Ask::AfterError { .. } => "The model asks for more tools after a failed one.".to_owned(),
        Ask::Stalled { seconds } => format!("Nothing came from the model for {seconds} s."),
        Ask::Bound { rounds } => format!("The model used tools in {rounds} rounds."),
    }
}

fn safe(question: &Ask) -> Choice {
    match question {
        Ask::Bound { .. } => Choice::AnswerNow,
        _ => Choice::Stop,
    }
}
