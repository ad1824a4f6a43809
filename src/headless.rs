//! `humble ask`: one turn without the screen (S13.1). The answer alone goes to
//! standard output, everything else to standard error; questions go to the
//! terminal, and where there is none the safe answer is taken and said.

pub mod advice;
pub mod allow_list;
mod call_output;
mod closing;
mod json;
pub mod lines;
pub mod mcp;
pub mod models;
pub mod probe;
pub mod signals;
mod summaries;
mod think_buffer;
mod thinking_output;
mod tty_prompt;

use crate::domain::{
    AskId, BannerCause, CallId, Decision, Notice, PieceKind, Prompt, RoundEnd, Server, ServerId,
    ServerStatus, ToolCall, TurnEnd, TurnEvent, TurnId, Wait,
};
use crate::protocol::{Answer, Command, Event};
use crate::text::Clean;
use crate::text::sanitize::Sanitizer;
use closing::{ACKNOWLEDGE_MAX, passed, say_stuck};
use signals::Signals;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, IsTerminal, Write};
use think_buffer::Paragraph;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tty_prompt::Terminal;

pub const EXIT_ANSWERED: u8 = 0;
pub const EXIT_FAILED: u8 = 1;
pub const EXIT_USAGE: u8 = 2;
pub const EXIT_TOOL_REFUSED: u8 = 3;
pub const EXIT_INTERRUPTED: u8 = 130;

/// The causes of banners about what the command line names and nobody knows.
const UNKNOWN: [BannerCause; 3] = [
    BannerCause::UnknownModel,
    BannerCause::UnknownPersona,
    BannerCause::UnknownSession,
];
/// The one turn there is.
const TURN: TurnId = TurnId(1);

pub struct Request {
    pub prompt: Prompt,
    pub json: bool,
    /// Wait for the servers: the model is to see all tools in its only turn.
    pub tools: bool,
    /// Tools that run unasked. The engine lets them; here they have to be there.
    pub allow: Vec<(ServerId, String)>,
    /// Wait for the conversation that it continues.
    pub continues: bool,
}

/// Runs one turn; the result is the exit status.
///
/// # Errors
/// Only when standard output cannot be written to.
pub async fn ask(
    commands: mpsc::Sender<Command>,
    mut events: mpsc::Receiver<Event>,
    request: Request,
) -> io::Result<u8> {
    let mut session = Headless::new(commands, request);
    let mut signals = Signals::install()?;
    let mut exit = None;
    // When the engine must have acknowledged the interrupt that a signal asked for.
    let mut interrupt_due = None;
    let code = loop {
        tokio::select! {
            event = events.recv() => match event {
                None | Some(Event::ShutDown) => break EXIT_FAILED,
                Some(Event::InterruptTaken) => interrupt_due = None,
                Some(event) => {
                    if let Some(code) = session.event(event).await? {
                        break code;
                    }
                }
            },
            (ask, answer, said) = session.terminal.answered() => {
                session.answered(ask, answer, said).await;
            }
            code = signals.next() => {
                // The first one interrupts the turn, the second one leaves at once.
                if exit.replace(code).is_some() || session.servers_starting() {
                    break code;
                }
                let due = Instant::now() + ACKNOWLEDGE_MAX;
                interrupt_due = Some(due);
                let _ = timeout_at(due, session.send(Command::Interrupt)).await;
            }
            () = passed(interrupt_due) => {
                say_stuck();
                return Ok(exit.unwrap_or(EXIT_FAILED));
            }
        }
    };
    let unsaved = closing::close(&session, &mut events).await?;
    Ok(match exit.unwrap_or(code) {
        EXIT_ANSWERED if unsaved => EXIT_FAILED,
        code => code,
    })
}

struct Headless {
    commands: mpsc::Sender<Command>,
    request: Request,
    submitted: bool,
    servers: BTreeMap<String, Server>,
    terminal: Terminal,
    /// The calls whose summary was printed.
    shown: HashSet<CallId>,
    /// The calls that are about to be asked about.
    waiting: HashMap<CallId, ToolCall>,
    /// Those that stand in a text from outside.
    quoted: HashSet<CallId>,
    /// Every call asks: nobody knows what trust.json rules out.
    doubtful: bool,
    /// The text of the present round: prose, should a call follow, and then not
    /// part of the answer.
    text: String,
    /// What of it may turn out to be thinking.
    paragraph: Paragraph,
    thinking: bool,
    refused: bool,
    stdout_is_terminal: bool,
    clean_out: Sanitizer,
    clean_thinking: Sanitizer,
}

impl Headless {
    fn new(commands: mpsc::Sender<Command>, request: Request) -> Self {
        Self {
            commands,
            request,
            submitted: false,
            servers: BTreeMap::new(),
            terminal: Terminal::open(),
            shown: HashSet::new(),
            waiting: HashMap::new(),
            quoted: HashSet::new(),
            doubtful: false,
            text: String::new(),
            paragraph: Paragraph::default(),
            thinking: false,
            refused: false,
            stdout_is_terminal: io::stdout().is_terminal(),
            clean_out: Sanitizer::default(),
            clean_thinking: Sanitizer::default(),
        }
    }

    async fn send(&self, command: Command) {
        // The engine being gone shows as the end of its events.
        let _ = self.commands.send(command).await;
    }

    fn servers_starting(&self) -> bool {
        !self.submitted
    }

    /// The event as a line of JSON, where that is asked for.
    fn print(&self, event: &Event) -> io::Result<()> {
        let line = self.request.json.then(|| json::line(event)).flatten();
        let Some(line) = line else { return Ok(()) };
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    }

    /// Handles one event; the exit status once the turn is over.
    async fn event(&mut self, event: Event) -> io::Result<Option<u8>> {
        self.print(&event)?;
        match event {
            Event::BannersChanged(banners) if !self.submitted => {
                self.doubtful = banners
                    .iter()
                    .any(|banner| banner.cause == BannerCause::UnreadableTrust);
                for banner in &banners {
                    self.say_notice(&banner.notice);
                }
                if banners.iter().any(|banner| UNKNOWN.contains(&banner.cause)) {
                    return Ok(Some(EXIT_USAGE));
                }
            }
            Event::Noticed(notice) | Event::Mentioned(notice) => self.say_notice(&notice),
            Event::ServersListed(servers) => {
                servers.iter().for_each(|server| self.server(server));
                return Ok(self.submit_when_ready().await);
            }
            Event::ServerChanged(server) => {
                self.server(&server);
                return Ok(self.submit_when_ready().await);
            }
            Event::Asked { ask, question, .. } => {
                self.end_thinking();
                let summaries = self.summaries(&question);
                let asks_always = self.asks_always(&question);
                self.terminal.ask(ask, question, summaries, asks_always);
            }
            Event::SessionOpened(_) if self.request.continues => {
                self.request.continues = false;
                return Ok(self.submit_when_ready().await);
            }
            Event::ModelsListed {
                selected: Some(model),
                ..
            } => self.paragraph = Paragraph::of([&model.name, &model.model]),
            Event::AskClosed(ask) => self.terminal.close(ask),
            Event::Turn(TURN, event) => return self.turn_event(event),
            _ => {}
        }
        Ok(None)
    }

    fn server(&mut self, server: &Server) {
        let before = self.servers.insert(server.id.to_string(), server.clone());
        let (ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice)) = &server.status
        else {
            return;
        };
        if before.is_some_and(|before| before.status == ServerStatus::Starting) {
            self.say_notice(notice);
        }
    }

    /// Asks the question once everything it needs is there; the exit status where it is
    /// not to be asked at all.
    async fn submit_when_ready(&mut self) -> Option<u8> {
        let mut servers = self.servers.values();
        let waiting =
            self.request.tools && servers.any(|server| server.status == ServerStatus::Starting);
        if waiting || self.request.continues || self.submitted {
            return None;
        }
        if let Err(why) = allow_list::check(&self.request.allow, &self.servers) {
            self.say(&why);
            return Some(EXIT_USAGE);
        }
        for said in allow_list::withheld(&self.request.allow, &self.servers) {
            self.say(&said);
        }
        self.submitted = true;
        let prompt = std::mem::replace(&mut self.request.prompt, Prompt::new(""));
        self.send(Command::Submit { turn: TURN, prompt }).await;
        None
    }

    fn turn_event(&mut self, event: TurnEvent) -> io::Result<Option<u8>> {
        match event {
            TurnEvent::RoundStarted { .. } => {
                self.paragraph.begin();
                self.say("Waiting for response...");
            }
            TurnEvent::Waiting {
                wait: Wait::ModelLoading,
            } => self.say("Loading model…"),
            TurnEvent::Retrying {
                after,
                attempt,
                attempts_max,
                ..
            } => {
                let seconds = after.as_secs_f64().ceil();
                self.say(&format!(
                    "Trying again in {seconds} s ({attempt} of {attempts_max})"
                ));
            }
            TurnEvent::Delta {
                kind: PieceKind::Thinking,
                text,
                ..
            } => {
                // Whatever thinks in its own way writes no lone `</think>`.
                self.let_go()?;
                self.think(&text);
            }
            TurnEvent::Delta {
                kind: PieceKind::Text,
                text,
                ..
            } => {
                self.end_thinking();
                if self.streams() {
                    let shown = self.paragraph.push(&text);
                    self.out(&shown)?;
                }
                self.text.push_str(&text);
            }
            TurnEvent::Reclassified {
                to: PieceKind::Thinking,
                ..
            } => self.was_thinking(),
            // It cannot be put back where it was: all of it comes once more.
            TurnEvent::Restored { text, .. } if self.streams() => self.out(&text)?,
            TurnEvent::RoundEnded { end } => {
                self.let_go()?;
                self.end_thinking();
                // Prose before a call, or what came of an answer that failed, is
                // no answer: it is shown, and not passed on.
                let words = std::mem::take(&mut self.text);
                let answer = matches!(end, RoundEnd::Answer | RoundEnd::Length);
                if self.streams() && !answer && !words.is_empty() {
                    self.out("\n")?;
                } else if !answer && !words.trim().is_empty() && !self.request.json {
                    self.say(Clean::new(words.trim()).as_str());
                }
            }
            TurnEvent::Tool(call) => self.tool(&call),
            TurnEvent::Noted(notice) => self.noted(&notice),
            TurnEvent::Ended { end, .. } => return self.ended(end).map(Some),
            _ => {}
        }
        Ok(None)
    }

    fn ended(&mut self, end: TurnEnd) -> io::Result<u8> {
        match end {
            TurnEnd::Answered { text, .. } => {
                if !self.request.json {
                    if !self.streams() {
                        self.out(&text)?;
                    }
                    if !text.ends_with('\n') {
                        self.out("\n")?;
                    }
                }
                Ok(if self.refused {
                    EXIT_TOOL_REFUSED
                } else {
                    EXIT_ANSWERED
                })
            }
            TurnEnd::Failed { notice } => {
                self.say_notice(&notice);
                Ok(EXIT_FAILED)
            }
            TurnEnd::Refused => Ok(EXIT_TOOL_REFUSED),
            TurnEnd::Stopped => Ok(EXIT_FAILED),
            TurnEnd::Cancelled => {
                self.say("(cancelled)");
                Ok(EXIT_INTERRUPTED)
            }
        }
    }

    async fn answered(&mut self, ask: AskId, answer: Answer, said: Option<String>) {
        if let Answer::Calls(decisions) = &answer {
            let refusing = |(_, decision): &(CallId, Decision)| {
                matches!(
                    decision,
                    Decision::Deny { .. } | Decision::Refuse | Decision::Never
                )
            };
            self.refused |= decisions.iter().any(refusing);
        }
        if let Some(said) = said {
            self.say(&said);
        }
        self.send(Command::Answer { ask, answer }).await;
    }

    /// On a terminal text appears as it comes, with whatever else is shown there. A
    /// pipe or a file gets the answer alone, and so only once it is known to be one.
    fn streams(&self) -> bool {
        self.stdout_is_terminal && !self.request.json
    }

    /// Standard output: raw into a pipe or a file, clean onto a terminal.
    fn out(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.stdout_is_terminal {
            out.write_all(self.clean_out.push(text).as_str().as_bytes())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        out.flush()
    }

    /// A line of ours, or one that was cleaned.
    fn say(&self, line: &str) {
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(io::stderr(), "{line}");
    }

    fn say_notice(&self, notice: &Notice) {
        self.say(Clean::new(&advice::sentence(notice)).as_str());
    }
}
