//! The slash commands. All rows are shared with the screen; a command that needs the screen says
//! what to use instead. No command is ever sent to the model.

use super::state::Linear;
use crate::commands::{
    self, CommandCx, CommandState, PickList, ScreenPart, Wanted, WantedView, models,
};
use crate::domain::{Notice, Prompt, ServerId};
use crate::front_end::undo::{SUMMARY_REMOVED, Undone, undo};
use crate::protocol::{Command, SignInCommand};

const NEEDS_SCREEN: &str = "This command acts on the screen, which the linear mode does not have.";

impl CommandCx for Linear {
    fn state(&self) -> CommandState<'_> {
        CommandState {
            engine: &self.engine,
            servers: &self.servers,
            conversation: &self.conversation,
            transcript: &self.transcript,
            selected_call: None,
        }
    }

    fn send(&mut self, command: Command) {
        Self::send(self, command);
    }

    fn notify(&mut self, notice: Notice) {
        Self::notify(self, notice);
    }

    fn has_to_wait(&mut self) -> bool {
        Self::has_to_wait(self)
    }

    fn ask_for(&mut self, wanted: Wanted) {
        self.ask_for_wanted(wanted);
    }

    fn await_server(&mut self, id: &ServerId) {
        self.awaited_servers.insert(id.clone());
    }
}

impl Linear {
    pub fn run_command(&mut self, line: &str) {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        let Some(row) = commands::find_command(name) else {
            return self.run_other_command(name, argument);
        };
        (row.run)(self, argument);
    }

    /// A template, a prompt of a server, or an unknown command.
    fn run_other_command(&mut self, name: &str, argument: &str) {
        let bare_name = &name[1..];
        if let Some(template) = self.engine.templates.find(bare_name).cloned() {
            return self.use_template(&template, argument);
        }
        if !self.use_server_prompt(bare_name, argument) {
            self.notify(commands::unknown_command(name, &self.engine.templates));
        }
    }

    fn ask_for_wanted(&mut self, wanted: Wanted) {
        match wanted {
            Wanted::Row(list) => self.pick_row(list),
            Wanted::Argument { row, question } => {
                self.ask_text(&question, |linear, text| match text.trim() {
                    "" => linear.say("Nothing was changed."),
                    command if command.starts_with('/') => linear.run_command(command),
                    text => (row.run)(linear, text),
                });
            }
            Wanted::Deletion { session, title } => self.confirm_deletion(session, &title),
            Wanted::Turn(prompt) => self.submit(prompt),
            Wanted::ChatPrompt(text) => self.submit(Prompt::new(text).bypassing_agents()),
            Wanted::Summary => self.request_summary(),
            Wanted::EditedPrompt { text, files } => self.edit_prompt(&text, files),
            Wanted::Undo => self.undo(),
            Wanted::Branch(argument) => self.list_branches(argument),
            Wanted::PrivateMode(is_on) => self.send(Command::SetPrivate(is_on)),
            Wanted::Copy { text, .. } => self.copy(&text),
            Wanted::Export { arguments, .. } => self.export_session(None, arguments),
            Wanted::File(source) => self.read_file(source),
            Wanted::Detachment(argument) => self.detach(&argument),
            Wanted::Exit => self.quit(),
            Wanted::View(view) => self.show_view(view),
            Wanted::Part(part) => self.switch_part(&part),
        }
    }

    fn show_view(&mut self, view: WantedView) {
        match view {
            WantedView::Sessions(words) => self.list_sessions(&words),
            WantedView::Models => self.list_catalog(),
            WantedView::ConfiguredModels => self.list_models(),
            WantedView::PulledModel => self.notify(models::MODELS.usage_notice()),
            WantedView::Servers => self.list_servers(),
            WantedView::Server(id) => self.show_server(&id),
            WantedView::AddServer(server) => self.add_server(&server),
            WantedView::ServerLog(id) => self.print_log_of(id),
            WantedView::SignIn(id) => self.send(Command::SignIn(SignInCommand::Start(id))),
            WantedView::Variables(id) => self.ask_for_missing_variables(id),
            WantedView::Tools(words) => self.tools(&words),
            WantedView::Trust => self.trust(),
            WantedView::ServerPrompts(argument) => self.server_prompt(&argument),
            WantedView::Resources(argument) => self.resource(&argument),
            WantedView::Log => self.print_log(),
            WantedView::ReplyTrace => self.request_trace(),
            WantedView::ServerImport => self.say(
                "Use `humble mcp import` in a shell: it lists the servers of other clients and imports them.",
            ),
            WantedView::Theme(_) => self.say(NEEDS_SCREEN),
        }
    }

    /// Says what to use instead of a part of the screen.
    fn switch_part(&mut self, part: &ScreenPart) {
        self.say(match part {
            ScreenPart::Help(word) => return self.help(word),
            ScreenPart::Thinking => return self.toggle_thinking(),
            ScreenPart::Question if !self.waiting_questions.is_empty() => return,
            ScreenPart::Question => "No question waits for your answer.",
            ScreenPart::ChangingKeys => {
                "The linear mode has no keys of its own: the terminal edits the line. Ctrl+C stops, Ctrl+D leaves."
            }
            ScreenPart::Find(_) => {
                "Use the search of your terminal or screen reader: all text stays in it."
            }
            ScreenPart::RawAnswers => "Answers are always shown as the model wrote them.",
            ScreenPart::Sidebar | ScreenPart::HideServers => {
                "/mcp lists the servers and their tools."
            }
            ScreenPart::MouseCapture => NEEDS_SCREEN,
        });
    }

    fn undo(&mut self) {
        if let Some(prompt) = self.queue.pop_front() {
            self.send(Command::AddToHistory(prompt.text));
            return self.say("The queued prompt was dropped.");
        }
        match undo(&mut self.conversation, &mut self.transcript) {
            Undone::Nothing(notice) => self.notify(notice),
            Undone::Summary(None) => {}
            Undone::Summary(Some(command)) => {
                self.send(command);
                self.say(SUMMARY_REMOVED);
            }
            Undone::Turn {
                command,
                was_answered,
                ..
            } => {
                self.send(command);
                let notice = Notice::info("Undone.");
                self.notify(match was_answered {
                    true => notice.with_advice("/branches restores the whole turn."),
                    false => notice,
                });
                self.print_last_turn();
            }
        }
    }

    fn pick_row(&mut self, list: PickList) {
        let mut rows = list.rows;
        let shown = rows.iter().enumerate().map(|(index, row)| {
            let note = match list.current == Some(index) {
                true if row.note.is_empty() => "in use".to_owned(),
                true => format!("{}, in use", row.note),
                false => row.note.clone(),
            };
            (row.name.clone(), note)
        });
        let shown: Vec<(String, String)> = shown.collect();
        self.pick(list.title, list.keep, &shown, move |linear, index| {
            rows.swap_remove(index).pick(linear);
        });
    }
}
