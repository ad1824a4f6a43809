//! Reports template files that do not become commands, each once.

use super::{command, is_hidden};
use crate::domain::{Notice, PromptTemplate, PromptTemplates};
use std::collections::BTreeSet;

/// Maximum number of files that are reported one by one at a time.
const NOTICES_MAX: usize = 3;

#[derive(Debug, Default)]
pub struct TemplateProblems {
    reported: BTreeSet<String>,
}

impl TemplateProblems {
    /// The problems that have not been reported yet. One that is gone is reported again if it
    /// returns.
    pub fn take_new(&mut self, templates: &PromptTemplates) -> Vec<Notice> {
        let problems = templates.list.iter().filter_map(problem);
        let problems: Vec<(String, Notice)> = problems.collect();
        let reported = problems.iter().map(|(text, _)| text.clone()).collect();
        let reported = std::mem::replace(&mut self.reported, reported);
        let new = problems
            .into_iter()
            .filter(|(text, _)| !reported.contains(text));
        let mut new: Vec<Notice> = new.map(|(_, notice)| notice).collect();
        let more = new.len().saturating_sub(NOTICES_MAX);
        new.truncate(NOTICES_MAX);
        if more > 0 {
            let text = match more {
                1 => "1 more prompt template cannot be used.".to_owned(),
                more => format!("{more} more prompt templates cannot be used."),
            };
            new.push(Notice::warning(text).with_advice("Check the files in `prompts`."));
        }
        new
    }
}

fn problem(template: &PromptTemplate) -> Option<(String, Notice)> {
    let file = format!("prompts/{}.md", template.name);
    let (text, advice) = match &template.body {
        Err(why) => (
            format!("{file} cannot be used: {why}."),
            correction(template),
        ),
        Ok(_) if is_hidden(template) => {
            let command = command(template).to_lowercase();
            let text = format!("{file} cannot be used: {command} is a built-in command.");
            (text, "Rename it.".to_owned())
        }
        Ok(_) => return None,
    };
    Some((text.clone(), Notice::warning(text).with_advice(advice)))
}

/// What to do about an unusable file.
pub(super) fn correction(template: &PromptTemplate) -> String {
    let words: Vec<&str> = template.name.split_whitespace().collect();
    match words.join("-") {
        name if name != template.name => format!("Rename it, for example to {name}.md."),
        _ => "Correct it.".to_owned(),
    }
}
