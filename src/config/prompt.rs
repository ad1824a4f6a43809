//! `system_prompt.txt` as the person has it (S4.1).

use super::{Home, Reading};
use crate::domain::{Banner, Notice};
use crate::files;

const BYTES_MAX: u64 = 4 * 1024 * 1024;
const CAUSE: &str = "system_prompt.txt";
/// Words by which prompts of older homes teach a call form that is not ours.
const OLDER_FORMS: [&str; 2] = ["chooseFunction", "functionCall"];

/// Reads the system prompt; a missing file is an empty one.
pub fn read_system_prompt(home: &Home) -> Reading<String> {
    let path = home.system_prompt();
    let bytes = match files::read(&path, BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(fault) => return without(&home.path_words(), &files::words(&fault)),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) => {
            let good = fault.utf8_error().valid_up_to();
            let line = fault.as_bytes()[..good]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            let why = format!("line {} is not UTF-8", line + 1);
            return without(&home.path_words(), &why);
        }
    };
    let older = OLDER_FORMS.into_iter().find(|form| text.contains(form));
    let banners = older.map(|form| {
        let what = format!(
            "{} teaches a form of tool calls (`{form}`) that is not used any more.",
            home.path_words()
        );
        Banner::new(
            CAUSE,
            Notice::warning(what)
                .because("Each request describes the tools and how to call them by itself.")
                .advise("Keep a copy and take that part out of the file."),
        )
    });
    Reading {
        value: text,
        banners: banners.into_iter().collect(),
    }
}

fn without(path: &str, why: &str) -> Reading<String> {
    let notice = Notice::failure(format!("{path} cannot be used: {why}."))
        .because("Models get no system prompt from it.")
        .advise("Save it as UTF-8 in a file that you may read.");
    Reading {
        value: String::new(),
        banners: vec![Banner::new(CAUSE, notice)],
    }
}

impl Home {
    fn path_words(&self) -> String {
        self.system_prompt().display().to_string()
    }
}
