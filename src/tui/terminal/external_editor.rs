//! Edits the message in the user's own editor.

use crate::domain::Notice;
use std::io;

/// Opens `text` in `$VISUAL` or `$EDITOR` through a temporary file.
pub async fn run_editor(text: &str) -> Result<String, Notice> {
    let failed = |error: io::Error| {
        Notice::failure("Could not run the editor.").with_reason(format!("{error}."))
    };
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let editor = variable("VISUAL")
        .or_else(|| variable("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let file = tempfile::Builder::new()
        .prefix("humble-")
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    std::fs::write(file.path(), text).map_err(failed)?;
    // The variable may hold a command line such as `code --wait`.
    let status = tokio::process::Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(failed)?;
    if !status.success() {
        return Err(Notice::failure(format!("The editor failed ({status})."))
            .with_advice("The message is unchanged."));
    }
    std::fs::read_to_string(file.path()).map_err(failed)
}
