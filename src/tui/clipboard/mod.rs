//! Copying to the clipboard. Features request a copy, the event loop performs it
//! (`src/tui/terminal/clipboard.rs`) and reports the method, and the notice claims only what that
//! method confirms.

use crate::domain::Notice;
use crate::text::numbers::group_digits;

/// Many terminals ignore an OSC 52 sequence with more text than this: 100,000 bytes in Base64.
const TERMINAL_BYTES_SAFE_MAX: usize = 74_994;
/// Longer texts are not sent to the terminal, which would take too long to read them.
pub const TERMINAL_BYTES_MAX: usize = 1 << 20;

/// A text to copy. `name` describes it, such as `the last answer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRequest {
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    /// The description of the text, as in [`CopyRequest`].
    pub name: String,
    pub lines: usize,
    pub bytes: usize,
    pub method: CopyMethod,
    /// A clipboard program that was tried first, and why it failed.
    pub failed_program: Option<(&'static str, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyMethod {
    /// A clipboard program that exited successfully.
    Program(&'static str),
    /// The buffer of tmux, which was also asked to pass the text on to the terminal unless it exceeds
    /// [`TERMINAL_BYTES_MAX`].
    Tmux,
    /// OSC 52, which is not acknowledged: the text was only sent.
    Terminal { is_tmux: bool },
    /// The text exceeds [`TERMINAL_BYTES_MAX`], and no program could take it.
    None,
}

impl CopyReport {
    pub fn new(request: &CopyRequest, method: CopyMethod) -> Self {
        Self {
            name: request.name.clone(),
            lines: request.text.lines().count(),
            bytes: request.text.len(),
            method,
            failed_program: None,
        }
    }

    /// The notice that reports the copy to the user. `explains_tmux` adds the setting that tmux
    /// needs.
    pub fn notice(&self, explains_tmux: bool) -> Notice {
        let lines = match self.lines {
            1 => "1 line".to_owned(),
            count => format!("{} lines", group_digits(count)),
        };
        let name = &self.name;
        let kilobytes = group_digits(self.bytes / 1_000);
        let notice = match self.method {
            CopyMethod::Program(program) => {
                return Notice::info(format!("Copied {name} ({lines}) with {program}."));
            }
            CopyMethod::Tmux => return self.tmux_notice(&format!("{name} ({lines})"), &kilobytes),
            CopyMethod::None => Notice::warning(format!(
                "Not copied: {kilobytes} kB is too much for the terminal's clipboard (OSC 52)."
            )),
            CopyMethod::Terminal { is_tmux } => {
                let sent = format!("Sent {name} ({lines}) to the terminal's clipboard (OSC 52).");
                let notice = match self.bytes {
                    ..=TERMINAL_BYTES_SAFE_MAX => Notice::info(sent),
                    _ => Notice::warning(sent).with_reason(Self::size_warning(&kilobytes)),
                };
                match is_tmux && explains_tmux {
                    true => notice
                        .with_advice("If it does not arrive, run `tmux set -g set-clipboard on`."),
                    false => notice,
                }
            }
        };
        match &self.failed_program {
            Some((program, why)) if notice.why.is_none() => {
                notice.with_reason(format!("{program} failed: {why}."))
            }
            _ => notice,
        }
    }
}

impl CopyReport {
    /// tmux acknowledges the copy to its own buffer, but not that the terminal accepted the text.
    fn tmux_notice(&self, copied: &str, kilobytes: &str) -> Notice {
        let buffer = format!("Copied {copied} to the tmux buffer");
        if self.bytes > TERMINAL_BYTES_MAX {
            return Notice::warning(format!("{buffer}."))
                .with_reason(format!("{kilobytes} kB is too much for the terminal."));
        }
        let sent = format!("{buffer}, and sent it to the terminal (OSC 52).");
        match self.bytes {
            ..=TERMINAL_BYTES_SAFE_MAX => Notice::info(sent),
            _ => Notice::warning(sent).with_reason(Self::size_warning(kilobytes)),
        }
    }

    fn size_warning(kilobytes: &str) -> String {
        format!("It may ignore {kilobytes} kB: many terminals accept only 74 kB.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_end::advice::notice_line;

    fn report(text: &str, method: CopyMethod) -> CopyReport {
        let request = CopyRequest {
            name: "the code".into(),
            text: text.into(),
        };
        CopyReport::new(&request, method)
    }

    #[test]
    fn notice_claims_only_confirmed_copies() {
        let terminal = CopyMethod::Terminal { is_tmux: false };
        let cases = [
            (
                report("a\nb", CopyMethod::Program("wl-copy")),
                "Copied the code (2 lines) with wl-copy.",
            ),
            (
                report("a", terminal),
                "Sent the code (1 line) to the terminal's clipboard (OSC 52).",
            ),
            (
                report("a", CopyMethod::Terminal { is_tmux: true }),
                "Sent the code (1 line) to the terminal's clipboard (OSC 52). \
                 If it does not arrive, run `tmux set -g set-clipboard on`.",
            ),
            (
                report("a", CopyMethod::Tmux),
                "Copied the code (1 line) to the tmux buffer, and sent it to the terminal (OSC 52).",
            ),
            (
                report(&"x".repeat(2_000_000), CopyMethod::Tmux),
                "Copied the code (1 line) to the tmux buffer. \
                 2,000 kB is too much for the terminal.",
            ),
            (
                CopyReport {
                    failed_program: Some(("xclip", "exit status: 1".into())),
                    ..report("a", terminal)
                },
                "Sent the code (1 line) to the terminal's clipboard (OSC 52). \
                 xclip failed: exit status: 1.",
            ),
            (
                report(&"x".repeat(80_000), terminal),
                "Sent the code (1 line) to the terminal's clipboard (OSC 52). \
                 It may ignore 80 kB: many terminals accept only 74 kB.",
            ),
            (
                report(&"x".repeat(2_000_000), CopyMethod::None),
                "Not copied: 2,000 kB is too much for the terminal's clipboard (OSC 52).",
            ),
        ];
        for (report, expected) in cases {
            assert_eq!(notice_line(&report.notice(true)), expected);
        }
        let again = report("a", CopyMethod::Terminal { is_tmux: true }).notice(false);
        assert_eq!(
            notice_line(&again),
            "Sent the code (1 line) to the terminal's clipboard (OSC 52)."
        );
    }
}
