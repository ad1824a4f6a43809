//! The output of `humble mcp call`: progress, result and definition differences.

use super::clean_line;
use crate::domain::progress::{ProgressAmount, ToolProgress};
use crate::domain::trust::PinChange;
use crate::domain::{ServerId, Tool, ToolOutcome};
use crate::headless::output::PrintedOutput;
use crate::headless::{EXIT_FAILED, EXIT_INTERRUPTED, EXIT_SUCCESS};
use crate::text::Clean;
use serde_json::{Value, json};

/// The final output of a call, and the exit status.
#[derive(Debug, PartialEq)]
pub struct CallOutput {
    pub stdout: PrintedOutput,
    /// Sanitized.
    pub stderr: String,
    pub exit_code: u8,
}

/// `result` is the server's result object, if it sent one.
pub fn render_call(
    tool: &str,
    outcome: &ToolOutcome,
    result: Option<&Value>,
    is_json: bool,
) -> CallOutput {
    let exit_code = match outcome {
        ToolOutcome::Succeeded { .. } => EXIT_SUCCESS,
        ToolOutcome::Interrupted => EXIT_INTERRUPTED,
        _ => EXIT_FAILED,
    };
    let (stdout, stderr) = match (outcome, result) {
        (_, Some(result)) if is_json => (result.clone().into(), String::new()),
        (ToolOutcome::Succeeded { text, .. }, _) => (with_newline(text).into(), String::new()),
        (ToolOutcome::Interrupted, _) => {
            let text = "The call was cancelled.\n".to_owned();
            (String::new().into(), text)
        }
        _ => {
            let failure = failure_text(tool, outcome);
            let stdout = match is_json {
                true => json!({ "error": failure }).into(),
                false => String::new().into(),
            };
            (stdout, with_newline(Clean::new(&failure).as_str()))
        }
    };
    CallOutput {
        stdout,
        stderr,
        exit_code,
    }
}

fn with_newline(text: &str) -> String {
    match text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

/// The reason why there is no result, as a sentence that is not sanitized.
fn failure_text(tool: &str, outcome: &ToolOutcome) -> String {
    let tool = Clean::name(tool);
    match outcome {
        ToolOutcome::Failed { text, .. } => format!("Tool {tool} failed: {text}"),
        ToolOutcome::Unreachable { why, .. } => format!("Tool {tool} did not answer: {why}"),
        ToolOutcome::TimedOut { elapsed } => format!(
            "Tool {tool} did not answer in {:.1} s: the call was cancelled. To wait longer, use \
             --timeout or `toolTimeoutSeconds` in mcp-servers.json.",
            elapsed.as_secs_f64()
        ),
        ToolOutcome::NotRun { why } => format!("Tool {tool} was not called: {why}."),
        _ => format!("Tool {tool} was not called."),
    }
}

/// The latest progress on one line.
pub fn progress_line(tool: &str, progress: &ToolProgress) -> String {
    let done = format_number(progress.done);
    let count = match (progress.amount(), progress.total) {
        // Rounded down, so that only a finished call shows 100 %.
        (ProgressAmount::Fraction(fraction), Some(total)) => {
            format!(
                "{done} of {} ({:.0} %)",
                format_number(total),
                (fraction * 100.0).floor()
            )
        }
        _ => done,
    };
    let message = progress.message.as_deref().unwrap_or_default();
    let tool = Clean::name(tool);
    let is_uncounted = progress.amount() == ProgressAmount::Count(0.0);
    if is_uncounted && !message.is_empty() {
        return clean_line(&format!("{tool}: {message}"));
    }
    let separator = if message.is_empty() { "" } else { ", " };
    clean_line(&format!("{tool}: {count}{separator}{message}"))
}

fn format_number(value: f64) -> String {
    if value >= 1e12 {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// The difference from the accepted definition, with hidden characters made visible.
pub fn render_definition_diff(change: &PinChange) -> String {
    let (tool, server) = (
        Clean::name(&change.tool.name),
        Clean::name(change.server.as_str()),
    );
    let since = change.since_clause();
    let heading = format!("Server `{server}` changed `{tool}` {since}:");
    let mut out = format!("{}\n", clean_line(&heading));
    for section in change.sections() {
        if section.lines.is_empty() {
            continue;
        }
        out += &format!("  {}\n", clean_line(&section.name));
        for (sign, text) in &section.folded() {
            out += &format!("  {} {}\n", sign.glyph(), Clean::escaped(text));
        }
    }
    out
}

pub fn unknown_tool_line(
    server: &ServerId,
    name: &str,
    near: Option<&str>,
    tools: &[Tool],
) -> String {
    let hint = match near {
        Some(near) => format!(" Did you mean `{}`?", Clean::name(near)),
        None if tools.is_empty() => " It has no tools.".to_owned(),
        None => format!(" `humble mcp tools {server}` lists its tools."),
    };
    let (server, name) = (Clean::name(server.as_str()), Clean::name(name));
    clean_line(&format!("Server `{server}` has no tool `{name}`.{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ELAPSED: Duration = Duration::from_millis(1_500);

    fn succeeded(text: &str) -> ToolOutcome {
        ToolOutcome::Succeeded {
            text: text.to_owned(),
            elapsed: ELAPSED,
        }
    }

    #[test]
    fn the_result_text_is_printed_raw_with_one_final_newline() {
        for (text, stdout) in [("a\u{1b}[0m", "a\u{1b}[0m\n"), ("b\n", "b\n"), ("", "\n")] {
            let output = render_call("t", &succeeded(text), Some(&json!({})), false);
            assert_eq!(output.stdout, stdout.to_owned().into());
            assert_eq!((output.stderr.as_str(), output.exit_code), ("", 0));
        }
    }

    #[test]
    fn hidden_characters_in_names_are_shown() {
        let line = unknown_tool_line(&"s\u{202e}".into(), "send", Some("\u{1b}send"), &[]);
        let expected = "Server `s⟨U+202E⟩` has no tool `send`. Did you mean `⟨ESC⟩send`?";
        assert_eq!(line, expected);
        let line = progress_line(" ", &ToolProgress::new(1.0, None, None));
        assert_eq!(line, "\" \": 1");
    }

    #[test]
    fn an_error_is_printed_as_a_result_only_in_json() {
        let failed = ToolOutcome::Failed {
            text: "no\u{1b}[2J such file".to_owned(),
            elapsed: ELAPSED,
        };
        let result = json!({ "content": [], "isError": true });
        let expected = CallOutput {
            stdout: String::new().into(),
            stderr: "Tool t failed: no such file\n".to_owned(),
            exit_code: 1,
        };
        assert_eq!(render_call("t", &failed, Some(&result), false), expected);
        let as_json = render_call("t", &failed, Some(&result), true);
        assert_eq!((as_json.stdout, as_json.exit_code), (result.into(), 1));
        let no_result = render_call("t", &failed, None, true);
        let error = json!({ "error": "Tool t failed: no\u{1b}[2J such file" });
        assert_eq!(no_result.stdout, error.into());
    }

    #[test]
    fn progress_shows_a_percentage_only_if_the_total_is_known() {
        let line = |done, total, message: Option<&str>| {
            progress_line("t", &ToolProgress::new(done, total, message))
        };
        assert_eq!(
            line(3.0, Some(99.0), Some("단계\u{7}")),
            "t: 3 of 99 (3 %), 단계"
        );
        assert_eq!(line(0.5, None, None), "t: 0.5");
        assert_eq!(line(7.0, Some(0.0), Some("x")), "t: 7, x");
        assert_eq!(
            line(0.0, None, Some("working: page 3")),
            "t: working: page 3"
        );
        assert_eq!(line(-5.0, Some(10.0), None), "t: 0 of 10 (0 %)");
        assert_eq!(line(9.0, Some(3.0), None), "t: 9 of 3 (100 %)");
    }
}
