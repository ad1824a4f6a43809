//! Routes the front end's commands to their owners.

use super::Actor;
use crate::domain::attachment::AttachmentSource;
use crate::domain::tool::Tool;
use crate::domain::{Advice, ArgumentCheck, Arguments, Notice, QueryId, SchemaCheck, UnsentText};
use crate::engine::attachments;
use crate::engine::jobs::JobResult;
use crate::engine::models::select::no_model;
use crate::engine::probe::DialectProbe;
use crate::engine::server_content;
use crate::engine::sessions::{self, saved::SavedSessions};
use crate::engine::settings::prompt_templates;
use crate::engine::turn::TurnInput;
use crate::protocol::{Command, Event, ServerContentCommand};
use std::sync::Arc;

impl Actor {
    /// Handles a command, acknowledging it first if necessary. Returns false if the engine must
    /// shut down. `None` means that the channel is closed: the front end may have crashed.
    pub(super) fn handle_command(&mut self, command: Option<Command>) -> bool {
        match command {
            Some(Command::Shutdown) => self.cx.outbox.push(Event::ShuttingDown),
            None | Some(Command::ShutdownKeepingTurn) => {
                self.cx.outbox.push(Event::ShuttingDown);
                self.abandon_turn();
            }
            Some(command) => {
                if command.is_interrupt() {
                    self.cx.outbox.push(Event::InterruptAcknowledged);
                }
                self.route_command(command);
                return true;
            }
        }
        false
    }

    fn interrupt(&mut self) {
        let stopped = self.server_requests.stop_sampling(&mut self.cx);
        self.reply_to_servers(stopped);
        self.cancel_waiting_prompt();
        let calls = self.running_calls(None);
        self.cancel_questions_of(&calls, &[]);
        self.feed(TurnInput::Interrupt);
    }

    fn route_command(&mut self, command: Command) {
        match command {
            Command::Submit { turn, prompt } => self.submit(turn, prompt),
            Command::ShowReplyTrace => self.send_trace(),
            Command::Compact { turn } => self.compact(turn),
            Command::Answer { ask, answer } => self.route_answer(ask, answer),
            Command::Interrupt => self.interrupt(),
            Command::CheckArguments {
                query,
                tool,
                arguments,
            } => self.check_arguments(query, tool, arguments),
            Command::CancelCall(call) => self.cancel_call(call),
            Command::LeaveCall(call) => self.leave_call(call),
            Command::Probe | Command::StopProbe => self.route_probe_command(&command),
            Command::SendNow => self.send_now(),
            Command::SelectModel(_)
            | Command::UseModel { .. }
            | Command::KeepModel
            | Command::ListCatalog
            | Command::AddModel(_)
            | Command::ListServerModels { .. }
            | Command::StopListingServer
            | Command::PullModel { .. }
            | Command::StopPull
            | Command::RemoveModel { .. }
            | Command::SetThink(_) => self.route_model_command(command),
            Command::SetToolMode(_) | Command::SetTheme(_) => self.route_setting_command(command),
            Command::ToggleServer(_)
            | Command::ReconnectServer(_)
            | Command::SignIn(_)
            | Command::FindImportSources(_)
            | Command::NewServer(_)
            | Command::ReadServerLog { .. }
            | Command::ToggleAlwaysOffered { .. }
            | Command::ToggleTool { .. }
            | Command::ReviewInstructions(_)
            | Command::ReviewTool { .. }
            | Command::Revoke(_) => self.route_server_command(command),
            Command::NewSession => self.begin_empty_session(),
            Command::ListSessions(_) | Command::PreviewSession { .. } => {
                self.route_session_list_command(command);
            }
            Command::OpenSession(id) => sessions::open(id, &mut self.cx),
            Command::DeleteSession(id) => self.delete_session(id),
            Command::SavedSession(command) => self.route_saved_session_command(command),
            Command::Reload => self.settings.read_files(true, &mut self.cx),
            Command::ListPromptTemplates => prompt_templates::list(&mut self.cx),
            Command::SelectPersona(name) => self.select_persona(name.as_deref()),
            Command::ReplaceSystemPrompt => self.settings.read_outdated_prompt(&mut self.cx),
            Command::DropSummary => self.drop_summary(),
            Command::Note(command) => self.route_note_command(command),
            Command::ListBranches { .. }
            | Command::Rewind
            | Command::DropCancelled(_)
            | Command::SwitchBranch(_)
            | Command::ReplaceAnswer { .. }
            | Command::ForkSession => self.change_session(command),
            Command::RenameSession(title) => self.rename(&title),
            Command::SetPrivate(private) => self.set_private(private),
            Command::SaveDraft(_) | Command::SaveSetAsideDraft(_) => self.route_draft(command),
            Command::AddToHistory(_) | Command::RememberCommand(_) => self.remember(command),
            Command::ServerContent(command) => self.handle_server_content(command),
            Command::Attach { .. }
            | Command::FindFiles { .. }
            | Command::FindMentioned(..)
            | Command::CheckImageSupport => self.route_attachment(command),
            Command::Shutdown | Command::ShutdownKeepingTurn => {} // See `handle_command`.
        }
    }

    fn route_draft(&mut self, command: Command) {
        match command {
            Command::SaveDraft(draft) => self.save_draft(draft),
            Command::SaveSetAsideDraft(draft) => self.write_draft(draft),
            _ => {}
        }
    }

    fn route_probe_command(&mut self, command: &Command) {
        match command {
            Command::StopProbe => self.probe.stop(&mut self.cx),
            _ => self.start_probe(),
        }
    }

    fn select_persona(&mut self, name: Option<&str>) {
        let personas = self.settings.personas_mut();
        personas.select(name, &self.toolset, &mut self.cx);
    }

    fn route_session_list_command(&mut self, command: Command) {
        match command {
            Command::ListSessions(query) => self.saved.list(query, &self.cx),
            Command::PreviewSession {
                query,
                session,
                terms,
            } => self.saved.preview(query, session, terms, &self.cx),
            _ => {}
        }
    }

    fn handle_server_content(&mut self, command: ServerContentCommand) {
        let (hub, cx) = (&self.hub, &mut self.cx);
        let guard = self.guards.current();
        self.server_content.handle(command, hub, guard, cx);
    }

    fn route_attachment(&mut self, command: Command) {
        let cx = &mut self.cx;
        match command {
            Command::Attach {
                query,
                source: AttachmentSource::Resource { server, uri },
            } => server_content::read_resource(query, server, uri, &self.hub, cx),
            Command::Attach { query, source } => self.attachments.read(query, source, cx),
            Command::FindFiles { query, fragment } => self.attachments.find(query, fragment, cx),
            Command::FindMentioned(query, paths) => {
                self.attachments.find_mentioned(query, paths, cx);
            }
            Command::CheckImageSupport => {
                if let Some(model) = self.models.current() {
                    attachments::check_image_support(model, cx);
                }
            }
            _ => {}
        }
    }

    fn route_model_command(&mut self, command: Command) {
        let Self { models, cx, .. } = self;
        match command {
            Command::SelectModel(model) => models.select_model(&model, cx),
            Command::UseModel { server, model } => models.use_model(&server, &model, cx),
            Command::KeepModel => models.keep_model(cx),
            Command::ListCatalog => models.list_catalog(cx),
            Command::AddModel(new) => models.add_model(new, cx),
            Command::ListServerModels { query, server } => {
                models.list_new_server(query, &server, cx);
            }
            Command::StopListingServer => models.stop_listing_new_server(),
            Command::PullModel { server, name } => models.pull_model(server, &name, cx),
            Command::StopPull => models.stop_pull(cx),
            Command::RemoveModel { server, name } => {
                let turn_model = self.turn.as_ref().and_then(|turn| turn.model.as_deref());
                models.remove_model(server, name, turn_model, cx);
            }
            Command::SetThink(think) => models.set_think(think, cx),
            _ => {}
        }
    }

    fn start_probe(&mut self) {
        if self.turn.is_some() {
            let notice = Notice::warning("A turn is still running.");
            return self
                .cx
                .notice(notice.with_advice("Start the probe when it has ended."));
        }
        let model = self.models.current();
        let probe = model.map(|model| {
            let (num_ctx, approved_num_ctx) = self.models.context.num_ctx_of(model);
            DialectProbe {
                provider: self.cx.provider.clone(),
                built_in_server: Arc::clone(&self.built_in_server),
                model: Arc::clone(model),
                system_prompt: Arc::clone(self.settings.file_prompt()),
                num_ctx,
                approved_num_ctx,
                idle_seconds: self.cx.settings.limits.idle_seconds,
            }
        });
        let probe = probe.ok_or_else(|| no_model(&self.cx));
        self.probe.start(probe, &mut self.cx);
    }

    /// Changes the conversation or lists its branches, unless a turn is running.
    fn change_session(&mut self, command: Command) {
        if self.turn.is_some() {
            let notice = Notice::info("A turn is still running.");
            return self.cx.notice(notice.with_advice(Advice::WaitOrStop));
        }
        match command {
            Command::ListBranches { turns_from_end } => {
                self.conversation
                    .list_branches(turns_from_end, &mut self.cx);
            }
            Command::Rewind => {
                let notes = self.conversation.take_notes_of_last_turn();
                if self.conversation.rewind() {
                    self.conversation.report_branch_counts(&mut self.cx);
                    self.save_and_estimate();
                    self.remove_notes(notes, "Undone.", None);
                }
            }
            Command::DropCancelled(prompt) if self.conversation.drop_cancelled(&prompt) => {
                self.persist.save_conversation(&self.conversation, &self.cx);
            }
            Command::SwitchBranch(wanted)
                if self.conversation.switch_branch(&wanted, &mut self.cx) =>
            {
                self.save_and_estimate();
            }
            Command::ReplaceAnswer {
                turns_from_end,
                answer,
            } if self
                .conversation
                .replace_answer(turns_from_end, &answer, &mut self.cx) =>
            {
                self.save_and_estimate();
            }
            Command::ForkSession if self.persist.can_fork(&self.conversation, &mut self.cx) => {
                let title = self.conversation.session().title().to_owned();
                SavedSessions::find_copy_title(self.conversation.seq(), title, &mut self.cx);
            }
            _ => {}
        }
    }

    /// Sends the raw replies of the running turn, or of the last one if none is running.
    fn send_trace(&mut self) {
        let running_trace = self.turn.as_ref().map(|turn| turn.driver.trace());
        let trace = running_trace.unwrap_or(&self.last_trace).clone();
        self.cx.jobs.spawn_blocking(move || {
            let lines = Arc::new(trace.lines());
            JobResult::Events(vec![Event::ReplyTraceLoaded(lines)])
        });
    }

    fn check_arguments(&mut self, query: QueryId, tool: Arc<Tool>, arguments: Arguments) {
        let check = ArgumentCheck {
            tool,
            arguments,
            may_repair: false,
        };
        let results = self.argument_checker.run(vec![check]);
        self.cx.jobs.spawn(async move {
            let check = results.await.pop().unwrap_or(SchemaCheck::Unchecked);
            JobResult::Events(vec![Event::ArgumentsChecked { query, check }])
        });
    }

    /// Saves a prompt or a command for later runs.
    fn remember(&mut self, command: Command) {
        match command {
            Command::AddToHistory(text) => self.add_to_history(text),
            Command::RememberCommand(name) => self.remember_command(name),
            _ => {}
        }
    }

    /// A blank draft removes the saved one, even in a private conversation.
    fn save_draft(&mut self, draft: UnsentText) {
        if self.persist.is_private() && !draft.is_blank() {
            return;
        }
        self.write_draft(draft);
    }

    fn write_draft(&mut self, draft: UnsentText) {
        let history = Arc::clone(&self.cx.history);
        let save = history.next_save();
        self.cx.jobs.spawn_blocking(move || {
            if let Err(error) = history.save_draft_as(save, &draft) {
                tracing::warn!("the draft could not be saved: {error}");
            }
            JobResult::Nothing
        });
    }

    /// Whether prompts and commands are forgotten: in a private conversation, in a one-shot run, and
    /// in a run that saves nothing.
    fn keeps_no_history(&self) -> bool {
        let options = &self.cx.options;
        options.no_save || options.is_one_shot || self.persist.is_private()
    }

    /// Adds a prompt to the saved history, unless this run or conversation keeps none.
    pub(super) fn add_to_history(&mut self, prompt: String) {
        if self.keeps_no_history() {
            return;
        }
        let history = Arc::clone(&self.cx.history);
        self.cx.jobs.spawn_blocking(move || {
            if let Err(error) = history.append(&prompt) {
                tracing::warn!("the prompt could not be added to the history: {error}");
            }
            JobResult::Nothing
        });
    }

    /// Saves a command of the palette, unless this run or conversation keeps no history.
    fn remember_command(&mut self, name: String) {
        if self.keeps_no_history() {
            return;
        }
        let recent = self.cx.recent_commands.clone();
        self.cx.jobs.spawn_blocking(move || {
            if let Err(error) = recent.remember(&name) {
                tracing::warn!("the recent commands could not be saved: {error}");
            }
            JobResult::Nothing
        });
    }
}
