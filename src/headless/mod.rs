//! `humble ask`: one turn without the screen. Only the answer goes to standard output, the rest to
//! standard error. Questions go to the terminal; without one, the safe answer is chosen and reported.

pub mod advice;
mod agent_activity;
pub mod allow_list;
mod attachments;
mod call_output;
mod json;
pub mod lines;
pub mod mcp;
pub mod models;
pub mod output;
pub mod probe;
pub mod sessions;
mod shutdown;
pub mod signals;
mod standard_streams;
pub mod summaries;
pub mod think_buffer;
mod thinking_output;
mod tty_form;
mod tty_pages;
pub mod tty_prompt;
pub mod tty_reader;

pub use attachments::FilesToAttach;

use crate::domain::{
    AskId, BannerCause, CallId, Decision, PieceKind, Prompt, RoundEnd, Server, ServerId,
    ServerStatus, ToolCall, TurnEnd, TurnEvent, TurnId, WaitReason,
};
use crate::protocol::{Command, Event, UserAnswer};
use crate::text::Clean;
use crate::text::sanitize::Sanitizer;
use agent_activity::AgentActivity;
use shutdown::{ACKNOWLEDGE_TIMEOUT, report_unresponsive_engine, wait_until};
use signals::ExitSignals;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, IsTerminal};
use think_buffer::ThinkBuffer;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tty_prompt::TtyPrompt;

pub const EXIT_SUCCESS: u8 = 0;
pub const EXIT_FAILED: u8 = 1;
pub const EXIT_USAGE: u8 = 2;
pub const EXIT_TOOL_REFUSED: u8 = 3;
pub const EXIT_INTERRUPTED: u8 = 130;

/// Causes of banners about a name on the command line that does not exist.
const UNKNOWN_NAME_CAUSES: [BannerCause; 3] = [
    BannerCause::UnknownModel,
    BannerCause::UnknownPersona,
    BannerCause::UnknownSession,
];
/// The only turn of this process.
const TURN_ID: TurnId = TurnId(1);

pub struct AskRequest {
    pub prompt: Prompt,
    pub files: FilesToAttach,
    pub is_json: bool,
    /// Wait for the servers, so that the model sees all tools in its only turn.
    pub waits_for_servers: bool,
    /// Tools that run without asking. The engine applies this; here they are only checked to exist.
    pub allowed_tools: Vec<(ServerId, String)>,
    /// Wait until the latest conversation is open, because the prompt continues it.
    pub continues_session: bool,
}

/// Runs one turn and returns the exit status.
///
/// # Errors
/// Standard output cannot be written, or the signal handlers cannot be installed.
pub async fn ask(
    commands: mpsc::Sender<Command>,
    mut events: mpsc::Receiver<Event>,
    request: AskRequest,
) -> io::Result<u8> {
    let mut session = AskSession::new(commands, request);
    let mut signals = ExitSignals::install()?;
    let mut signal_status = None;
    // Deadline for the engine to acknowledge the interrupt.
    let mut interrupt_deadline = None;
    let code = loop {
        tokio::select! {
            event = events.recv() => match event {
                None | Some(Event::ShutDown) => break EXIT_FAILED,
                Some(Event::InterruptAcknowledged) => interrupt_deadline = None,
                Some(event) => {
                    if let Some(code) = session.handle_event(event).await? {
                        break code;
                    }
                }
            },
            (ask, answer, report) = session.tty_prompt.next_answer() => {
                session.send_answer(ask, answer, report).await;
            }
            code = signals.next() => {
                // The first signal interrupts the turn, the second exits at once.
                if signal_status.replace(code).is_some() || session.is_waiting_to_submit() {
                    break code;
                }
                let deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
                interrupt_deadline = Some(deadline);
                let _ = timeout_at(deadline, session.send(Command::Interrupt)).await;
            }
            () = wait_until(interrupt_deadline) => {
                report_unresponsive_engine();
                return Ok(signal_status.unwrap_or(EXIT_FAILED));
            }
        }
    };
    let is_unsaved = shutdown::shut_down(&session, &mut events).await?;
    Ok(match signal_status.unwrap_or(code) {
        EXIT_SUCCESS if is_unsaved => EXIT_FAILED,
        code => code,
    })
}

struct AskSession {
    commands: mpsc::Sender<Command>,
    request: AskRequest,
    is_submitted: bool,
    servers: BTreeMap<String, Server>,
    tty_prompt: TtyPrompt,
    printed_calls: HashSet<CallId>,
    /// Calls whose approval question has not arrived yet.
    pending_calls: HashMap<CallId, ToolCall>,
    /// Calls that repeat untrusted text.
    quoted_calls: HashSet<CallId>,
    /// Whether trust.json is unreadable. Every call then asks, because blocked tools are unknown.
    is_trust_unreadable: bool,
    /// Text of the current round. Text before a tool call is not part of the answer.
    round_text: String,
    /// The part of the text that may turn out to be thinking.
    think_buffer: ThinkBuffer,
    is_thinking: bool,
    /// Whether a tool call was denied or blocked.
    has_refused_calls: bool,
    /// Whether the prompt was a request for notes that could not be carried out.
    has_failed_request: bool,
    agent_activity: AgentActivity,
    stdout_is_terminal: bool,
    stdout_sanitizer: Sanitizer,
    thinking_sanitizer: Sanitizer,
}

impl AskSession {
    fn new(commands: mpsc::Sender<Command>, request: AskRequest) -> Self {
        Self {
            commands,
            request,
            is_submitted: false,
            servers: BTreeMap::new(),
            tty_prompt: TtyPrompt::open(),
            printed_calls: HashSet::new(),
            pending_calls: HashMap::new(),
            quoted_calls: HashSet::new(),
            is_trust_unreadable: false,
            round_text: String::new(),
            think_buffer: ThinkBuffer::default(),
            is_thinking: false,
            has_refused_calls: false,
            has_failed_request: false,
            agent_activity: AgentActivity::default(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stdout_sanitizer: Sanitizer::default(),
            thinking_sanitizer: Sanitizer::default(),
        }
    }

    async fn send(&self, command: Command) {
        // If the engine has stopped, its event channel is closed, which ends the loop in `ask`.
        let _ = self.commands.send(command).await;
    }

    fn is_waiting_to_submit(&self) -> bool {
        !self.is_submitted
    }

    /// Returns the exit status once the turn is over.
    async fn handle_event(&mut self, event: Event) -> io::Result<Option<u8>> {
        self.print_json(&event)?;
        match event {
            Event::BannersChanged(banners) if !self.is_submitted => {
                self.is_trust_unreadable = banners
                    .iter()
                    .any(|banner| banner.cause == BannerCause::UnreadableTrust);
                for banner in &banners {
                    self.print_notice(&banner.notice);
                }
                if banners
                    .iter()
                    .any(|banner| UNKNOWN_NAME_CAUSES.contains(&banner.cause))
                {
                    return Ok(Some(EXIT_USAGE));
                }
            }
            Event::NoticePosted(notice) | Event::LowPriorityNoticePosted(notice) => {
                self.print_notice(&notice)
            }
            Event::ServersListed(servers) => {
                servers.iter().for_each(|server| self.update_server(server));
                return Ok(self.submit_when_ready().await);
            }
            Event::ServerChanged(server) => {
                self.update_server(&server);
                return Ok(self.submit_when_ready().await);
            }
            Event::AttachmentRead { query, result } => {
                if !self.store_file(query, result) {
                    return Ok(Some(EXIT_USAGE));
                }
                return Ok(self.submit_when_ready().await);
            }
            Event::Asked { ask, question, .. } => {
                self.end_thinking();
                let texts = self.call_texts(&question);
                self.tty_prompt.ask(ask, question, texts);
            }
            Event::SessionOpened(_) if self.request.continues_session => {
                self.request.continues_session = false;
                return Ok(self.submit_when_ready().await);
            }
            Event::ModelsListed {
                selected: Some(model),
                ..
            } => self.think_buffer = ThinkBuffer::for_model([&model.name, &model.model]),
            Event::AskClosed(ask) => self.tty_prompt.close(ask),
            Event::Turn(TURN_ID, TurnEvent::AgentFailed(notice)) => {
                self.report_failed_request(&notice);
            }
            Event::Turn(TURN_ID, event) => return self.handle_turn_event(event),
            _ => {}
        }
        Ok(None)
    }

    fn update_server(&mut self, server: &Server) {
        let previous = self.servers.insert(server.id.to_string(), server.clone());
        let (ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice)) = &server.status
        else {
            return;
        };
        if previous.is_some_and(|previous| previous.status == ServerStatus::Starting) {
            self.print_notice(notice);
        }
    }

    /// Returns an exit status if the prompt must not be submitted.
    async fn submit_when_ready(&mut self) -> Option<u8> {
        let mut servers = self.servers.values();
        let is_waiting = self.request.waits_for_servers
            && servers.any(|server| server.status == ServerStatus::Starting);
        if is_waiting || self.request.continues_session || self.is_submitted {
            return None;
        }
        if !self.request_files().await {
            return None;
        }
        if let Err(why) = allow_list::check_available(&self.request.allowed_tools, &self.servers) {
            self.print_to_stderr(&why);
            return Some(EXIT_USAGE);
        }
        for warning in allow_list::withheld_warnings(&self.request.allowed_tools, &self.servers) {
            self.print_to_stderr(&warning);
        }
        self.is_submitted = true;
        let prompt = std::mem::replace(&mut self.request.prompt, Prompt::new(""));
        let prompt = prompt.with_attachments(self.request.files.take());
        self.send(Command::Submit {
            turn: TURN_ID,
            prompt,
        })
        .await;
        None
    }

    fn handle_turn_event(&mut self, event: TurnEvent) -> io::Result<Option<u8>> {
        self.report_agent_activity(&event);
        match event {
            TurnEvent::RoundStarted { .. } => {
                self.think_buffer.start_reply();
                self.print_to_stderr("Waiting for response...");
            }
            TurnEvent::Waiting {
                wait: WaitReason::ModelLoading,
            } => self.print_to_stderr("Loading model…"),
            TurnEvent::Retrying {
                after,
                attempt,
                attempts_max,
                ..
            } => {
                let seconds = after.as_secs_f64().ceil();
                self.print_to_stderr(&format!(
                    "Retrying in {seconds} s ({attempt} of {attempts_max})"
                ));
            }
            TurnEvent::Delta {
                kind: PieceKind::Thinking,
                text,
                ..
            } => {
                // A model with a separate thinking channel never writes `</think>` without
                // `<think>`.
                self.release_buffered_text()?;
                self.write_thinking(&text);
            }
            TurnEvent::Delta {
                kind: PieceKind::Text,
                text,
                ..
            } => {
                self.end_thinking();
                if self.streams_text() {
                    let text_to_print = self.think_buffer.push(&text);
                    self.write_stdout(&text_to_print)?;
                }
                self.round_text.push_str(&text);
            }
            TurnEvent::Reclassified {
                to: PieceKind::Thinking,
                ..
            } => self.reclassify_as_thinking(),
            // Nothing can be inserted before printed text, so all of the text is printed again.
            TurnEvent::Restored { text, .. } if self.streams_text() => self.write_stdout(&text)?,
            TurnEvent::RoundEnded { end } => {
                self.release_buffered_text()?;
                self.end_thinking();
                // Prose before a call and a partial answer that failed are shown, but are not the
                // answer.
                let text = std::mem::take(&mut self.round_text);
                let is_answer = matches!(end, RoundEnd::Answer | RoundEnd::Length);
                if self.streams_text() && !is_answer && !text.is_empty() {
                    self.write_stdout("\n")?;
                } else if !is_answer && !text.trim().is_empty() && !self.request.is_json {
                    self.print_to_stderr(Clean::new(text.trim()).as_str());
                }
            }
            TurnEvent::Tool(call) => self.report_call(&call),
            TurnEvent::Noted(notice) => self.report_notice(&notice),
            TurnEvent::AgentActed(result) => self.report_agent_result(&result),
            TurnEvent::Ended { end, .. } => return self.finish_turn(end).map(Some),
            _ => {}
        }
        Ok(None)
    }

    fn finish_turn(&mut self, end: TurnEnd) -> io::Result<u8> {
        match end {
            TurnEnd::Answered { text, .. } => {
                if !self.request.is_json {
                    if !self.streams_text() {
                        self.write_stdout(&text)?;
                    }
                    if !text.ends_with('\n') {
                        self.write_stdout("\n")?;
                    }
                }
                Ok(match (self.has_failed_request, self.has_refused_calls) {
                    (true, _) => EXIT_FAILED,
                    (false, true) => EXIT_TOOL_REFUSED,
                    (false, false) => EXIT_SUCCESS,
                })
            }
            TurnEnd::Failed { notice } => {
                self.print_notice(&notice);
                Ok(EXIT_FAILED)
            }
            TurnEnd::Refused => Ok(EXIT_TOOL_REFUSED),
            TurnEnd::Stopped => Ok(EXIT_FAILED),
            TurnEnd::Cancelled => {
                self.print_to_stderr("(cancelled)");
                Ok(EXIT_INTERRUPTED)
            }
        }
    }

    async fn send_answer(&mut self, ask: AskId, answer: UserAnswer, report: Option<String>) {
        if let UserAnswer::Calls(decisions) = &answer {
            let is_refusal = |(_, decision): &(CallId, Decision)| {
                use Decision::{Deny, Never, Refuse};
                matches!(decision, Deny { .. } | Refuse | Never)
            };
            self.has_refused_calls |= decisions.iter().any(is_refusal);
        }
        if let Some(report) = report {
            self.print_to_stderr(&report);
        }
        self.send(Command::Answer { ask, answer }).await;
    }
}
