//! Child processes. Each leads its own process group, so its descendants are terminated with it.

use crate::domain::server::InheritedEnv;
use crate::mcp::error::McpError;
use crate::mcp::stdio::environment::inherited_variables;
use crate::mcp::stdio::stderr::StderrBuffer;
use crate::sync::lock_ignoring_poison;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

/// How long a process may take to exit after stdin is closed, after SIGTERM, and after SIGKILL.
const STOP_GRACE: Duration = Duration::from_secs(1);
/// A process group has no descriptor to wait on, so it is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long reading the rest of stderr may take after the group is gone.
const STDERR_DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

#[derive(Debug, Clone)]
pub struct Program {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    pub inherit: InheritedEnv,
}

/// All process groups that may still have processes.
#[derive(Debug, Clone, Default)]
pub struct ProcessGroups(Arc<Mutex<LiveGroups>>);

#[derive(Debug, Default)]
struct LiveGroups {
    groups: HashSet<Pid>,
    is_closed: bool,
}

impl ProcessGroups {
    /// Kills every group at once and refuses new ones. Does not wait.
    pub fn kill_all(&self) {
        let mut live = lock_ignoring_poison(&self.0);
        live.is_closed = true;
        for group in live.groups.drain() {
            kill(group);
        }
    }

    /// Spawns while holding the lock, so a child is registered before `kill_all` can run.
    fn spawn(&self, command: &mut Command) -> std::io::Result<(Child, ProcessGroup)> {
        let mut live = lock_ignoring_poison(&self.0);
        if live.is_closed {
            return Err(ErrorKind::Interrupted.into());
        }
        let child = command.spawn()?;
        let id = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw)
            .expect("a child has an id until it is waited for");
        live.groups.insert(id);
        drop(live);
        let groups = self.clone();
        Ok((child, ProcessGroup { id, groups }))
    }
}

/// One process group. Dropping it kills its remaining processes.
#[derive(Debug)]
struct ProcessGroup {
    id: Pid,
    groups: ProcessGroups,
}

impl ProcessGroup {
    fn has_exited(&self) -> bool {
        test_kill_process_group(self.id).is_err()
    }

    fn signal(&self, signal: Signal) {
        // This fails only if the group is gone.
        let _ = kill_process_group(self.id, signal);
    }

    /// Removes the group, because its id may be reused once it is gone.
    fn unregister(&self) {
        lock_ignoring_poison(&self.groups.0).groups.remove(&self.id);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if lock_ignoring_poison(&self.groups.0).groups.remove(&self.id) {
            kill(self.id);
        }
    }
}

fn kill(group: Pid) {
    let _ = kill_process_group(group, Signal::KILL);
}

/// A running server. Dropping it kills its process group.
pub struct Process {
    child: Child,
    group: ProcessGroup,
    stderr_task: AbortOnDropHandle<()>,
}

impl Process {
    /// Starts `program` with piped streams; its stderr is collected in the buffer.
    ///
    /// # Errors
    /// The command cannot be run, or its working folder does not exist.
    pub fn spawn(
        program: &Program,
        groups: &ProcessGroups,
        stderr_buffer: &StderrBuffer,
    ) -> Result<(Self, ChildStdin, ChildStdout), McpError> {
        let mut command = Command::new(&program.command);
        command
            .args(&program.args)
            .env_clear()
            .envs(inherited_variables(std::env::vars_os(), &program.inherit))
            .envs(program.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(folder) = &program.cwd {
            command.current_dir(folder);
        }
        let (mut child, group) = groups
            .spawn(&mut command)
            .map_err(|error| spawn_error(program, &error))?;
        let input = child.stdin.take().expect("stdin was piped above");
        let output = child.stdout.take().expect("stdout was piped above");
        let stderr_pipe = child.stderr.take().expect("stderr was piped above");
        stderr_buffer.clear();
        let stderr_task = tokio::spawn(stderr_buffer.clone().read_from(stderr_pipe));
        let process = Self {
            child,
            group,
            stderr_task: AbortOnDropHandle::new(stderr_task),
        };
        Ok((process, input, output))
    }

    /// Waits until the server process itself, but not its children, has exited.
    pub async fn wait_for_exit(&mut self) {
        // Waiting for our own child can only fail if it is already gone.
        let _ = self.child.wait().await;
    }

    /// Stops the process group: waits for it to exit after stdin was closed, then sends SIGTERM,
    /// then SIGKILL, and waits up to `STOP_GRACE` each time. Returns the exit status if the process
    /// exited before the first signal.
    pub async fn close(mut self) -> Option<ExitStatus> {
        let mut is_gone = timeout(STOP_GRACE, self.wait_until_gone()).await.is_ok();
        let status = self.child.try_wait().ok().flatten();
        for signal in [Signal::TERM, Signal::KILL] {
            if !is_gone {
                self.group.signal(signal);
                is_gone = timeout(STOP_GRACE, self.wait_until_gone()).await.is_ok();
            }
        }
        if is_gone {
            self.group.unregister();
        }
        let _ = timeout(STDERR_DRAIN_TIMEOUT, &mut self.stderr_task).await;
        status
    }

    async fn wait_until_gone(&mut self) {
        self.wait_for_exit().await;
        while !self.group.has_exited() {
            sleep(POLL_INTERVAL).await;
        }
    }
}

fn spawn_error(program: &Program, error: &std::io::Error) -> McpError {
    let command = program.command.clone();
    match (&program.cwd, error.kind()) {
        (Some(folder), _) if !folder.is_dir() => McpError::FolderNotFound(folder.clone()),
        (_, ErrorKind::NotFound) if command.contains('/') && Path::new(&command).exists() => {
            McpError::NotRunnable {
                command,
                why: "the interpreter named in its first line is missing".to_owned(),
            }
        }
        (_, ErrorKind::NotFound) => McpError::CommandNotFound(command),
        (_, ErrorKind::PermissionDenied) => McpError::NotRunnable {
            command,
            why: "the file is not executable".to_owned(),
        },
        _ => McpError::NotRunnable {
            command,
            why: error.to_string(),
        },
    }
}
