//! The result of one check and how it is printed. Text from files and servers is sanitized and
//! cleared of secrets here.

use crate::domain::{Notice, Severity};
use crate::headless::advice;
use crate::headless::lines::clean_line;
use crate::text::grapheme::width;
use crate::text::wrap::wrap;
use serde_json::{Value, json};
use std::num::NonZeroU16;

/// Between the columns of a line.
const GAP: &str = "  ";
/// Text narrower than this is not worth a column of its own.
const TEXT_COLUMNS_MIN: u16 = 30;
/// A longer subject does not widen the column for the others.
const SUBJECT_COLUMNS_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    Warning,
    Problem,
    Skipped,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Skipped => "skipped",
        }
    }
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub outcome: Outcome,
    /// What was checked, such as `config.json` or `MCP server git`.
    pub subject: String,
    /// What was found.
    pub finding: String,
    /// What to do, as a sentence.
    pub advice: Option<String>,
}

impl Check {
    pub fn ok(subject: impl Into<String>, finding: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Ok,
            subject: subject.into(),
            finding: finding.into(),
            advice: None,
        }
    }

    pub fn warning(
        subject: impl Into<String>,
        finding: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::ok(subject, finding).with(Outcome::Warning, advice)
    }

    pub fn problem(
        subject: impl Into<String>,
        finding: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::ok(subject, finding).with(Outcome::Problem, advice)
    }

    pub fn skipped(
        subject: impl Into<String>,
        finding: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::ok(subject, finding).with(Outcome::Skipped, advice)
    }

    fn with(mut self, outcome: Outcome, advice: impl Into<String>) -> Self {
        self.outcome = outcome;
        self.advice = Some(advice.into());
        self
    }

    /// A failure notice is a problem, any other a warning. `fallback` is the advice if the notice has
    /// none for the command line.
    pub fn from_notice(subject: impl Into<String>, notice: &Notice, fallback: &str) -> Self {
        let outcome = match notice.severity {
            Severity::Failure => Outcome::Problem,
            Severity::Warning | Severity::Info => Outcome::Warning,
        };
        let advice = advice::advice_text(notice).unwrap_or_else(|| fallback.to_owned());
        Self::ok(subject, notice.to_sentence(|_| None)).with(outcome, advice)
    }
}

/// Whether a problem was found.
pub fn has_problem(checks: &[Check]) -> bool {
    let mut checks = checks.iter();
    checks.any(|check| check.outcome == Outcome::Problem)
}

/// One line for each check, with aligned columns. `columns` is the width of the terminal, if there is
/// one; `redact` removes secrets.
pub fn render_text(
    checks: &[Check],
    columns: Option<u16>,
    redact: impl Fn(&str) -> String,
) -> String {
    let subjects: Vec<String> = checks
        .iter()
        .map(|check| clean_line(&redact(&check.subject)))
        .collect();
    let subject_columns = subjects
        .iter()
        .map(|subject| width(subject))
        .filter(|columns| *columns <= SUBJECT_COLUMNS_MAX)
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for (check, subject) in checks.iter().zip(&subjects) {
        let padding = " ".repeat(subject_columns.saturating_sub(width(subject)));
        let start = format!("{:<7}{GAP}{subject}{padding}{GAP}", check.outcome.word());
        let parts = [Some(check.finding.as_str()), check.advice.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        let text = clean_line(&redact(&parts.join(" ")));
        out += &hanging_indent(&start, &text, columns);
    }
    out
}

/// `start` and `text` on one line, or, if the terminal is too narrow, with the text wrapped in its own
/// column.
fn hanging_indent(start: &str, text: &str, columns: Option<u16>) -> String {
    let start_columns = u16::try_from(width(start)).unwrap_or(u16::MAX);
    let available = columns.map(|columns| columns.saturating_sub(start_columns));
    match available.and_then(NonZeroU16::new) {
        Some(available) if available.get() >= TEXT_COLUMNS_MIN => {
            let margin = " ".repeat(usize::from(start_columns));
            let rows = wrap(text, available).into_iter().enumerate();
            rows.map(|(index, row)| {
                let margin = if index == 0 { start } else { &margin };
                format!("{margin}{}\n", text[row].trim_end())
            })
            .collect()
        }
        _ => format!("{start}{text}\n"),
    }
}

/// One JSON object for each check, not sanitized.
pub fn checks_json(
    checks: &[Check],
    redact: impl Fn(&str) -> String,
) -> impl Iterator<Item = Value> {
    checks.iter().map(move |check| {
        let mut object = json!({
            "type": "check",
            "outcome": check.outcome.word(),
            "subject": redact(&check.subject),
            "finding": redact(&check.finding),
        });
        if let Some(advice) = &check.advice {
            object["advice"] = json!(redact(advice));
        }
        object
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_sanitized_and_wrapped_in_their_column() {
        let checks = [
            Check::ok("config.json", "2 models"),
            Check::problem("MCP server git", "It\u{1b}[2J failed.", "Try again."),
        ];
        let hide = |text: &str| text.replace("failed", "[hidden]");
        assert_eq!(
            render_text(&checks, None, hide),
            "ok       config.json     2 models\n\
             problem  MCP server git  It [hidden]. Try again.\n"
        );
        let narrow = render_text(&checks[1..], Some(56), |text| {
            text.replace("failed", "x y z")
        });
        assert_eq!(narrow, "problem  MCP server git  It x y z. Try again.\n");
        let long = [Check::ok("home", "word ".repeat(9).trim())];
        assert_eq!(
            render_text(&long, Some(46), str::to_owned),
            "ok       home  word word word word word word\n               word word word\n"
        );
    }

    #[test]
    fn notice_without_advice_still_says_what_to_do() {
        let check = Check::from_notice("a", &Notice::failure("It broke."), "Mend it.");
        assert_eq!(check, Check::problem("a", "It broke.", "Mend it."));
    }
}
