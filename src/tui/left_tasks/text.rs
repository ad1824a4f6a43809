//! Texts about tasks that the user left running. Server texts in them are not sanitized.

use crate::domain::{LeftTask, LeftTaskState};
use crate::text::Clean;
use crate::tui::widgets::painter::wrapped_rows;
use std::time::Duration;

/// The status of a task. A server's text in it may contain line breaks.
pub fn status_text(task: &LeftTask) -> String {
    match &task.state {
        LeftTaskState::Running { status: None } => "asking its server".to_owned(),
        LeftTaskState::Running {
            status: Some(status),
        } => status.clone(),
        LeftTaskState::Awaited => "a turn waits for it".to_owned(),
        LeftTaskState::Succeeded => "has a result".to_owned(),
        LeftTaskState::Failed { why } => format!("failed: {why}"),
        LeftTaskState::NotFollowed { why } => format!("not followed: {why}"),
    }
}

/// `3 min`, `5 h`, `2 d`: how long ago a task was left.
pub fn age_text(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    match minutes {
        0 => format!("{} s", age.as_secs()),
        1..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1_440),
    }
}

/// `2 tasks, 1 ended`, for the header; `None` without tasks.
pub fn header_label(tasks: &[LeftTask]) -> Option<String> {
    let ended = tasks.iter().filter(|task| task.state.has_ended()).count();
    let plural = if tasks.len() == 1 { "" } else { "s" };
    match (tasks.len(), ended) {
        (0, _) => None,
        (1, 1) => Some("1 task ended".to_owned()),
        (count, 0) => Some(format!("{count} task{plural}")),
        (count, ended) => Some(format!("{count} tasks, {ended} ended")),
    }
}

/// A sentence at exit about the tasks that continue, wrapped to the terminal; `None` without tasks.
pub fn farewell(tasks: &[LeftTask], columns: u16) -> Option<String> {
    let text = match tasks.len() {
        0 => return None,
        1 => "A task that you left is not cancelled: /tasks lists it in the next run.".to_owned(),
        count => format!(
            "{count} tasks that you left are not cancelled: /tasks lists them in the next run."
        ),
    };
    let rows = wrapped_rows(&Clean::single_line(&text), columns.max(20));
    Some(rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_become_coarser() {
        let seconds = [0, 59, 60, 3_599, 3_600, 172_799, 172_800, 9_000_000];
        let texts = seconds.map(|seconds| age_text(Duration::from_secs(seconds)));
        let expected = [
            "0 s", "59 s", "1 min", "59 min", "1 h", "47 h", "2 d", "104 d",
        ];
        assert_eq!(texts, expected);
    }
}
