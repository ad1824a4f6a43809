//! The line printed after the screen closes, with the command that resumes the conversation.

use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use std::path::Path;

const TITLE_COLUMNS_MAX: usize = 50;
/// With less room beside the command, the title gets its own line.
const TITLE_COLUMNS_MIN: usize = 12;

/// The command that opens the latest conversation again. `home` is the folder that was named on
/// the command line.
pub fn resume_command(home: Option<&Path>) -> String {
    match home {
        Some(home) => format!("humble --home {} --continue", shell_quoted(home)),
        None => "humble --continue".to_owned(),
    }
}

/// Quotes the path as one word for a POSIX shell, if necessary.
fn shell_quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !path.is_empty() && path.chars().all(is_plain) {
        true => path,
        // At each quote, close the quoted part, add an escaped quote, and open a new quoted part.
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// A line such as `humble --continue  resumes "Trip to Busan"`. A long title is truncated;
/// if there is little room beside the command, the title gets a line of its own. The command is
/// always complete, so that it can be copied.
pub fn resume_line(command: &str, title: &str, columns: u16) -> String {
    // A terminal that reports zero columns does not know its size.
    let columns = match usize::from(columns) {
        0 => usize::MAX,
        columns => columns,
    };
    let title = Clean::single_line(title);
    let beside_command = columns.saturating_sub(width(command) + width("  resumes \"\""));
    let (separator, room) = match beside_command {
        ..TITLE_COLUMNS_MIN => ("\n", columns.saturating_sub(width("  resumes \"\""))),
        room => ("", room),
    };
    let columns_max = room.min(TITLE_COLUMNS_MAX);
    let title = match width(title.as_str()) > columns_max {
        true => {
            let start = truncate_to_width(title.as_str(), columns_max.saturating_sub(1));
            format!("{}…", start.trim_end())
        }
        false => title.as_str().to_owned(),
    };
    format!("{command}{separator}  resumes \"{title}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resume_line_names_the_command_and_a_clean_title_of_limited_width() {
        let command = resume_command(Some(Path::new("/tmp/h")));
        let line = resume_line(&command, "Trip\nto \u{1b}[2JBusan", 80);
        assert_eq!(
            line,
            "humble --home /tmp/h --continue  resumes \"Trip to Busan\""
        );
        let long = resume_line("humble --continue", &"가".repeat(100), 80);
        assert!(
            long.ends_with(&format!("\"{}…\"", "가".repeat(24))),
            "{long}"
        );
    }

    #[test]
    fn the_home_is_quoted_for_the_shell_if_necessary() {
        for (home, quoted) in [
            ("/tmp/my files", "'/tmp/my files'"),
            ("/tmp/it's $HOME", r"'/tmp/it'\''s $HOME'"),
            ("/집/홈", "/집/홈"),
            ("~/x", "'~/x'"),
        ] {
            let command = resume_command(Some(Path::new(home)));
            assert_eq!(command, format!("humble --home {quoted} --continue"));
        }
    }

    #[test]
    fn on_a_narrow_terminal_the_title_is_shortened_or_gets_its_own_line() {
        let title = "What is the weather in Busan tomorrow?";
        let short = "humble --continue";
        let long = "humble --home /home/me/some/folder --continue";
        for (command, columns, expected) in [
            (
                short,
                60,
                "humble --continue  resumes \"What is the weather in Busan t…\"",
            ),
            (
                short,
                40,
                "humble --continue\n  resumes \"What is the weather in Busa…\"",
            ),
            (
                long,
                60,
                "humble --home /home/me/some/folder --continue\n  resumes \"What is the weather in Busan tomorrow?\"",
            ),
            (
                short,
                0,
                "humble --continue  resumes \"What is the weather in Busan tomorrow?\"",
            ),
        ] {
            let line = resume_line(command, title, columns);
            assert_eq!(line, expected);
            let too_wide = line
                .lines()
                .any(|row| columns > 0 && width(row) > columns.into());
            assert!(!too_wide, "{line}");
        }
    }
}
