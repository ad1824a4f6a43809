//! The slash commands. All names come from the screen's table; a command that needs the screen says
//! what to use instead. No command is ever sent to the model.

use super::state::Linear;
use crate::domain::{Notice, Prompt, ToolMode};
use crate::protocol::{Command, NoteCommand};
use crate::text::Clean;
use crate::text::suggest::nearest;
use crate::tui::keymap::{self, Action};
use crate::tui::palette::command_with_meaning;
use crate::tui::settings::context_notice;

impl Linear {
    pub fn run_command(&mut self, line: &str) {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        let Some((_, binding)) = keymap::find_command(name) else {
            return self.run_other_command(name, argument);
        };
        match binding.command_that_needs_argument() {
            Some(command) if argument.is_empty() && !asks_for_argument(binding.action) => {
                self.say(&format!("Usage: {command} {}", binding.usage));
            }
            _ => self.run_action(binding.action, argument),
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
        let names = keymap::commands().map(|(command, _)| command);
        let names = names.chain(templates.iter().map(String::as_str));
        let similar = nearest(&name, names).or_else(|| command_with_meaning(&name[1..]));
        let advice = match similar {
            Some(similar) => format!("Did you mean {}?", Clean::single_line(similar).as_str()),
            None if bare_name.contains('/') => "To send a path, put a space before it.".to_owned(),
            None => "/help lists them all.".to_owned(),
        };
        self.notify(Notice::warning(format!("Unknown command {name}.")).with_advice(advice));
    }

    fn run_action(&mut self, action: Action, argument: &str) {
        match action {
            Action::Help => self.help(argument),
            Action::Quit => self.quit(),
            Action::NewSession => self.send(Command::NewSession),
            Action::SetModel => self.set_model(argument),
            Action::Models => self.models(argument),
            Action::Think => self.think(argument),
            Action::Thinking => self.toggle_thinking(),
            Action::SetToolMode => self.set_tool_mode(argument),
            Action::SetPersona => self.set_persona(argument),
            Action::Mcp => self.mcp(argument),
            Action::Tools => self.tools(argument),
            Action::ToggleServer => self.toggle_server(argument),
            Action::Trust => self.trust(),
            Action::Sessions => self.list_sessions(argument),
            Action::Rename => self.rename(argument),
            Action::Export => self.export_command(argument),
            Action::DeleteSession => self.delete(argument),
            Action::Fork => self.send_if_idle(Command::ForkSession),
            Action::Private => self.set_private(argument),
            Action::Branches => self.list_branches(argument),
            Action::Retry => self.retry(),
            Action::EditLast => self.edit_last(),
            Action::Undo => self.undo(),
            Action::Continue => self.continue_answer(),
            Action::Compact if !self.has_to_wait() => self.request_summary(),
            Action::Compact => {}
            Action::Context => self.notify(context_notice(self.engine.context_meter)),
            Action::CopyAnswer => self.copy(argument),
            Action::Attach => self.attach(argument),
            Action::Detach => self.detach(argument),
            Action::ServerPrompt => self.server_prompt(argument),
            Action::Resource => self.resource(argument),
            Action::Chat => self.submit(Prompt::new(argument).bypassing_agents()),
            Action::Note => self.send(Command::Note(match argument {
                "" => NoteCommand::ShowOpen,
                "off" => NoteCommand::Close,
                note => NoteCommand::Open(note.to_owned()),
            })),
            Action::Notes => self.notes(argument),
            Action::Probe => self.send_if_idle(Command::Probe),
            Action::Reload => self.send(Command::Reload),
            Action::SystemPrompt => self.send(Command::ReplaceSystemPrompt),
            Action::Log => self.log(argument),
            Action::CancelCall | Action::LeaveCall => self.running_call(action, argument),
            Action::Answer => self.answer_waiting(),
            other => self.say(needs_screen(other)),
        }
    }

    pub fn send_if_idle(&mut self, command: Command) {
        if !self.has_to_wait() {
            self.send(command);
        }
    }

    fn set_tool_mode(&mut self, argument: &str) {
        if let Some(mode) = ToolMode::from_name(argument) {
            if mode == self.engine.mode {
                self.say(&format!("The tool mode is already {argument}."));
            }
            return self.send(Command::SetToolMode(mode));
        }
        if !argument.is_empty() {
            return self.say("Please enter either auto or manual.");
        }
        let rows = [
            ("manual", "ask before each call"),
            ("auto", "run calls without asking"),
        ];
        let rows = rows.map(|(name, note)| (name.to_owned(), note.to_owned()));
        self.pick(
            "Tool mode",
            "Keep the current mode",
            &rows,
            |linear, index| {
                let modes = [ToolMode::Manual, ToolMode::Auto];
                linear.send(Command::SetToolMode(modes[index]));
            },
        );
    }

    fn notes(&mut self, argument: &str) {
        let command = match argument {
            "" => NoteCommand::ShowConsulting,
            "on" => NoteCommand::Consult(true),
            "off" => NoteCommand::Consult(false),
            path if path.contains('/') || path.starts_with(['~', '.']) => {
                NoteCommand::UseFolder(path.to_owned())
            }
            _ => return self.say("Usage: /notes [on|off|PATH]. A folder here is ./NAME."),
        };
        self.send(Command::Note(command));
    }

    fn answer_waiting(&mut self) {
        if self.waiting_questions.is_empty() {
            self.say("No question waits for your answer.");
        }
    }
}

/// Whether the command asks for a missing argument itself.
fn asks_for_argument(action: Action) -> bool {
    matches!(action, Action::Rename | Action::SystemPrompt)
}

/// The alternative to an action that needs the screen.
fn needs_screen(action: Action) -> &'static str {
    match action {
        Action::ImportServers => {
            "Use `humble mcp import` in a shell: it lists the servers of other clients and imports them."
        }
        Action::ChangeKeys => {
            "The linear mode has no keys of its own: the terminal edits the line. Ctrl+C stops, Ctrl+D leaves."
        }
        Action::Find => "Use the search of your terminal or screen reader: all text stays in it.",
        Action::Raw => "Answers are always shown as the model wrote them.",
        Action::ToggleSidebar => "/mcp lists the servers and their tools.",
        _ => "This command acts on the screen, which the linear mode does not have.",
    }
}
