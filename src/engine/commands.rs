//! What a front end asks for: each command, and what blocking work for it came to.

use super::active_turn::ActiveTurn;
use super::actor::{Actor, Done};
use super::failures;
use super::quotes::read;
use super::turn::{Input, Setup};
use super::turn_driver::TurnDriver;
use crate::config;
use crate::domain::compact::{self, Covered};
use crate::domain::{
    AnswerPlace, ArgumentCheck, Banner, ModelConfig, Notice, Prompt, QueryId, QuotedIn,
    SchemaCheck, Session, Transcript, TurnEnd, TurnEvent, TurnId, Usage,
};
use crate::protocol::{Command, Event};
use futures::future::BoxFuture;
use std::sync::Arc;

/// Blocks the engine for good where a test asks for it: signals and Ctrl+C have to end the
/// program all the same.
#[cfg(debug_assertions)]
fn block_on_purpose(prompt: &str) {
    if std::env::var("HUMBLE_TEST_BLOCK").is_ok_and(|at| at == prompt) {
        eprintln!("HUMBLE_TEST_BLOCK is set");
        loop {
            std::thread::park();
        }
    }
}

impl Actor {
    /// Acknowledges a command where that is due, and does it. False once the program is to
    /// end; a front end that is gone, as after a crash, ends it too.
    pub(super) fn take_command(&mut self, command: Option<Command>) -> bool {
        match command {
            Some(Command::Shutdown) => self.outbox.push(Event::ShuttingDown),
            None | Some(Command::Abandon) => {
                self.outbox.push(Event::ShuttingDown);
                self.abandon_turn();
            }
            Some(command) => {
                if command.is_interrupt() {
                    self.outbox.push(Event::InterruptTaken);
                }
                self.command(command);
                return true;
            }
        }
        false
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Submit { turn, prompt } => self.submit(turn, prompt),
            Command::Trace => self.tell_trace(),
            Command::Compact { turn } => self.compact(turn),
            Command::Answer { ask, answer } => self.answer(ask, answer),
            Command::Interrupt => self.feed(Input::Interrupt),
            Command::CheckArguments {
                query,
                tool,
                arguments,
            } => self.check_arguments(query, ArgumentCheck { tool, arguments }),
            Command::CancelCall(call) => self.cancel_call(call),
            Command::Probe => self.probe(),
            Command::StopProbe => self.stop_probe(),
            Command::RetryNow => self.retry_now(),
            Command::SelectModel(model) => self.select_model(&model),
            Command::ListStocks => self.list_stocks(),
            Command::UseModel { server, model } => self.use_model(server, model),
            Command::AddModel(new) => self.add_model(new),
            Command::TryModel { query, model } => self.try_model(query, &model),
            Command::PullModel { server, name } => self.pull_model(server, &name),
            Command::StopPull => self.stop_pull(),
            Command::RemoveModel { server, name } => self.remove_model(server, name),
            Command::SetThink(think) => self.set_think(think),
            Command::SetToolMode(mode) => self.set_tool_mode(mode),
            Command::ToggleServer(id) => self.toggle_server(&id),
            Command::ReconnectServer(id) => self.hub.reconnect(&id),
            Command::ReadServerLog { server, seen } => {
                if let Some(log) = self.hub.log(&server, seen) {
                    self.outbox.push(Event::ServerLogged(Arc::new(log)));
                }
            }
            Command::ToggleTool { server, tool } => self.toggle_tool(&server, tool),
            Command::AskInstructions(server) => self.ask_instructions(&server),
            Command::ReviewTool { server, tool } => self.review_tool(&server, &tool),
            Command::Revoke(trusted) => self.revoke(*trusted),
            Command::NewSession => self.begin_session(Session::new(self.model_name())),
            Command::ListSessions(query) => self.list_sessions(query),
            Command::PreviewSession { query, session } => self.preview(query, session),
            Command::OpenSession(id) => {
                let sessions = Arc::clone(&self.sessions);
                self.jobs
                    .spawn_blocking(move || Done::Opened(sessions.open(&id)));
            }
            Command::DeleteSession(id) => {
                let sessions = Arc::clone(&self.sessions);
                self.jobs.spawn_blocking(move || {
                    let result = sessions.delete(&id);
                    Done::Deleted(id, result)
                });
            }
            Command::Reload => self.look_outside(true),
            Command::SelectPersona(name) => self.select_persona(name.as_deref()),
            Command::ReplaceSystemPrompt => self.read_older_prompt(),
            Command::Rewind => self.take_back(),
            Command::DropSummary => self.drop_summary(),
            Command::DropCancelled(prompt) => self.drop_cancelled(&prompt),
            Command::ListBranches => self.list_branches(),
            Command::SwitchBranch(branch) => self.switch_branch(&branch),
            Command::ForkSession => self.fork_session(),
            Command::RenameSession(title) => self.rename_session(&title),
            Command::SetPrivate(private) => self.set_private(private),
            Command::KeepDraft(text) if self.private && !text.is_empty() => {}
            Command::KeepDraft(text) => self.keep_draft(text),
            // The select loop ends on them before they get here.
            Command::Shutdown | Command::Abandon => {}
        }
    }

    /// Sends the raw replies of the present turn, or else of the last.
    fn tell_trace(&mut self) {
        let turn = self.turn.as_ref().map(|turn| turn.driver.trace());
        let trace = turn.unwrap_or(&self.trace).clone();
        self.jobs.spawn_blocking(move || {
            let lines = Arc::new(trace.lines());
            Done::Events(vec![Event::Traced(lines)])
        });
    }

    fn check_arguments(&mut self, query: QueryId, check: ArgumentCheck) {
        let checking = self.argument_checker.run(vec![check]);
        self.jobs.spawn(async move {
            let check = checking.await.pop().unwrap_or(SchemaCheck::Unchecked);
            Done::Events(vec![Event::ArgumentsChecked { query, check }])
        });
    }

    fn keep_draft(&mut self, text: String) {
        let history = Arc::clone(&self.history);
        self.jobs.spawn_blocking(move || {
            if let Err(fault) = history.keep_draft(&text) {
                tracing::warn!("the draft was not kept: {fault}");
            }
            Done::Nothing
        });
    }

    pub(super) fn model_name(&self) -> String {
        self.model
            .as_ref()
            .map_or_else(String::new, |model| model.name.clone())
    }

    fn submit(&mut self, id: TurnId, prompt: Prompt) {
        #[cfg(debug_assertions)]
        block_on_purpose(&prompt.text);
        let typed = prompt.place != AnswerPlace::EndOfLast;
        if typed && !self.options.no_save && !self.options.one_turn && !self.private {
            self.remember_typed(prompt.text.clone());
        }
        if let Some(busy) = self.busy() {
            return self.reject(id, prompt, busy);
        }
        let Some(model) = self.model.clone() else {
            self.reject(id, prompt, self.no_model());
            return;
        };
        if prompt.place == AnswerPlace::EndOfLast && self.session.last_prompt().is_none() {
            let nothing = Notice::failure("There is no answer to go on with.");
            return self.reject(id, prompt, nothing);
        }
        if self.session.started_at.is_none() {
            self.session.started_at = Some(jiff::Timestamp::now());
        }
        self.begin_journal(&prompt, &model.name);
        self.approval.now = jiff::Timestamp::now();
        let replaced = self.session.last_prompt();
        let replaced = replaced.filter(|_| prompt.place == AnswerPlace::InsteadOfLast);
        let history = match replaced {
            Some(at) => compact::history_until(&self.session, at),
            None => compact::history(&self.session),
        };
        let setup = Setup {
            prompt,
            instruction: None,
            model: model.name.clone(),
            dialect: model.dialect,
            system_prompt: self.system_text(),
            history: Arc::new(history),
            offered: self.offered_now(),
            approval: self.approval.clone(),
            limits: self.settings.limits.clone(),
            quotes: self.quotes.clone(),
        };
        self.begin_turn(id, setup, model, None);
        self.ask_about_next();
    }

    /// `covers` is what the answer will stand for, where it is to be a summary.
    pub(super) fn begin_turn(
        &mut self,
        id: TurnId,
        setup: Setup,
        model: Arc<ModelConfig>,
        covers: Option<Covered>,
    ) {
        let (prompt, place) = (setup.prompt.shown().to_owned(), setup.prompt.place);
        let piped = setup.prompt.piped().map(str::to_owned);
        let reading = piped.map(|piped| {
            let offered = Arc::clone(&self.offered);
            Box::pin(read(QuotedIn::Context, piped, offered)) as BoxFuture<_>
        });
        let (provider, checker) = (self.provider.clone(), self.argument_checker.clone());
        let (driver, outputs) = TurnDriver::begin(provider, setup, self.ids.clone(), checker);
        self.turn = Some(ActiveTurn {
            id,
            driver,
            prompt,
            place,
            covers,
            model,
            persona: self.persona.clone(),
            transcript: Transcript::default(),
            unsent: None,
            facts: None,
            reading,
        });
        self.perform(outputs);
    }

    /// Why no turn can begin now: one at a time, and none beside a probe.
    pub(super) fn busy(&self) -> Option<Notice> {
        let what = match (&self.turn, &self.probing) {
            (Some(_), _) => "Another prompt is still being answered.",
            (None, Some(_)) => "The model is being probed.",
            (None, None) => return None,
        };
        let advice = "Wait for it, or stop it with Ctrl+C.";
        Some(Notice::failure(what).advise(advice))
    }

    fn remember_typed(&mut self, typed: String) {
        let history = Arc::clone(&self.history);
        self.jobs.spawn_blocking(move || {
            if let Err(fault) = history.append(&typed) {
                tracing::warn!("the prompt was not added to the history: {fault}");
            }
            Done::Nothing
        });
    }

    /// A turn that ends before it began.
    pub(super) fn reject(&mut self, id: TurnId, prompt: Prompt, notice: Notice) {
        let (model, usage) = (self.model_name(), Usage::default());
        let end = TurnEnd::Failed { notice };
        failures::log_turn_end(&end);
        self.outbox
            .push(Event::Turn(id, TurnEvent::Started { prompt, model }));
        self.outbox
            .push(Event::Turn(id, TurnEvent::Ended { end, usage }));
    }

    pub(super) fn job_done(&mut self, done: Done) {
        self.tell_narrowed();
        match done {
            Done::Nothing => {}
            Done::Events(events) => events.into_iter().for_each(|event| self.outbox.push(event)),
            Done::Opened(Ok(session)) => self.begin_session(session),
            Done::Opened(Err(fault)) => self.notice(fault.notice()),
            Done::Continued(found) => self.continued(found),
            Done::Left(leavings) => self.found(leavings),
            Done::Resumed(left, opened) => self.resumed(left, opened),
            Done::Recalled(epoch, quote) => self.quotes_recalled(epoch, quote),
            Done::Weighed(epoch, weight) => self.session_weighed(epoch, weight),
            Done::Deleted(id, Ok(())) => {
                // What was deleted must not come back with the next answer.
                if self.session.id.as_ref() == Some(&id) {
                    self.begin_session(Session::new(self.model_name()));
                }
                self.outbox.push(Event::SessionDeleted(id));
            }
            Done::Deleted(_, Err(fault)) => self.notice(fault.notice()),
            Done::DialectStored(model, dialect, stored) => {
                self.dialect_stored(model, dialect, stored);
            }
            Done::Added(model, written) => self.model_added(*model, written),
            Done::Config(written) => {
                if let Err(fault) = written {
                    let banner = Banner::new("", fault.notice());
                    self.notice(config::while_running(banner).notice);
                }
                self.config_written();
            }
            Done::Prepared(banners) => self.prepared(banners),
            Done::Reread(read, asks) => self.reread(*read, asks),
            Done::PromptRead(read) => self.older_prompt_read(read),
            Done::PromptReplaced(replaced) => self.prompt_replaced(replaced),
        }
    }
}
