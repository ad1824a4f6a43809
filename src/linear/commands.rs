//! The slash commands. All rows are shared with the screen; a command that needs the screen says
//! what to use instead. No command is ever sent to the model.

use super::state::Linear;
use crate::commands::{
    self, CommandCx, CommandState, FrontEndCommand, FrontEndCommand as F, PickList, Run, Wanted,
    WantedView, command_with_meaning, models,
};
use crate::domain::{Notice, Prompt, ServerId};
use crate::protocol::{Command, SignInCommand};
use crate::text::Clean;
use crate::text::suggest::nearest;

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
        match row.run {
            Run::Shared(run) => run(self, argument),
            Run::FrontEnd(_) if row.needs_argument() && argument.is_empty() => {
                self.notify(row.usage_notice());
            }
            Run::FrontEnd(command) => self.run_own(command, argument),
        }
    }

    /// A template, a prompt of a server, or an unknown command.
    fn run_other_command(&mut self, name: &str, argument: &str) {
        let bare_name = &name[1..];
        if let Some(template) = self.engine.templates.find(bare_name).cloned() {
            return self.use_template(&template, argument);
        }
        if self.use_server_prompt(bare_name, argument) {
            return;
        }
        if bare_name.is_empty() {
            let notice = Notice::info("Type the name of a command after the slash.");
            return self.notify(notice.with_advice("/help lists them all."));
        }
        let name = name.to_lowercase();
        let templates = self.engine.templates.list.iter();
        let templates: Vec<String> = templates
            .map(|template| format!("/{}", template.name))
            .collect();
        let names = commands::COMMANDS.iter().map(|row| row.name);
        let names = names.chain(templates.iter().map(String::as_str));
        let similar = nearest(&name, names).or_else(|| command_with_meaning(&name[1..]));
        let advice = match similar {
            Some(similar) => format!("Did you mean {}?", Clean::single_line(similar).as_str()),
            None if bare_name.contains('/') => "To send a path, put a space before it.".to_owned(),
            None => "/help lists them all.".to_owned(),
        };
        self.notify(Notice::warning(format!("Unknown command {name}.")).with_advice(advice));
    }

    fn run_own(&mut self, command: FrontEndCommand, argument: &str) {
        match command {
            F::Help => self.help(argument),
            F::Quit => self.quit(),
            F::NewSession => self.send(Command::NewSession),
            F::Thinking => self.toggle_thinking(),
            F::Tools => self.tools(argument),
            F::Trust => self.trust(),
            F::Sessions => self.list_sessions(argument),
            F::Export => self.export_command(argument),
            F::Private => self.set_private(argument),
            F::Branches => self.list_branches(argument),
            F::Retry => self.retry(),
            F::EditLast => self.edit_last(),
            F::Undo => self.undo(),
            F::Continue => self.continue_answer(),
            F::Compact if !self.has_to_wait() => self.request_summary(),
            F::Compact => {}
            F::CopyAnswer => self.copy(argument),
            F::Attach => self.attach(argument),
            F::Detach => self.detach(argument),
            F::ServerPrompt => self.server_prompt(argument),
            F::Resource => self.resource(argument),
            F::Chat => self.submit(Prompt::new(argument).bypassing_agents()),
            F::Log => self.log(argument),
            F::Answer => self.answer_waiting(),
            other => self.say(needs_screen(other)),
        }
    }

    /// Asks for what a command lacks.
    fn ask_for_wanted(&mut self, wanted: Wanted) {
        match wanted {
            Wanted::Row(list) => self.pick_row(list),
            Wanted::Argument { row, question } => {
                self.ask_text(&question, |linear, text| match text.trim() {
                    "" => linear.say("Nothing was changed."),
                    text => row.run_shared(linear, text),
                });
            }
            Wanted::Deletion { session, title } => self.confirm_deletion(session, &title),
            Wanted::View(view) => self.show_view(view),
        }
    }

    fn show_view(&mut self, view: WantedView) {
        match view {
            WantedView::Models => self.list_catalog(),
            WantedView::ConfiguredModels => self.list_models(),
            WantedView::PulledModel => self.notify(models::MODELS.usage_notice()),
            WantedView::Servers => self.list_servers(),
            WantedView::Server(id) => self.show_server(&id),
            WantedView::HideServers => self.say(needs_screen(F::ToggleSidebar)),
            WantedView::AddServer(server) => self.add_server(&server),
            WantedView::ServerLog(id) => self.print_log_of(id),
            WantedView::SignIn(id) => self.send(Command::SignIn(SignInCommand::Start(id))),
            WantedView::Variables(id) => self.ask_for_missing_variables(id),
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

    pub fn send_if_idle(&mut self, command: Command) {
        if !self.has_to_wait() {
            self.send(command);
        }
    }

    fn answer_waiting(&mut self) {
        if self.waiting_questions.is_empty() {
            self.say("No question waits for your answer.");
        }
    }
}

/// The alternative to a command that needs the screen.
fn needs_screen(command: FrontEndCommand) -> &'static str {
    match command {
        F::ImportServers => {
            "Use `humble mcp import` in a shell: it lists the servers of other clients and imports them."
        }
        F::ChangeKeys => {
            "The linear mode has no keys of its own: the terminal edits the line. Ctrl+C stops, Ctrl+D leaves."
        }
        F::Find => "Use the search of your terminal or screen reader: all text stays in it.",
        F::Raw => "Answers are always shown as the model wrote them.",
        F::ToggleSidebar => "/mcp lists the servers and their tools.",
        _ => "This command acts on the screen, which the linear mode does not have.",
    }
}
