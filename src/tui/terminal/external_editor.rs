//! Edits a text in the user's own editor.

use crate::domain::Notice;
use std::io;

/// Opens a temporary file with `text` in `$VISUAL`, `$EDITOR` or `vi`. Returns the edited text.
pub async fn run_editor(text: &str) -> Result<String, Notice> {
    let to_notice = |error: io::Error| {
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
        .map_err(to_notice)?;
    std::fs::write(file.path(), text).map_err(to_notice)?;
    // The variable may hold a command line such as `code --wait`.
    let status = tokio::process::Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(to_notice)?;
    if !status.success() {
        return Err(Notice::failure(format!("The editor failed ({status})."))
            .with_advice("The text is unchanged. `$VISUAL` or `$EDITOR` names the editor."));
    }
    std::fs::read_to_string(file.path()).map_err(to_notice)
}
