//! Prompt templates: the files `prompts/NAME.md`, each used as the command `/NAME`.

use super::Home;
use super::markdown_files::{
    describe_folder_error, first_line, markdown_files, read_markdown, split_front_matter,
    strip_quotes, truncate_line,
};
use crate::domain::{Notice, PromptTemplate, PromptTemplates, TemplateBody};
use std::path::Path;

/// Maximum number of templates; the first in alphabetical order are used.
const TEMPLATES_MAX: usize = 200;
const TOTAL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Reads the files `prompts/NAME.md`, sorted by name. A missing folder counts as empty. Blocks.
pub fn read_prompt_templates(home: &Home) -> PromptTemplates {
    let folder = home.prompts();
    let paths = match markdown_files(&folder) {
        Ok(paths) => paths,
        Err(error) => {
            let why = describe_folder_error(&error);
            let message = format!("{} cannot be read: {why}.", folder.display());
            return PromptTemplates {
                list: Vec::new(),
                problem: Some(Notice::warning(message).with_advice("Make it a readable folder.")),
            };
        }
    };
    let mut bytes_left = TOTAL_BYTES_MAX;
    let list = paths.iter().take(TEMPLATES_MAX);
    let list = list.map(|path| read_template(path, &mut bytes_left));
    PromptTemplates {
        list: list.collect(),
        problem: too_many_notice(&folder, paths.len()),
    }
}

fn too_many_notice(folder: &Path, count: usize) -> Option<Notice> {
    let message = format!("{} contains {count} templates.", folder.display());
    (count > TEMPLATES_MAX).then(|| {
        Notice::warning(message)
            .with_reason(format!(
                "Only the first {TEMPLATES_MAX} by name are listed."
            ))
            .with_advice("Remove those that you do not use.")
    })
}

fn read_template(path: &Path, bytes_left: &mut usize) -> PromptTemplate {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let contents = check_name(&name)
        .and_then(|()| read_markdown(path))
        .and_then(|contents| match bytes_left.checked_sub(contents.len()) {
            Some(left) => {
                *bytes_left = left;
                Ok(contents)
            }
            None => Err(format!(
                "all templates together are larger than {} MB",
                TOTAL_BYTES_MAX >> 20
            )),
        });
    let parsed = contents.and_then(|contents| parse(&contents));
    let (description, body) = match parsed {
        Ok((description, body)) => (description, Ok(body)),
        Err(why) => (String::new(), Err(why)),
    };
    PromptTemplate {
        name: name.into_owned(),
        description,
        body,
    }
}

fn check_name(name: &str) -> Result<(), String> {
    match name.contains(|c: char| c.is_whitespace() || c == '/') {
        true => Err("a command name cannot contain spaces".to_owned()),
        false => Ok(()),
    }
}

/// Refuses a line that is neither `key: value`, nor blank, a comment or the rest of a longer value,
/// because the description may be meant.
fn check_front_matter(front_matter: &str) -> Result<(), String> {
    let is_rest = |line: &str| line.starts_with([' ', '\t', '-', '#', ']', '}']);
    let is_valid = |line: &str| line.trim().is_empty() || is_rest(line) || line.contains(':');
    match front_matter.lines().position(|line| !is_valid(line)) {
        // The fence is line 1.
        Some(index) => Err(format!(
            "line {} of its front matter is not of the form `key: value`",
            index + 2
        )),
        None => Ok(()),
    }
}

fn parse(contents: &str) -> Result<(String, TemplateBody), String> {
    let (front_matter, text) = split_front_matter(contents)?;
    check_front_matter(front_matter)?;
    let text = text.trim();
    if text.is_empty() {
        return Err("its file has no text".to_owned());
    }
    let mut lines = front_matter.lines();
    let described = lines.find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "description").then(|| strip_quotes(value).to_owned())
    });
    let description = described.filter(|description| !description.is_empty());
    let description = description.or_else(|| first_line(text)).unwrap_or_default();
    Ok((truncate_line(&description), TemplateBody::parse(text)))
}
