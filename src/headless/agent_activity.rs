//! The lines about the work of a note agent. Lines that differ only in a number, such as a count of
//! computed vectors, are printed rarely.

use std::time::{Duration, Instant};

/// Pause between two lines that differ only in a number, on a terminal. Elsewhere, only the
/// first and the last of them are printed.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct AgentActivity {
    /// The last activity without its numbers.
    kind: String,
    printed_at: Option<Instant>,
    /// The latest line that was not printed.
    waiting: Option<String>,
}

impl AgentActivity {
    pub(super) fn report(
        &mut self,
        text: &str,
        now: Instant,
        is_terminal: bool,
    ) -> impl Iterator<Item = String> + use<> {
        let kind: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        let is_repeated = kind == self.kind;
        let is_due = is_terminal && self.printed_at.is_none_or(|at| now - at >= PAUSE);
        if is_repeated && !is_due {
            self.waiting = Some(text.to_owned());
            return None.into_iter().chain(None);
        }
        let earlier = self.waiting.take().filter(|_| !is_repeated);
        self.kind = kind;
        self.printed_at = Some(now);
        earlier.into_iter().chain(Some(text.to_owned()))
    }

    /// The last line, if it was not printed; called when the agent's work has ended.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.kind.clear();
        self.waiting.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(is_terminal: bool) -> Vec<String> {
        let mut activity = AgentActivity::default();
        let start = Instant::now();
        let mut lines: Vec<String> = Vec::new();
        lines.extend(activity.report("Reading notes", start, is_terminal));
        for second in 1..=8 {
            let (text, now) = (
                format!("Computed {} vectors", second * 32),
                start + Duration::from_secs(second),
            );
            lines.extend(activity.report(&text, now, is_terminal));
        }
        lines.extend(activity.finish());
        lines
    }

    #[test]
    fn counts_of_computed_vectors_are_printed_rarely() {
        let expected = [
            "Reading notes",
            "Computed 32 vectors",
            "Computed 192 vectors",
            "Computed 256 vectors",
        ];
        assert_eq!(printed(true), expected);
        let expected = [
            "Reading notes",
            "Computed 32 vectors",
            "Computed 256 vectors",
        ];
        assert_eq!(printed(false), expected);
    }
}
