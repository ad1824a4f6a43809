//! The state of the linear chat, typed lines and prompts.

use super::choice::{Expected, OpenConfirmation};
use super::exit::{ACKNOWLEDGE_TIMEOUT, LinearExit, LinearOptions};
use super::message::{LineInput, MessageAssembler, TypedInput};
use super::output::LinearOutput;
use super::pending::PendingReply;
use super::turn_text::TurnText;

use crate::domain::id::IdGenerator;
use crate::domain::{
    AskId, Attachment, Notice, Prompt, QueryId, Server, ServerId, Transcript, TurnEvent, TurnId,
    WaitReason,
};
use crate::front_end::advice;
use crate::front_end::conversation_state::ConversationState;
use crate::front_end::engine_state::EngineState;
use crate::headless::tty_prompt::TtyPrompt;
use crate::headless::tty_reader::TtyReader;
use crate::protocol::{Command, Question, UserAnswer};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use tokio::time::Instant;

pub const INPUT_PROMPT: &str = "You: ";
const CONTINUED_PROMPT: &str = "... ";

pub struct Linear {
    pub tty: Arc<TtyReader>,
    pub options: LinearOptions,
    pub output: LinearOutput,
    pub input: LineInput,
    pub message: MessageAssembler,
    pub questions: TtyPrompt,
    /// Questions that arrived while the user was perhaps typing.
    pub waiting_questions: VecDeque<(AskId, Question)>,
    pub engine: EngineState,
    pub servers: Vec<Server>,
    /// Servers whose outcome the user waits for.
    pub awaited_servers: HashSet<ServerId>,
    pub transcript: Transcript,
    pub conversation: ConversationState,
    pub turn: TurnText,
    pub queue: VecDeque<Prompt>,
    pub attachments: Vec<Arc<Attachment>>,
    /// Files that are being read.
    pub reading: HashSet<QueryId>,
    /// The message that waits for them.
    pub waiting_message: Option<String>,
    /// The open question of a command.
    pub expected: Option<Expected>,
    pub confirmation: OpenConfirmation,
    /// The reply of the engine that a command waits for.
    pub pending: PendingReply,
    pub is_probing: bool,
    /// The model is generating an answer for a server.
    pub is_sampling: bool,
    /// Notices of low priority that wait until the user has ended the line.
    pub later: Vec<Notice>,
    pub effects: Vec<Command>,
    pub exit: Option<LinearExit>,
    pub interrupt_deadline: Option<Instant>,
    /// The last Ctrl+C found nothing to stop.
    may_quit: bool,
    /// The prompt has been shown, so the start is over.
    pub has_prompted: bool,
    turns: IdGenerator,
    queries: IdGenerator,
}

impl Linear {
    pub fn new(tty: Arc<TtyReader>, options: LinearOptions) -> Self {
        let conversation = ConversationState {
            is_opening: options.opens_session,
            ..ConversationState::default()
        };
        Self {
            questions: TtyPrompt::on(Arc::clone(&tty), advice::notice_line),
            tty,
            options,
            output: LinearOutput::new(),
            input: LineInput::default(),
            message: MessageAssembler::default(),
            waiting_questions: VecDeque::new(),
            engine: EngineState::default(),
            servers: Vec::new(),
            awaited_servers: HashSet::new(),
            transcript: Transcript::default(),
            conversation,
            turn: TurnText::default(),
            queue: VecDeque::new(),
            attachments: Vec::new(),
            reading: HashSet::new(),
            waiting_message: None,
            expected: None,
            confirmation: OpenConfirmation::default(),
            pending: PendingReply::None,
            is_probing: false,
            is_sampling: false,
            later: Vec::new(),
            effects: Vec::new(),
            exit: None,
            interrupt_deadline: None,
            may_quit: false,
            has_prompted: false,
            turns: IdGenerator::default(),
            queries: IdGenerator::default(),
        }
    }

    pub fn greet(&mut self) {
        let version = env!("CARGO_PKG_VERSION");
        self.output.line(&format!(
            "humble {version}, linear. /help lists the commands; Ctrl+D on an empty line leaves."
        ));
        if let Some(greeting) = self.options.greeting.take() {
            self.output.line(&greeting);
        }
    }

    pub fn send(&mut self, command: Command) {
        self.effects.push(command);
    }

    pub fn say(&mut self, text: &str) {
        self.output.line(text);
    }

    pub fn notify(&mut self, notice: Notice) {
        self.output.notice(&notice);
    }

    pub fn next_query(&mut self) -> QueryId {
        QueryId(self.queries.next_id())
    }

    /// Whether a new prompt has to wait.
    pub fn is_busy(&self) -> bool {
        self.transcript.running_turn().is_some()
            || self.is_probing
            || self.conversation.is_opening
            || self.conversation.requested_summary.is_some()
    }

    /// Says why a command has to wait. Returns whether it has to.
    pub fn has_to_wait(&mut self) -> bool {
        let reason = match self.transcript.running_turn() {
            Some(_) => "A turn is still running.",
            None if self.is_probing => "The model is being probed.",
            None if self.is_busy() => "The conversation is not open yet.",
            None => return false,
        };
        self.notify(Notice::info(reason).with_advice("Ctrl+C stops it."));
        true
    }

    pub fn takes_lines(&self) -> bool {
        self.questions.open_question().is_none() && !self.confirmation.is_open()
    }

    /// When the prompt is to be printed; `None` if it is printed already, or if no line is wanted.
    pub fn prompt_due(&self) -> Option<Instant> {
        let is_wanted = self.expected.is_some() || !self.message.is_empty() || !self.is_busy();
        let is_due = is_wanted && !self.output.is_prompt_shown && self.takes_lines();
        is_due.then(|| self.output.quiet_at())
    }

    pub fn show_prompt(&mut self) {
        self.has_prompted = true;
        if let Some(expected) = &mut self.expected {
            if expected.is_confirmation() {
                let question = expected.question.clone();
                return self.open_confirmation(question);
            }
            if expected.hides_typing() && expected.hidden_typing.is_none() {
                expected.hidden_typing = self.tty.hide_typing();
            }
            return self.output.prompt(&expected.question);
        }
        match self.message.is_empty() {
            true => self.output.prompt(INPUT_PROMPT),
            false => self.output.prompt(CONTINUED_PROMPT),
        }
    }

    pub fn handle_typed(&mut self, typed: TypedInput) {
        let lines = match typed {
            TypedInput::Lines(lines) => lines,
            TypedInput::EndOfInput => return self.end_of_input(),
        };
        // The terminal has moved to the next line.
        self.output.line_typed();
        self.may_quit = false;
        let later = std::mem::take(&mut self.later);
        later.iter().for_each(|notice| self.output.notice(notice));
        if self.expected.is_some() {
            self.answer_expected(lines);
        } else if let Some(text) = self.message.push(lines) {
            self.handle_message(text);
        } else if self.message.is_pasted() {
            let count = self.message.line_count();
            self.say(&format!(
                "{count} lines were pasted. Enter sends them, together with the rest of this line; Ctrl+C discards them."
            ));
        }
        self.ask_waiting();
    }

    fn end_of_input(&mut self) {
        self.output.end_line();
        if self.expected.take().is_some() {
            return self.say("Nothing was changed.");
        }
        if !self.message.is_empty() {
            self.message.clear();
            return self.say("The message was discarded.");
        }
        match self.transcript.running_turn() {
            Some(_) => self.say("A turn is running. Ctrl+C stops it."),
            None => self.quit(),
        }
    }

    /// Ctrl+C: stops what is running, or discards what was typed; a second one leaves.
    pub fn interrupt(&mut self) {
        // The terminal drops the unfinished line.
        self.output.interrupted();
        if self.interrupt_deadline.is_some() {
            return self.quit();
        }
        let stops_model = self.transcript.running_turn().is_some()
            || self.conversation.requested_summary.is_some()
            || self.is_sampling;
        if stops_model || self.is_probing {
            self.interrupt_deadline = Some(Instant::now() + ACKNOWLEDGE_TIMEOUT);
            let command = match stops_model {
                true => Command::Interrupt,
                false => Command::StopProbe,
            };
            return self.send(command);
        }
        if let Some(ask) = self.questions.open_question() {
            self.questions.close(ask);
            return self.send_answer(ask, UserAnswer::Dismissed, None);
        }
        if self.expected.take().is_some() {
            self.may_quit = false;
            if self.confirmation.close() {
                // The terminal does not print `^C` while it passes on keys.
                eprintln!();
                self.output.release();
            }
            return self.say("Nothing was changed.");
        }
        if std::mem::replace(&mut self.may_quit, true) {
            return self.quit();
        }
        self.message.clear();
        self.say("The line was discarded. Ctrl+C again leaves humble.");
    }

    /// Leaves the program.
    pub fn quit(&mut self) {
        self.withdraw_queue();
        self.exit = Some(LinearExit::Quit);
    }

    /// Moves queued prompts to the history. Those of a private conversation are dropped.
    pub fn withdraw_queue(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        match (queue.len(), self.conversation.is_private) {
            (0, _) => return,
            (_, true) => return self.say("The queued prompts were removed."),
            (1, false) => self.say("The queued prompt was not sent. It is in the history."),
            (count, false) => self.say(&format!(
                "{count} queued prompts were not sent. They are in the history."
            )),
        }
        for prompt in queue {
            self.send(Command::AddToHistory(prompt.text));
        }
    }

    fn handle_message(&mut self, text: String) {
        if text.trim().is_empty() {
            return self.resume_queue();
        }
        // A space before the slash makes it a message, and so does a second line.
        if text.starts_with('/') && !text.contains('\n') {
            return self.run_command(text.trim());
        }
        if !self.reading.is_empty() {
            self.waiting_message = Some(text);
            return self.say("The message is sent once the file has been read.");
        }
        self.submit_with_files(text);
    }

    pub fn submit_with_files(&mut self, text: String) {
        let attachments = std::mem::take(&mut self.attachments);
        self.submit(Prompt::new(text).with_attachments(attachments));
    }

    /// Sends the prompt, or queues it while a new one has to wait.
    pub fn submit(&mut self, prompt: Prompt) {
        if self.is_busy() {
            self.queue.push_back(prompt);
            return self.say("Queued. It is sent when this turn has ended.");
        }
        self.start_turn(prompt);
    }

    fn start_turn(&mut self, prompt: Prompt) {
        let turn = TurnId(self.turns.next_id());
        let started = TurnEvent::Started {
            prompt: prompt.clone(),
            model: self.engine.model_name().to_owned(),
        };
        self.transcript.apply(turn, &started);
        self.conversation.last_prompt = Some(prompt.clone());
        self.turn = TurnText::for_model(self.engine.selected.as_ref(), self.turn.hides_thinking);
        self.send(Command::Submit { turn, prompt });
    }

    pub fn request_summary(&mut self) {
        let turn = TurnId(self.turns.next_id());
        self.conversation.requested_summary = Some(turn);
        self.turn = TurnText::for_model(self.engine.selected.as_ref(), self.turn.hides_thinking);
        self.send(Command::Compact { turn });
    }

    /// Enter on an empty line sends a request that waits for servers, or the prompts that a stopped turn
    /// left in the queue.
    fn resume_queue(&mut self) {
        if self.transcript.wait_reason() == Some(WaitReason::StartingServers) {
            return self.send(Command::SendNow);
        }
        if !self.is_busy() && self.waiting_questions.is_empty() {
            self.send_queued();
        }
    }

    pub fn send_queued(&mut self) {
        if self.is_busy() {
            return;
        }
        if let Some(prompt) = self.queue.pop_front() {
            self.say(&format!("{INPUT_PROMPT}{}", prompt.text));
            self.start_turn(prompt);
        }
    }
}
