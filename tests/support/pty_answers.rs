//! Answers that a user types to questions on a terminal that prints lines.

use super::{ENTER, PtyTerminal, TerminalOptions};
use std::ffi::OsString;
use std::time::Duration;

/// How long after its question an answer counts.
const READING_TIME: Duration = Duration::from_millis(600);
/// Keys that follow each other sooner may count as pasted.
const KEY_GAP: Duration = Duration::from_millis(60);

impl TerminalOptions<'_> {
    /// Runs the program as a job of a shell. In `script`, `"$0" "$@"` starts it.
    pub fn in_shell(mut self, script: &str) -> Self {
        let argv = self.command.get_argv_mut();
        let shell = ["sh", "-m", "-c", script].map(OsString::from);
        argv.splice(0..0, shell);
        self
    }
}

impl PtyTerminal {
    /// Types the answer to a question once it could be read, in a terminal that prints lines.
    pub fn answer(&self, question: &str, text: &str) {
        self.wait_for(&format!("`{question}` is asked"), |screen| {
            screen.contents().trim_end().ends_with(question)
        });
        std::thread::sleep(READING_TIME);
        self.type_answer(text);
    }

    /// Types an answer and then Enter: an answer that arrives at once counts as pasted.
    pub fn type_answer(&self, text: &str) {
        if !text.is_empty() {
            let bytes_before = self.bytes_written();
            self.press(text);
            self.wait_for_output_beyond(bytes_before);
            std::thread::sleep(KEY_GAP);
        }
        self.press(ENTER);
    }
}
