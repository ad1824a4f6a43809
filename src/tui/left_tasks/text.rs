//! Texts about tasks that the user left running.

use crate::domain::server::ServerTransport;
use crate::domain::{LeftTask, LeftTaskState, Server, TaskCancellation};
use crate::text::Clean;
use crate::tui::widgets::painter::wrapped_rows;
use std::time::Duration;

/// The status of a task, not sanitized: a server's text in it may contain line breaks.
pub fn status_text(task: &LeftTask) -> String {
    if let (LeftTaskState::Running { status }, Some(cancellation)) =
        (&task.state, &task.cancellation)
    {
        return match (cancellation, status) {
            (TaskCancellation::Requested, None) => "cancelling".to_owned(),
            (TaskCancellation::Requested, Some(status)) => format!("cancelling; {status}"),
            (TaskCancellation::Refused { why }, _) => format!("cancel refused: {why}"),
            (TaskCancellation::Unanswered { why }, _) => format!("not cancelled: {why}"),
        };
    }
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

/// Sentences about the tasks at exit, wrapped to the terminal; `None` without tasks. A task of a server
/// that humble started ends with that server, and one of a private conversation was never stored.
pub fn farewell(tasks: &[LeftTask], servers: &[Server], columns: u16) -> Option<String> {
    let is_local = |task: &LeftTask| {
        let server = servers.iter().find(|server| server.id == task.server);
        let transport = server.and_then(|server| server.peer.as_ref().map(|peer| peer.transport));
        matches!(
            transport,
            Some(ServerTransport::Stdio | ServerTransport::InMemory)
        )
    };
    let forgotten = tasks.iter().filter(|task| !task.is_saved).count();
    let (local, remote): (Vec<&LeftTask>, Vec<&LeftTask>) = tasks
        .iter()
        .filter(|task| task.is_saved)
        .partition(|task| is_local(task));
    let sentences = [
        match remote.len() {
            0 => None,
            1 => Some(
                "A task that you left is not cancelled: /tasks lists it in the next run."
                    .to_owned(),
            ),
            count => Some(format!(
                "{count} tasks that you left are not cancelled: /tasks lists them in the next run."
            )),
        },
        match local.as_slice() {
            [] => None,
            [task] => {
                let server = Clean::name(task.server.as_str());
                Some(format!(
                    "A task that you left is probably lost: its server `{server}` ended with humble."
                ))
            }
            tasks => Some(format!(
                "{} tasks that you left are probably lost: their servers ended with humble.",
                tasks.len()
            )),
        },
        match forgotten {
            0 => None,
            1 => Some("A task that you left is forgotten, because it was private.".to_owned()),
            count => Some(format!(
                "{count} tasks that you left are forgotten, because they were private."
            )),
        },
    ];
    let rows: Vec<String> = sentences
        .into_iter()
        .flatten()
        .flat_map(|sentence| wrapped_rows(&Clean::single_line(&sentence), columns.max(20)))
        .collect();
    (!rows.is_empty()).then(|| rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LeftTaskId;
    use crate::domain::server::PeerInfo;
    use crate::fixtures;
    use std::sync::Arc;

    fn server(name: &str, transport: ServerTransport) -> Server {
        let peer = PeerInfo {
            name: name.to_owned(),
            version: "1".to_owned(),
            protocol: "2026-07-28".to_owned(),
            transport,
        };
        Server {
            peer: Some(peer),
            ..fixtures::server(name, Vec::new())
        }
    }

    fn task(server: &str, is_saved: bool) -> LeftTask {
        LeftTask {
            id: LeftTaskId(1),
            server: server.into(),
            tool: "work".to_owned(),
            arguments: Arc::default(),
            is_saved,
            age: Duration::ZERO,
            state: LeftTaskState::Succeeded,
            cancellation: None,
        }
    }

    #[test]
    fn the_farewell_promises_only_tasks_that_outlive_the_program() {
        let servers = [
            server("web", ServerTransport::Http),
            server("disk", ServerTransport::Stdio),
        ];
        let farewell = |tasks: &[LeftTask]| farewell(tasks, &servers, 80);
        assert_eq!(farewell(&[]), None);
        let listed = "A task that you left is not cancelled: /tasks lists it in the next run.";
        assert_eq!(farewell(&[task("web", true)]).as_deref(), Some(listed));
        assert_eq!(farewell(&[task("gone", true)]).as_deref(), Some(listed));
        let lost = "A task that you left is probably lost: its server `disk` ended with humble.";
        assert_eq!(farewell(&[task("disk", true)]).as_deref(), Some(lost));
        let all = [
            task("disk", true),
            task("web", true),
            task("disk", true),
            task("web", false),
        ];
        let expected = format!(
            "{listed}\n2 tasks that you left are probably lost: their servers ended with humble.\n\
             A task that you left is forgotten, because it was private."
        );
        assert_eq!(farewell(&all), Some(expected));
    }

    #[test]
    fn a_cancellation_is_shown_while_the_task_may_run() {
        let text = |state: LeftTaskState, cancellation: TaskCancellation| {
            status_text(&LeftTask {
                state,
                cancellation: Some(cancellation),
                ..task("web", true)
            })
        };
        let running = |status: Option<&str>| LeftTaskState::Running {
            status: status.map(str::to_owned),
        };
        let why = || "I will not stop".to_owned();
        let refused = || TaskCancellation::Refused { why: why() };
        assert_eq!(
            text(running(None), TaskCancellation::Requested),
            "cancelling"
        );
        assert_eq!(
            text(running(Some("working: 3")), TaskCancellation::Requested),
            "cancelling; working: 3"
        );
        assert_eq!(
            text(running(Some("working")), refused()),
            "cancel refused: I will not stop"
        );
        let unanswered = TaskCancellation::Unanswered { why: why() };
        assert_eq!(
            text(running(None), unanswered),
            "not cancelled: I will not stop"
        );
        assert_eq!(text(LeftTaskState::Succeeded, refused()), "has a result");
    }

    #[test]
    fn ages_of_tasks_become_coarser_with_time() {
        let seconds = [0, 59, 60, 3_599, 3_600, 172_799, 172_800, 9_000_000];
        let texts = seconds.map(|seconds| age_text(Duration::from_secs(seconds)));
        let expected = [
            "0 s", "59 s", "1 min", "59 min", "1 h", "47 h", "2 d", "104 d",
        ];
        assert_eq!(texts, expected);
    }
}
