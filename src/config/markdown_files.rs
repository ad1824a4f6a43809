//! Folders of Markdown files with optional front matter, such as `personas` and `prompts`.

use crate::files;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Larger files are not usable as prompts.
const BYTES_MAX: u64 = 1024 * 1024;
const DESCRIPTION_CHARS_MAX: usize = 80;
const FENCE: &str = "---";

/// The visible Markdown files of a folder, sorted by name. A missing folder counts as empty.
pub(super) fn markdown_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden
            && path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

pub(super) fn describe_folder_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotADirectory => "it is a file, expected a folder".to_owned(),
        _ => files::describe_io_error(error),
    }
}

/// The error is the reason, such as `its file does not exist`.
pub(super) fn read_markdown(path: &Path) -> Result<String, String> {
    let bytes = match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err("its file does not exist".to_owned()),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(format!("its file is larger than {} MB", BYTES_MAX >> 20));
        }
        Err(error) => return Err(files::describe_io_error(&error)),
    };
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} of its file is not UTF-8")
    })
}

/// Splits off the front matter between two fences at the very start. An unclosed fence is an
/// error, because its settings would silently have no effect.
pub(super) fn split_front_matter(contents: &str) -> Result<(&str, &str), String> {
    let contents = contents.trim_start_matches('\u{feff}');
    let mut lines = contents.split_inclusive('\n');
    let Some(opening_fence) = lines.next().filter(|line| line.trim_end() == FENCE) else {
        return Ok(("", contents));
    };
    let mut offset = opening_fence.len();
    for line in lines {
        if line.trim_end() == FENCE {
            let text = &contents[offset + line.len()..];
            let text = text.trim_start_matches(['\n', '\r']);
            return Ok((&contents[opening_fence.len()..offset], text));
        }
        offset += line.len();
    }
    Err("its front matter is not closed by a line `---`".to_owned())
}

/// The first line that is not blank, without Markdown heading marks.
pub(super) fn first_line(text: &str) -> Option<String> {
    text.lines()
        .map(|line| line.trim().trim_start_matches('#').trim().to_owned())
        .find(|line| !line.is_empty())
}

pub(super) fn truncate_line(line: &str) -> String {
    match line.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

pub(super) fn strip_quotes(value: &str) -> &str {
    value.trim().trim_matches(['"', '\'']).trim()
}
