//! The last lines of the demo.

use std::fs::DirEntry;
use std::path::Path;

/// The last lines of the demo: where its conversations are, if there are any, and how a new user
/// can connect a model.
pub fn farewell(sessions: &Path, is_new_user: bool) -> String {
    let is_session = |entry: DirEntry| entry.path().extension() == Some("json".as_ref());
    let has_sessions = sessions
        .read_dir()
        .is_ok_and(|entries| entries.flatten().any(is_session));
    let mut lines = String::new();
    if has_sessions {
        // On a line of its own, the whole path can be selected in any terminal.
        lines = format!("The demo's conversations are in\n{}\n", sessions.display());
    }
    if is_new_user {
        lines += "Start `humble` to connect a model.\n";
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn farewell_names_the_folder_only_if_it_holds_a_conversation() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sessions = folder.path().join("sessions");
        assert_eq!(farewell(&sessions, false), "");
        std::fs::create_dir(&sessions).expect("created");
        std::fs::write(sessions.join("a.lock"), "").expect("written");
        assert_eq!(farewell(&sessions, false), "");
        std::fs::write(sessions.join("a.json"), "{}").expect("written");
        let path = sessions.display().to_string();
        let lines = farewell(&sessions, true);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines[..2], ["The demo's conversations are in", &path]);
        assert!(lines[2].contains("`humble`") && lines[2].len() <= 40);
        assert_eq!(farewell(&sessions, false).lines().count(), 2);
    }
}
