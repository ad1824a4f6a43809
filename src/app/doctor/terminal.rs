//! Checks the terminal by its environment, without taking over the screen or querying it.

use super::report::Check;
use crate::config::UiSettings;
use crate::tui;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The smallest screen on which nothing important is left out.
const COLUMNS_MIN: u16 = 40;
const ROWS_MIN: u16 = 12;
const TMUX_TIMEOUT: Duration = Duration::from_secs(1);

/// What is known about the terminal.
#[derive(Debug, Clone, Default)]
pub struct TerminalFacts {
    pub locale: String,
    pub term: String,
    pub color_term: String,
    pub is_color_off: bool,
    /// Columns and rows; `None` if standard output is no terminal.
    pub size: Option<(u16, u16)>,
    pub has_enhanced_keys: bool,
    pub is_remote: bool,
    pub clipboard_program: Option<&'static str>,
    /// There is a desktop whose clipboard a program could fill.
    pub has_desktop: bool,
    /// tmux's options `focus-events` and `set-clipboard`; `None` outside tmux.
    pub tmux: Option<[String; 2]>,
}

impl TerminalFacts {
    /// Reads the environment and asks tmux. Blocks for at most about two seconds.
    pub fn detect() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let has = |name: &str| !variable(name).is_empty();
        let locales = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable);
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        let remote = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"];
        let programs = tui::terminal::clipboard::program_names().into_iter();
        Self {
            locale: locales
                .into_iter()
                .find(|locale| !locale.is_empty())
                .unwrap_or_default(),
            term: variable("TERM"),
            color_term: variable("COLORTERM"),
            is_color_off: has("NO_COLOR"),
            size: size
                .map(|size| (size.ws_col, size.ws_row))
                .filter(|(columns, _)| *columns > 0),
            has_enhanced_keys: tui::terminal::supports_enhanced_keys(),
            is_remote: remote.into_iter().any(has),
            clipboard_program: programs.into_iter().find(|name| is_installed(name)),
            has_desktop: has("DISPLAY") || has("WAYLAND_DISPLAY"),
            tmux: has("TMUX").then(|| ["focus-events", "set-clipboard"].map(tmux_option)),
        }
    }

    pub fn checks(&self, ui: UiSettings) -> Vec<Check> {
        let mut checks = vec![
            self.text_check(ui),
            self.size_check(),
            self.color_check(),
            self.key_check(ui),
            self.clipboard_check(),
        ];
        checks.extend(self.tmux_check());
        checks
    }

    fn text_check(&self, ui: UiSettings) -> Check {
        let locale = self.locale.to_lowercase();
        let subject = "text encoding";
        if locale.contains("utf-8") || locale.contains("utf8") {
            Check::ok(subject, self.locale.as_str())
        } else if ui.is_ascii {
            let finding = "The locale is not UTF-8; `ui.ascii` is on.";
            let advice = "Set LANG to a UTF-8 locale such as C.UTF-8 to see other letters.";
            Check::warning(subject, finding, advice)
        } else {
            let finding = "The locale is not known to be UTF-8.";
            let advice = "Set LANG to a UTF-8 locale such as C.UTF-8, or `ui.ascii` to true.";
            Check::warning(subject, finding, advice)
        }
    }

    fn size_check(&self) -> Check {
        let subject = "terminal size";
        let Some((columns, rows)) = self.size else {
            let advice = "Run `humble doctor` in the terminal that you use for chats.";
            return Check::skipped(subject, "Standard output is not a terminal.", advice);
        };
        let size = format!("{columns} x {rows}");
        if columns < COLUMNS_MIN || rows < ROWS_MIN {
            let advice = format!("Enlarge the window to {COLUMNS_MIN} x {ROWS_MIN} or more.");
            return Check::warning(subject, format!("{size} is small."), advice);
        }
        Check::ok(subject, size)
    }

    fn color_check(&self) -> Check {
        let subject = "colors";
        let is_true_color = ["truecolor", "24bit"].contains(&self.color_term.as_str());
        match self.term.as_str() {
            _ if self.is_color_off => Check::ok(subject, "none, because NO_COLOR is set"),
            "" | "dumb" => Check::problem(
                subject,
                "TERM names no terminal that can show a full screen.",
                "Use another terminal, or ask with `humble ask`.",
            ),
            _ if is_true_color => Check::ok(subject, "16 million"),
            term if term.contains("256color") => Check::ok(subject, "256"),
            _ => Check::ok(subject, "16"),
        }
    }

    fn key_check(&self, ui: UiSettings) -> Check {
        let subject = "keyboard";
        match (ui.uses_keyboard_protocol, self.has_enhanced_keys) {
            (true, true) => Check::ok(subject, "enhanced keys"),
            (true, false) => Check::ok(
                subject,
                "plain keys; Alt+Enter and Ctrl+J start a new line, Shift+Enter may not",
            ),
            (false, _) => Check::ok(subject, "plain keys (`ui.keyboardProtocol`)"),
        }
    }

    fn clipboard_check(&self) -> Check {
        let subject = "clipboard";
        match self.clipboard_program {
            Some(program) => Check::ok(subject, program),
            None if self.has_desktop && !self.is_remote => Check::warning(
                subject,
                "No clipboard program is installed, so the terminal must copy (OSC 52).",
                "Install wl-clipboard, xclip or xsel.",
            ),
            None => Check::ok(
                subject,
                "the terminal's (OSC 52), if its settings let programs copy",
            ),
        }
    }

    fn tmux_check(&self) -> Option<Check> {
        let [focus, clipboard] = self.tmux.as_ref()?;
        let (finding, lines) = match (focus == "off", clipboard == "off") {
            (false, false) => {
                return Some(Check::ok("tmux", "focus and clipboard are passed on"));
            }
            (true, false) => ("the focus", "`set -g focus-events on`"),
            (false, true) => ("the clipboard", "`set -s set-clipboard on`"),
            (true, true) => (
                "the focus and the clipboard",
                "`set -g focus-events on` and `set -s set-clipboard on`",
            ),
        };
        let finding = format!("tmux does not pass on {finding}.");
        let advice = format!("Add {lines} to ~/.tmux.conf.");
        Some(Check::warning("tmux", finding, advice))
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The value of a tmux option; empty if tmux does not answer in time.
fn tmux_option(name: &str) -> String {
    let scope = if name == "set-clipboard" {
        "-sv"
    } else {
        "-gv"
    };
    let child = Command::new("tmux")
        .args(["show-options", scope, name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        return String::new();
    };
    let deadline = Instant::now() + TMUX_TIMEOUT;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Ok(Some(_)) => {
                let output = child.wait_with_output().map(|output| output.stdout);
                let output = output.unwrap_or_default();
                return String::from_utf8_lossy(&output).trim().to_owned();
            }
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    String::new()
}

#[cfg(test)]
mod tests {
    use super::super::report::Outcome;
    use super::*;

    fn good() -> TerminalFacts {
        TerminalFacts {
            locale: "ko_KR.UTF-8".into(),
            term: "xterm-256color".into(),
            size: Some((80, 24)),
            ..TerminalFacts::default()
        }
    }

    fn outcomes(facts: &TerminalFacts) -> Vec<Outcome> {
        let checks = facts.checks(UiSettings::default()).into_iter();
        checks.map(|check| check.outcome).collect()
    }

    #[test]
    fn usual_terminal_has_no_problem() {
        assert_eq!(outcomes(&good()), [Outcome::Ok; 5]);
    }

    #[test]
    fn each_shortcoming_is_reported_with_advice() {
        use Outcome::{Ok, Problem, Skipped, Warning};
        let facts = TerminalFacts {
            locale: "C".into(),
            term: "dumb".into(),
            size: None,
            has_desktop: true,
            tmux: Some(["off".into(), "external".into()]),
            ..good()
        };
        assert_eq!(
            outcomes(&facts),
            [Warning, Skipped, Problem, Ok, Warning, Warning]
        );
        let checks = facts.checks(UiSettings::default());
        let has_advice = checks
            .iter()
            .all(|check| check.outcome == Ok || check.advice.is_some());
        assert!(has_advice, "{checks:?}");
        assert_eq!(
            checks[5].advice.as_deref(),
            Some("Add `set -g focus-events on` to ~/.tmux.conf.")
        );
        let small = TerminalFacts {
            size: Some((30, 8)),
            ..good()
        };
        assert_eq!(outcomes(&small)[1], Warning);
    }
}
