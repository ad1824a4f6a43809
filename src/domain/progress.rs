//! A server's progress reports. Implausible values are corrected here, so front ends need
//! not check them.

use serde::Serialize;

/// The longest message in characters: one row of a wide screen.
const MESSAGE_CHARS_MAX: usize = 240;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolProgress {
    /// In the server's own units, never negative.
    pub done: f64,
    pub total: Option<f64>,
    /// The server's message, unsanitized and at most one row long.
    pub message: Option<String>,
}

/// Progress in a form suitable for display.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProgressAmount {
    /// The fraction done, between 0 and 1.
    Fraction(f64),
    /// The amount done; the total is unknown.
    Count(f64),
}

impl ToolProgress {
    /// An infinite or NaN `total` counts as missing, such a `done` as 0.
    pub fn new(done: f64, total: Option<f64>, message: Option<&str>) -> Self {
        let is_finite = |number: &f64| number.is_finite();
        Self {
            done: Some(done).filter(is_finite).unwrap_or(0.0).max(0.0),
            total: total.filter(is_finite),
            message: message.map(|message| message.chars().take(MESSAGE_CHARS_MAX).collect()),
        }
    }

    /// Combines this report with the previous one, so that progress never decreases. Missing
    /// values are taken from the previous report.
    pub fn following(self, previous: Option<&Self>) -> Self {
        let Some(previous) = previous else {
            return self;
        };
        Self {
            done: self.done.max(previous.done),
            total: self.total.or(previous.total),
            message: self.message.or_else(|| previous.message.clone()),
        }
    }

    pub fn amount(&self) -> ProgressAmount {
        match self.total.filter(|total| *total > 0.0) {
            Some(total) => ProgressAmount::Fraction((self.done / total).clamp(0.0, 1.0)),
            None => ProgressAmount::Count(self.done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(done: f64, total: Option<f64>) -> ProgressAmount {
        ToolProgress::new(done, total, None).amount()
    }

    #[test]
    fn implausible_progress_is_corrected() {
        let cases = [
            (6.0, Some(10.0), ProgressAmount::Fraction(0.6)),
            (12.0, Some(10.0), ProgressAmount::Fraction(1.0)),
            (-1.0, Some(10.0), ProgressAmount::Fraction(0.0)),
            (f64::NAN, Some(10.0), ProgressAmount::Fraction(0.0)),
            (f64::INFINITY, Some(10.0), ProgressAmount::Fraction(0.0)),
            (1e308, Some(1e-308), ProgressAmount::Fraction(1.0)),
            (0.0, Some(0.0), ProgressAmount::Count(0.0)),
            (7.0, Some(-3.0), ProgressAmount::Count(7.0)),
            (7.0, Some(f64::NAN), ProgressAmount::Count(7.0)),
            (7.0, None, ProgressAmount::Count(7.0)),
        ];
        for (done, total, expected) in cases {
            assert_eq!(amount(done, total), expected, "{done} of {total:?}");
        }
    }

    #[test]
    fn progress_never_decreases_and_keeps_omitted_values() {
        let first = ToolProgress::new(8.0, Some(10.0), Some("reading"));
        let second = ToolProgress::new(3.0, None, None).following(Some(&first));
        assert_eq!(second, first);
        let third = ToolProgress::new(9.0, Some(20.0), Some("writing")).following(Some(&second));
        assert_eq!(third, ToolProgress::new(9.0, Some(20.0), Some("writing")));
    }

    #[test]
    fn long_progress_messages_are_truncated() {
        let message = "말".repeat(1_000_000);
        let kept = ToolProgress::new(1.0, None, Some(&message)).message;
        assert_eq!(kept, Some("말".repeat(MESSAGE_CHARS_MAX)));
    }
}
