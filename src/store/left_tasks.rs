//! The tasks that earlier versions stored, so that a later run could follow them.

use std::fs;
use std::path::Path;

/// Removes the files of the tasks and their locks, and the folder if nothing else is in it. Returns the
/// number of tasks that were removed.
pub fn remove_left_tasks(folder: &Path) -> usize {
    let mut count = 0;
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = item.file_name();
        let name = name.to_str().unwrap_or_default();
        let task = name.strip_suffix(".lock").unwrap_or(name);
        if !is_task(task) {
            continue;
        }
        match fs::remove_file(item.path()) {
            Ok(()) => count += usize::from(task == name),
            Err(error) => tracing::warn!("{} stays: {error}", item.path().display()),
        }
    }
    // Fails if the folder is missing or holds other files.
    let _ = fs::remove_dir(folder);
    count
}

/// Whether this is a name such as `1764396766000000000-4711.json`: a time and a process.
fn is_task(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_suffix(".json");
    let numbers = numbers.and_then(|numbers| numbers.split_once('-'));
    numbers.is_some_and(|(time, process)| is_number(time) && is_number(process))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn stored_tasks_are_removed_once_and_other_files_stay() {
        let home = TempDir::new().expect("a temporary folder");
        let folder = home.path().join("tasks");
        assert_eq!(remove_left_tasks(&folder), 0, "no folder");
        fs::create_dir(&folder).expect("created");
        for name in ["1-2.json", "1-2.json.lock", "30-4.json", "5-6.json.lock"] {
            fs::write(folder.join(name), "").expect("written");
        }
        let others = [
            "1-2.txt",
            "1.json",
            "1-.json",
            "a-2.json",
            "1-2.json.lock.lock",
        ];
        for name in others {
            fs::write(folder.join(name), "").expect("written");
        }
        fs::create_dir(folder.join("7-8.json")).expect("created");
        assert_eq!(remove_left_tasks(&folder), 2);
        assert_eq!(remove_left_tasks(&folder), 0);
        let left = fs::read_dir(&folder).expect("the folder").count();
        assert_eq!(left, others.len() + 1);
        for name in others {
            fs::remove_file(folder.join(name)).expect("removed");
        }
        fs::remove_dir(folder.join("7-8.json")).expect("removed");
        assert_eq!(remove_left_tasks(&folder), 0);
        assert!(!folder.exists(), "an empty folder is removed");
    }
}
