//! Events of the engine. Each change of the state is printed once.

use super::pending::PendingReply;
use super::state::Linear;
use crate::domain::{
    Banner, Notice, Prompt, Server, ServerStatus, Session, Severity, ToolMode, Transcript,
};
use crate::protocol::{Event, SavedSessionEvent};
use crate::text::Clean;

impl Linear {
    pub fn handle_event(&mut self, event: Event) {
        self.announce(&event);
        if let Event::ServersListed(servers) = &event {
            self.servers.clone_from(servers);
        }
        let Some(event) = self.engine.apply(event) else {
            return;
        };
        match event {
            Event::Turn(turn, event) => self.turn_event(turn, &event),
            Event::Asked { ask, question, .. } => self.asked(ask, question),
            Event::AskClosed(ask) => self.ask_closed(ask),
            Event::SessionOpened(session) => self.session_opened(&session),
            Event::SessionSaved(session) => {
                let stopped_prompt = self.transcript.first_prompt_with_text();
                self.conversation.saved(session, stopped_prompt);
            }
            Event::SessionNotOpened => {
                self.conversation.is_opening = false;
                self.say("The conversation was not opened.");
            }
            Event::SessionRenamed(title) => self.conversation.set_title(title),
            Event::PrivateChanged(is_private) => self.conversation.is_private = is_private,
            Event::PromptOffered { prompt, notice } => self.prompt_offered(prompt, notice),
            Event::TurnResumed(prompt) => self.resume_turn(prompt),
            Event::ResumingTurn => self.conversation.is_opening = true,
            Event::CatalogChanged(catalog) => self.catalog_changed(catalog),
            Event::ProbeChanged(state) => self.probe_changed(state.as_ref()),
            Event::ServerChanged(server) => self.server_changed(server),
            Event::TrustChanged(entries) => self.engine.trust_entries = entries,
            Event::AttachmentRead { query, result } => self.attachment_read(query, result),
            Event::LeftTaskEnded { call, files } => {
                self.transcript.end_left_call(&call);
                let files = files.into_iter().map(|file| file.attachment);
                self.attachments.extend(files);
            }
            Event::NoticePosted(notice) => self.notice_posted(notice),
            Event::LowPriorityNoticePosted(notice) if self.output.is_prompt_shown => {
                self.later.push(notice);
            }
            Event::LowPriorityNoticePosted(notice) => self.notice_posted(notice),
            Event::SamplingChanged(servers) => {
                if !servers.is_empty() && !self.is_sampling {
                    self.say("The model is generating an answer for a server. Ctrl+C stops it.");
                }
                self.is_sampling = !servers.is_empty();
            }
            Event::InterruptAcknowledged => self.interrupt_deadline = None,
            Event::SavedSession(SavedSessionEvent::Forked { title }) => {
                self.conversation.set_title(title);
            }
            event => self.reply_to_command(event),
        }
    }

    /// Announces changes of the state that the screen shows all the time.
    fn announce(&mut self, event: &Event) {
        match event {
            Event::ModelsListed { selected, .. } if *selected != self.engine.selected => {
                match selected {
                    // Later changes are reported by notices.
                    Some(_) if self.has_prompted => {}
                    Some(model) => self.say(&format!("Model: {}", model.name)),
                    None => self.say("No model is selected. /set-model lists the models."),
                }
            }
            Event::ToolModeChanged(ToolMode::Auto) if !self.has_prompted => {
                self.say("Tool mode: auto. Calls run without asking.");
            }
            Event::PersonasListed {
                selected: Some(name),
                ..
            } if !self.has_prompted => self.say(&format!("Persona: {name}")),
            Event::ModelsListed { selected: None, .. } if !self.has_prompted => {
                self.say("No model is selected. /set-model lists the models.");
                self.say("`humble demo --linear` shows humble without a model.");
            }
            Event::BannersChanged(banners) => self.announce_banners(banners),
            Event::ReplyTraceLoaded(lines) if matches!(self.pending, PendingReply::Trace) => {
                self.pending = PendingReply::None;
                if lines.is_empty() {
                    self.say("There was no answer yet.");
                }
                lines.iter().for_each(|line| self.say(&line.to_text()));
            }
            Event::PullChanged(None) if self.engine.pull.is_some() => {
                self.say("The download has ended.");
            }
            Event::PullChanged(Some(pull)) if self.engine.pull.is_none() => {
                self.say(&format!("Downloading {}.", pull.name));
            }
            Event::HistoryLoaded {
                draft: Some(draft), ..
            } if !draft.is_blank() => {
                let count = usize::from(!draft.message.trim().is_empty()) + draft.queue.len();
                if count > 0 {
                    self.say(
                        "Unsent text of an earlier run is kept. Start humble without --linear to see it.",
                    );
                }
            }
            _ => {}
        }
    }

    fn announce_banners(&mut self, banners: &[Banner]) {
        let old: Vec<&Banner> = self.engine.banners.iter().collect();
        let new = banners.iter().filter(|banner| !old.contains(banner));
        let new: Vec<Notice> = new.map(|banner| banner.notice.clone()).collect();
        new.iter().for_each(|notice| self.output.notice(notice));
    }

    fn notice_posted(&mut self, notice: Notice) {
        let is_urgent = notice.severity != Severity::Info;
        if self.turn.is_open() && !is_urgent {
            // It must not cut a sentence in two.
            return self.later.push(notice);
        }
        self.notify(notice);
    }

    fn session_opened(&mut self, session: &Session) {
        // Prompts that waited while the conversation was being opened belong to it.
        if !self.conversation.is_opening {
            self.withdraw_queue();
        }
        self.transcript = Transcript::from_session(session);
        self.conversation.open(session);
        self.pending = PendingReply::None;
        if session.messages.is_empty() && session.id.is_none() {
            return self.say("New conversation.");
        }
        let title = Clean::single_line(session.title());
        let count = session.messages.len();
        let plural = if count == 1 { "" } else { "s" };
        self.say(&format!(
            "Conversation \"{title}\", {count} message{plural}."
        ));
        self.print_last_turn();
        self.send_queued();
    }

    fn prompt_offered(&mut self, prompt: Prompt, notice: Option<Notice>) {
        self.conversation.is_opening = false;
        if let Some(notice) = notice {
            self.notify(notice);
        }
        self.say(&format!(
            "The prompt of the unfinished turn:\n{}",
            prompt.text
        ));
        self.say("Enter on an empty line sends it again; /undo drops it.");
        self.queue.push_front(prompt);
    }

    fn server_changed(&mut self, server: Server) {
        let old = self.servers.iter_mut().find(|old| old.id == server.id);
        let old_status = match old {
            Some(old) => Some(std::mem::replace(old, server.clone()).status),
            None => {
                self.servers.push(server.clone());
                None
            }
        };
        if old_status.as_ref() == Some(&server.status) {
            return;
        }
        match &server.status {
            ServerStatus::Failed(notice) | ServerStatus::NeedsSignIn(notice) => {
                self.awaited_servers.remove(&server.id);
                self.notify(notice.clone());
            }
            ServerStatus::Connected if self.awaited_servers.remove(&server.id) => {
                let name = Clean::name(server.id.as_str());
                let tools = match server.available_tools().count() {
                    1 => "1 tool".to_owned(),
                    count => format!("{count} tools"),
                };
                self.say(&format!("Server `{name}` is connected with {tools}."));
            }
            _ => {}
        }
    }

    fn probe_changed(&mut self, state: Option<&crate::domain::probe::ProbeState>) {
        let was_probing = std::mem::replace(
            &mut self.is_probing,
            state.is_some_and(|state| !state.is_finished),
        );
        let dialect = state.and_then(|state| state.dialect);
        let step = dialect.map(|dialect| format!("Probe: trying {}.", dialect.name()));
        match step {
            Some(step) if self.turn.last_step != step => {
                self.say(&step);
                self.turn.last_step = step;
            }
            None if was_probing && !self.is_probing => {
                self.turn.last_step.clear();
                self.send_queued();
            }
            _ => {}
        }
    }
}
