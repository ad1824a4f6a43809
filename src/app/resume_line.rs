//! The line printed after the screen closes, with the command that resumes the conversation.

use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use std::path::Path;

/// Maximum width of the title.
const TITLE_COLUMNS_MAX: usize = 50;

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
        // Each quote closes the quoted part, is escaped, and reopens the quoted part.
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// The line itself, such as `humble --continue  resumes "Trip to Busan"`.
pub fn resume_line(command: &str, title: &str) -> String {
    let title = Clean::single_line(title);
    let title = truncate_to_width(title.as_str(), TITLE_COLUMNS_MAX);
    format!("{command}  resumes \"{title}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_command_and_a_clean_title_of_limited_width() {
        let command = resume_command(Some(Path::new("/tmp/h")));
        let line = resume_line(&command, "Trip\nto \u{1b}[2JBusan");
        assert_eq!(
            line,
            "humble --home /tmp/h --continue  resumes \"Trip to Busan\""
        );
        let long = resume_line("humble --continue", &"가".repeat(100));
        assert!(
            long.ends_with(&format!("\"{}\"", "가".repeat(25))),
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
}
