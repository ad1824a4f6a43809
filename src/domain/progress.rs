//! A server's progress reports. Implausible values are corrected here, so front ends need
//! not check them.

use serde::Serialize;

/// Longest message in characters: one row of a wide screen.
const MESSAGE_CHARS_MAX: usize = 240;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    /// In the server's own units, never negative.
    pub done: f64,
    pub total: Option<f64>,
    /// The server's message, raw and at most one row long.
    pub message: Option<String>,
}

/// Progress in a form suitable for display.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Between 0 and 1.
    Share(f64),
    /// The total is unknown.
    Count(f64),
}

impl Progress {
    /// Builds a progress report. Infinite and NaN values count as missing.
    pub fn new(done: f64, total: Option<f64>, message: Option<&str>) -> Self {
        let sound = |number: &f64| number.is_finite();
        Self {
            done: Some(done).filter(sound).unwrap_or(0.0).max(0.0),
            total: total.filter(sound),
            message: message.map(|message| message.chars().take(MESSAGE_CHARS_MAX).collect()),
        }
    }

    /// Combines this report with the previous one: progress never decreases, and missing
    /// values are kept.
    pub fn after(self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        Self {
            done: self.done.max(before.done),
            total: self.total.or(before.total),
            message: self.message.or_else(|| before.message.clone()),
        }
    }

    pub fn measure(&self) -> Measure {
        match self.total.filter(|total| *total > 0.0) {
            Some(total) => Measure::Share((self.done / total).clamp(0.0, 1.0)),
            None => Measure::Count(self.done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(done: f64, total: Option<f64>) -> Measure {
        Progress::new(done, total, None).measure()
    }

    #[test]
    fn whatever_a_server_sends_can_be_shown() {
        let cases = [
            (6.0, Some(10.0), Measure::Share(0.6)),
            (12.0, Some(10.0), Measure::Share(1.0)),
            (-1.0, Some(10.0), Measure::Share(0.0)),
            (f64::NAN, Some(10.0), Measure::Share(0.0)),
            (f64::INFINITY, Some(10.0), Measure::Share(0.0)),
            (1e308, Some(1e-308), Measure::Share(1.0)),
            (0.0, Some(0.0), Measure::Count(0.0)),
            (7.0, Some(-3.0), Measure::Count(7.0)),
            (7.0, Some(f64::NAN), Measure::Count(7.0)),
            (7.0, None, Measure::Count(7.0)),
        ];
        for (done, total, expected) in cases {
            assert_eq!(measure(done, total), expected, "{done} of {total:?}");
        }
    }

    #[test]
    fn it_never_goes_back_and_keeps_what_is_left_unsaid() {
        let first = Progress::new(8.0, Some(10.0), Some("reading"));
        let second = Progress::new(3.0, None, None).after(Some(&first));
        assert_eq!(second, first);
        let third = Progress::new(9.0, Some(20.0), Some("writing")).after(Some(&second));
        assert_eq!(third, Progress::new(9.0, Some(20.0), Some("writing")));
    }

    #[test]
    fn a_message_without_end_is_cut() {
        let message = "말".repeat(1_000_000);
        let kept = Progress::new(1.0, None, Some(&message)).message;
        assert_eq!(kept, Some("말".repeat(MESSAGE_CHARS_MAX)));
    }
}
