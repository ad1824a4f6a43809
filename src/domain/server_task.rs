//! Tasks: work that a server continues after it has answered a call. No server lists its tasks to
//! a new session, so their ids are stored with the call.

use super::{LaunchId, Pin};
use serde::{Deserialize, Serialize};

/// Maximum length of an id in bytes. An id is stored, logged and sent with each request about its task.
const ID_BYTES_MAX: usize = 1_024;

/// The protocol by which a task is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskProtocol {
    /// The experimental tasks of 2025-11-25, whose result is requested with `tasks/result`.
    Legacy,
    /// The extension `io.modelcontextprotocol/tasks`, whose state contains the result.
    Extension,
}

/// A task, by the id that its server assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTask {
    id: String,
    pub protocol: TaskProtocol,
}

impl ServerTask {
    /// Checks the id.
    ///
    /// # Errors
    /// Why the id cannot be used, as a clause.
    pub fn new(id: &str, protocol: TaskProtocol) -> Result<Self, String> {
        if id.is_empty() {
            return Err("its id is empty".to_owned());
        }
        if id.len() > ID_BYTES_MAX {
            let length = id.len();
            return Err(format!(
                "its id is {length} bytes long, more than {ID_BYTES_MAX}"
            ));
        }
        if id.chars().any(char::is_control) {
            return Err("its id contains control characters".to_owned());
        }
        let id = id.to_owned();
        Ok(Self { id, protocol })
    }

    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The task of a call, with the identity of the server and the tool that the user approved. After a
/// restart, the program waits for the task only if neither has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTask {
    pub task: ServerTask,
    pub launch: LaunchId,
    pub pin: Pin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_task_ids_are_refused_with_a_reason() {
        let refusal = |id: &str| ServerTask::new(id, TaskProtocol::Extension).err();
        for usable in [
            "7",
            "786512e2-9e0d-44bd-8f29-789f320fe840",
            "작업 1",
            &"x".repeat(1_024),
        ] {
            assert_eq!(refusal(usable), None);
        }
        let long = "x".repeat(10 << 20);
        let reasons = ["", "a\u{1b}[2J", "a\nb", "\u{9b}", &long].map(refusal);
        let control = Some("its id contains control characters".to_owned());
        assert_eq!(
            reasons,
            [
                Some("its id is empty".to_owned()),
                control.clone(),
                control.clone(),
                control,
                Some("its id is 10485760 bytes long, more than 1024".to_owned()),
            ]
        );
    }
}
