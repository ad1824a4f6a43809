//! Tasks: a server may answer a call with a task, which the client then follows until it has a
//! result. Both protocols are supported: the experimental tasks of 2025-11-25 and the extension
//! `io.modelcontextprotocol/tasks` (SEP-2663). Only calls create tasks.

mod follow;
mod kept;
mod polling;
mod request;
mod wire;

pub use follow::{TaskCall, TaskEnd, follow_task};
pub use kept::KeptTasks;
pub use request::{declared_extensions, legacy_task_request};
pub use wire::{CreatedTask, LegacyTaskSupport};
