//! Editing the message in the user's own editor.

use crate::domain::Notice;
use std::io;

/// Runs `$VISUAL` or `$EDITOR` on a file that holds `text`.
pub async fn run_editor(text: &str) -> Result<String, Notice> {
    let failed = |fault: io::Error| {
        Notice::failure("The editor could not be used.").with_reason(format!("{fault}."))
    };
    let set = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let file = tempfile::Builder::new()
        .prefix("humble-")
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    std::fs::write(file.path(), text).map_err(failed)?;
    // The variable is a command line, such as `code --wait`.
    let status = tokio::process::Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(failed)?;
    if !status.success() {
        return Err(Notice::failure(format!("The editor ended with {status}."))
            .with_advice("The message stays as it was."));
    }
    std::fs::read_to_string(file.path()).map_err(failed)
}
