//! The tasks that the user left running, one file each, so that several programs can add and remove
//! tasks without waiting for each other. The program that lists a task holds the lock beside its
//! file, so no other one follows it. Files that cannot be read are left alone.

use super::{StoreError, call_json};
use crate::domain::ToolCall;
use crate::files::{self, FileLock};
use crate::sync::lock_ignoring_poison;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const FILE_BYTES_MAX: u64 = 4 << 20;
/// Older files of the folder are not read.
const FILES_MAX: usize = 1_000;
const CANCELLING_KEY: &str = "cancelling";

/// A call whose task the user left running.
#[derive(Debug)]
pub struct StoredLeftTask {
    pub file: Arc<LeftTaskFile>,
    /// Its task is open: see [`ToolCall::has_open_task`].
    pub call: ToolCall,
    pub left_at: Timestamp,
    /// An earlier run asked the server to cancel the task.
    pub is_cancelling: bool,
}

/// The tasks of earlier runs.
#[derive(Debug, Default)]
pub struct LoadedLeftTasks {
    /// Oldest first.
    pub tasks: Vec<StoredLeftTask>,
    /// The number of older files that were not read. Some of them may belong to other running programs.
    pub unread_count: usize,
}

/// The file of one task. Writing and removing it may happen on different threads in any order; a
/// removed file is not written again.
#[derive(Debug)]
pub struct LeftTaskFile {
    path: PathBuf,
    state: Mutex<FileState>,
    /// Whether the server was asked to cancel the task. The file gets the newest value, whatever the
    /// order in which its writers run.
    is_cancelling: AtomicBool,
}

#[derive(Debug, Default)]
struct FileState {
    is_removed: bool,
    is_written: bool,
    /// Held while this program lists the task.
    lock: Option<FileLock>,
}

#[derive(Debug, Clone)]
pub struct LeftTaskStore {
    folder: PathBuf,
}

impl LeftTaskStore {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file for a task that the user leaves now. It does not exist yet.
    pub fn new_file(&self, left_at: Timestamp) -> LeftTaskFile {
        let (time, process) = (left_at.as_nanosecond(), std::process::id());
        LeftTaskFile {
            path: self.folder.join(format!("{time}-{process}.json")),
            state: Mutex::default(),
            is_cancelling: AtomicBool::new(false),
        }
    }

    /// The newest `max` tasks, without those of other running programs.
    pub fn load(&self, max: usize) -> LoadedLeftTasks {
        let items = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = items.map(|item| item.path()).filter(|path| is_task(path));
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.sort_by_cached_key(|path| Reverse((time_in_name(path), path.clone())));
        let mut paths = paths.into_iter();
        let readable = paths.by_ref().take(FILES_MAX);
        let mut tasks: Vec<StoredLeftTask> = readable.filter_map(claim).take(max).collect();
        tasks.reverse();
        LoadedLeftTasks {
            tasks,
            unread_count: paths.len(),
        }
    }
}

impl LeftTaskFile {
    /// Writes a call and its task, unless the file was removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, call: &ToolCall, left_at: Timestamp) -> Result<(), StoreError> {
        let mut state = lock_ignoring_poison(&self.state);
        if state.is_removed {
            return Ok(());
        }
        let text = self.text(call, left_at);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let written = match text.len() as u64 {
            0..=FILE_BYTES_MAX => files::create_folder(folder).and_then(|()| {
                // Locked before it exists, so that no other program claims it.
                state.lock = FileLock::try_acquire(&lock_path(&self.path))?;
                files::create_new(&self.path, text.as_bytes(), files::PRIVATE_MODE)
            }),
            _ => Err(io::Error::new(
                ErrorKind::FileTooLarge,
                "the arguments of the call are too large",
            )),
        };
        state.is_written = written.is_ok();
        written.map_err(|error| StoreError::Unwritable {
            path: self.path.clone(),
            why: files::describe_io_error(&error),
        })
    }

    fn text(&self, call: &ToolCall, left_at: Timestamp) -> String {
        let mut entry = json!({ "leftAt": left_at.to_string(), "call": call_json::to_json(call) });
        if self.is_cancelling.load(Ordering::SeqCst) {
            entry[CANCELLING_KEY] = true.into();
        }
        format!("{entry}\n")
    }

    /// Sets whether the server was asked to cancel the task, for [`Self::save_cancelling`]. Returns
    /// whether that is new.
    pub fn set_cancelling(&self, is_cancelling: bool) -> bool {
        self.is_cancelling.swap(is_cancelling, Ordering::SeqCst) != is_cancelling
    }

    /// Writes the task again, unless it was removed or never written. A failure is logged.
    pub fn save_cancelling(&self, call: &ToolCall, left_at: Timestamp) {
        let state = lock_ignoring_poison(&self.state);
        if state.is_removed || !state.is_written {
            return;
        }
        let text = self.text(call, left_at);
        let replaced = files::replace(&self.path, text.as_bytes(), files::PRIVATE_MODE);
        if let Err(error) = replaced {
            tracing::warn!("{} cannot be replaced: {error}", self.path.display());
        }
    }

    /// Removes the file. A failure is logged; the task is then listed again at the next start.
    pub fn remove(&self) {
        let mut state = lock_ignoring_poison(&self.state);
        state.is_removed = true;
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::warn!("{} cannot be removed: {error}", self.path.display());
            }
            // Without its task, the lock protects nothing.
            _ => remove_lock(&self.path),
        }
        state.lock = None;
    }
}

/// The time at which the task was left, from the name that [`LeftTaskStore::new_file`] gives.
fn time_in_name(path: &Path) -> Option<i128> {
    let name = path.file_stem()?.to_str()?;
    let time = name.rsplit_once('-').map_or(name, |(time, _)| time);
    time.parse().ok()
}

fn is_task(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

fn lock_path(path: &Path) -> PathBuf {
    path.with_added_extension("lock")
}

fn remove_lock(path: &Path) {
    let _ = fs::remove_file(lock_path(path));
}

/// Reads a task unless another running program lists it.
fn claim(path: PathBuf) -> Option<StoredLeftTask> {
    let lock = match FileLock::try_acquire(&lock_path(&path)) {
        Ok(Some(lock)) => Some(lock),
        Ok(None) => return None,
        // The folder may be read-only. Reading the task is better than losing it.
        Err(error) => {
            tracing::warn!("{} cannot be locked: {error}", path.display());
            None
        }
    };
    let claimed = read(path.clone(), lock);
    if claimed.is_none() {
        remove_lock(&path);
    }
    claimed
}

fn read(path: PathBuf, lock: Option<FileLock>) -> Option<StoredLeftTask> {
    let task = files::read(&path, FILE_BYTES_MAX).ok().flatten();
    let entry: Option<Value> = task.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let parsed = entry.and_then(|entry| {
        let left_at = entry.get("leftAt")?.as_str()?.parse().ok()?;
        let call = call_json::from_json(entry.get("call")?)?;
        let is_cancelling = entry.get(CANCELLING_KEY) == Some(&Value::Bool(true));
        call.has_open_task()
            .then_some((call, left_at, is_cancelling))
    });
    let Some((call, left_at, is_cancelling)) = parsed else {
        tracing::warn!("{} does not hold a task", path.display());
        return None;
    };
    let state = Mutex::new(FileState {
        is_removed: false,
        is_written: true,
        lock,
    });
    Some(StoredLeftTask {
        file: Arc::new(LeftTaskFile {
            path,
            state,
            is_cancelling: AtomicBool::new(is_cancelling),
        }),
        call,
        left_at,
        is_cancelling,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        CallTask, LaunchId, Pin, ServerTask, TaskProtocol, ToolOutcome, ToolState,
    };
    use crate::fixtures::tool_call;
    use tempfile::TempDir;

    fn call(tool: &str) -> ToolCall {
        let task = ServerTask::new("t", TaskProtocol::Extension).expect("a valid id");
        ToolCall {
            task: Some(Box::new(CallTask {
                task,
                launch: LaunchId::from_hash("1"),
                pin: Pin::from_hash("2"),
            })),
            state: ToolState::Running { progress: None },
            ..tool_call("films", tool, json!({ "path": "a.mov" }))
        }
    }

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn the_newest_tasks_are_loaded_and_other_files_stay() {
        let home = TempDir::new().expect("a temporary folder");
        let store = LeftTaskStore::new(home.path().join("tasks"));
        assert_eq!(store.load(9).tasks.len(), 0, "no folder yet");
        for second in [3, 1, 2] {
            let call = call(&format!("work-{second}"));
            let file = store.new_file(time(second));
            file.write(&call, time(second)).expect("written");
            // The program that left the task ends.
            drop(file);
        }
        let broken = home.path().join("tasks/0-0.json");
        fs::write(&broken, "{").expect("written");
        let loaded = store.load(2).tasks;
        let names: Vec<&str> = loaded.iter().map(|task| &*task.call.tool).collect();
        assert_eq!(names, ["work-2", "work-3"]);
        let open = ToolState::Done(ToolOutcome::Interrupted);
        assert_eq!((&loaded[0].call.state, loaded[0].left_at), (&open, time(2)));
        assert_eq!(loaded[0].call.task, call("").task);
        loaded[1].file.remove();
        loaded[1].file.remove();
        let written = loaded[1].file.write(&call(""), time(9));
        written.expect("nothing to write");
        drop(loaded);
        assert_eq!(store.load(9).tasks.len(), 2, "a removed file stays removed");
        assert!(broken.exists());
    }

    #[test]
    fn the_newest_files_are_read_and_the_others_counted() {
        let home = TempDir::new().expect("a temporary folder");
        let folder = home.path().join("tasks");
        let store = LeftTaskStore::new(folder.clone());
        // Of different lengths, so that the order of the names is not that of the times.
        for second in [9, 10, 100, 1_000] {
            let file = store.new_file(time(second));
            file.write(&call(&format!("work-{second}")), time(second))
                .expect("written");
        }
        for n in 0..998 {
            let broken = folder.join(format!("{}-1.json", 2_000_000_000_000_u64 + n));
            fs::write(broken, "{").expect("written");
        }
        let loaded = store.load(9);
        let names: Vec<&str> = loaded.tasks.iter().map(|task| &*task.call.tool).collect();
        assert_eq!(names, ["work-100", "work-1000"]);
        assert_eq!(loaded.unread_count, 2);
        drop(loaded);
        let loaded = store.load(1);
        assert_eq!(loaded.tasks[0].call.tool, "work-1000");
        assert_eq!(loaded.unread_count, 3);
    }

    #[test]
    fn the_file_says_whether_the_task_is_being_cancelled() {
        let home = TempDir::new().expect("a temporary folder");
        let store = LeftTaskStore::new(home.path().join("tasks"));
        let file = store.new_file(time(1));
        assert!(file.set_cancelling(true) && !file.set_cancelling(true));
        // The first writer may run after it.
        file.save_cancelling(&call("work"), time(1));
        file.write(&call("work"), time(1)).expect("written");
        drop(file);
        for is_cancelling in [true, false] {
            let loaded = store.load(9).tasks.pop().expect("a task");
            assert_eq!(loaded.is_cancelling, is_cancelling);
            assert_eq!(loaded.left_at, time(1));
            loaded.file.set_cancelling(false);
            loaded.file.save_cancelling(&loaded.call, loaded.left_at);
        }
        let loaded = store.load(9).tasks.pop().expect("a task");
        loaded.file.remove();
        loaded.file.save_cancelling(&loaded.call, loaded.left_at);
        assert_eq!(store.load(9).tasks.len(), 0, "a removed file stays removed");
    }

    #[test]
    fn a_task_belongs_to_the_program_that_lists_it_until_the_program_ends() {
        let home = TempDir::new().expect("a temporary folder");
        let store = LeftTaskStore::new(home.path().join("tasks"));
        let file = store.new_file(time(1));
        file.write(&call("work"), time(1)).expect("written");
        assert_eq!(store.load(9).tasks.len(), 0, "this program follows it");
        drop(file);
        let claimed = store.load(9).tasks;
        assert_eq!(claimed.len(), 1);
        assert_eq!(
            store.load(9).tasks.len(),
            0,
            "claimed by the first that asked"
        );
        claimed[0].file.remove();
        drop(claimed);
        let left = fs::read_dir(home.path().join("tasks")).expect("the folder");
        assert_eq!(left.count(), 0, "neither a task nor its lock is left");
    }

    #[test]
    fn a_call_that_is_too_large_is_not_written() {
        let home = TempDir::new().expect("a temporary folder");
        let store = LeftTaskStore::new(home.path().join("tasks"));
        let mut call = call("work");
        call.arguments
            .insert("text".to_owned(), "x".repeat(5 << 20).into());
        let file = store.new_file(time(1));
        let error = file.write(&call, time(1)).expect_err("too large");
        assert!(error.to_string().contains("too large"), "{error}");
        assert!(!file.path.exists());
    }
}
