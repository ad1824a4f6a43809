//! The help, the logs and the clipboard.

use super::pending::PendingReply;
use super::state::Linear;
use crate::commands;
use crate::domain::{ServerLog, ServerLogLine};
use crate::protocol::Command;
use crate::text::Clean;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

const LOG_LINES_SHOWN: usize = 30;
/// Many terminals ignore longer sequences.
const COPIED_BYTES_MAX: usize = 74_000;

const TYPING_HELP: &str = "\
Type a message and press Enter.
A line that ends in \\ continues on the next line. Lines between two lines of \"\"\" are one message.
Pasted lines wait until you press Enter.
A message that is sent during a turn is queued.
Ctrl+C stops the turn; with nothing running, it discards the line, and a second one leaves.
Ctrl+D on an empty line leaves.
In a list, type a number; 0 changes nothing.
Before a tool runs, the call is shown in full: y runs it, n refuses it and ends the turn, d denies it and goes on.";

impl Linear {
    /// All commands, or those that contain the word.
    pub fn help(&mut self, word: &str) {
        if word.is_empty() {
            self.say(TYPING_HELP);
            self.say("Commands:");
        }
        let word = word.to_lowercase();
        for row in commands::COMMANDS {
            let line = format!("{} {}: {}", row.name, row.usage, row.description);
            let found = format!("{line} {}", row.search_words).to_lowercase();
            if found.contains(&word) {
                self.say(&line.replacen(" :", ":", 1));
            }
        }
        let templates = self.engine.templates.clone();
        for template in &templates.list {
            let line = format!("/{}: {}", template.name, template.description);
            if line.to_lowercase().contains(&word) {
                self.output.clean_line(&Clean::single_line(&line));
            }
        }
    }

    pub fn print_log(&mut self) {
        let skipped = self.engine.log.len().saturating_sub(LOG_LINES_SHOWN);
        let lines = self.engine.log.iter().skip(skipped);
        let lines: Vec<String> = lines.map(|line| line.text.clone()).collect();
        if lines.is_empty() {
            self.say("The log has no lines yet.");
        }
        lines.iter().for_each(|line| self.say(line));
        self.say("The files of the log are in the folder `logs` of humble's home.");
    }

    pub fn request_trace(&mut self) {
        self.pending = PendingReply::Trace;
        self.send(Command::ShowReplyTrace);
    }

    pub fn print_server_log(&mut self, log: &ServerLog) {
        let name = Clean::name(log.server.as_str());
        if log.lines.is_empty() {
            return self.say(&format!("Server `{name}` has written nothing to its log."));
        }
        self.say(&format!("The log of server `{name}`:"));
        let skipped = log.lines.len().saturating_sub(LOG_LINES_SHOWN);
        for line in log.lines.iter().skip(skipped) {
            let (ServerLogLine::Stderr(text) | ServerLogLine::Program(text)) = line;
            let text = Clean::single_line(text);
            self.say(&format!("  | {text}"));
        }
    }

    /// Copies by the terminal (OSC 52).
    pub fn copy(&mut self, text: &str) {
        if self.options.is_dumb {
            return self.say(
                "This terminal cannot copy (TERM is dumb). /export writes the conversation to a file.",
            );
        }
        if text.len() > COPIED_BYTES_MAX {
            return self.say(
                "This is too long for the terminal's clipboard. /export writes it to a file.",
            );
        }
        self.output
            .control(&format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text)));
        let lines = text.lines().count();
        self.say(&format!(
            "Sent {lines} line{} to the terminal's clipboard (OSC 52). Not every terminal accepts it.",
            if lines == 1 { "" } else { "s" }
        ));
    }
}
