//! Reads the prompt of `humble ask` from arguments and standard input.

use crate::domain::Prompt;
use anyhow::{Context, Result};
use std::io::{IsTerminal, Read};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

const PIPE_HINT_DELAY: Duration = Duration::from_secs(1);
const PIPE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The prefix of a prompt that note agents leave to the model, as in the chat.
const CHAT_COMMAND: &str = "/chat ";

/// The prompt from the arguments, with piped input as context. A lone `-` makes the piped input
/// itself the prompt. `None` if there is no text.
pub(super) fn read_prompt(words: &[String]) -> Result<Option<Prompt>> {
    let typed = words.join(" ");
    let stdin = std::io::stdin();
    let piped = if stdin.is_terminal() && typed != "-" {
        String::new()
    } else {
        read_pipe()?
    };
    Ok(prompt_of(without_bom(&typed).trim(), piped.trim_end()))
}

fn prompt_of(typed: &str, piped: &str) -> Option<Prompt> {
    let is_piped_request = typed == "-";
    let request = if is_piped_request { piped } else { typed };
    let (request, bypasses_agents) = match request.strip_prefix(CHAT_COMMAND) {
        Some(prompt) => (prompt.trim_start(), true),
        None => (request, false),
    };
    let prompt = if is_piped_request {
        let has_text = !request.trim().is_empty();
        has_text.then(|| Prompt::piped_request(request))
    } else {
        match (request.is_empty(), piped.trim().is_empty()) {
            (true, true) => None,
            (false, true) => Some(Prompt::new(request)),
            (_, false) => Some(Prompt::with_piped_context(request, piped)),
        }
    };
    match bypasses_agents {
        true => prompt.map(Prompt::bypassing_agents),
        false => prompt,
    }
}

/// Reads standard input to its end. If that takes longer than a second, prints a hint, in case it
/// was left open by mistake.
pub(super) fn read_pipe() -> Result<String> {
    let (done_sender, done_receiver) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if done_receiver.recv_timeout(PIPE_HINT_DELAY) == Err(RecvTimeoutError::Timeout) {
            eprintln!("Reading standard input … (add `< /dev/null` if there is none)");
        }
    });
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(PIPE_BYTES_MAX + 1);
    let result = input.read_to_end(&mut bytes);
    drop(done_sender);
    result.context("could not read standard input")?;
    anyhow::ensure!(
        bytes.len() as u64 <= PIPE_BYTES_MAX,
        "piped input is larger than {} MB: shorten it",
        PIPE_BYTES_MAX / (1024 * 1024)
    );
    let text = String::from_utf8(bytes).context("piped input is not UTF-8 text")?;
    Ok(without_bom(&text).to_owned())
}

/// The text without the byte order mark that some editors write first. Otherwise, a command at the
/// start would not be recognized.
fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that note agents may act on.
    fn request(typed: &str, piped: &str) -> Option<String> {
        let prompt = prompt_of(typed, piped)?;
        prompt.text_for_agents().map(str::to_owned)
    }

    #[test]
    fn note_agents_act_only_on_a_typed_prompt_or_one_read_with_a_dash() {
        let tea = Some("find notes about tea".to_owned());
        assert_eq!(request("find notes about tea", ""), tea);
        assert_eq!(request("-", "find notes about tea"), tea);
        assert_eq!(request("find notes about tea", "a list"), None);
        assert_eq!(request("", "find notes about tea"), None);
        assert_eq!(request("/chat find notes about tea", ""), None);
        assert_eq!(request("-", "/chat find notes about tea"), None);
        assert_eq!(request("-", " \n"), None);
    }

    #[test]
    fn chat_command_is_removed_from_a_prompt_read_with_a_dash() {
        let text = |typed: &str, piped: &str| prompt_of(typed, piped).map(|prompt| prompt.text);
        assert_eq!(text("-", "/chat hello"), Some("hello".to_owned()));
        assert_eq!(text("-", "hello"), Some("hello".to_owned()));
        assert_eq!(prompt_of("-", ""), None);
    }
}
