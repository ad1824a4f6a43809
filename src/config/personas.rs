//! Personas: those in the binary, and those in the folder `personas`, which beat
//! them by name (S4.4). A file that cannot be used is listed with the reason.

use super::{Home, Loaded};
use crate::domain::persona::ToolSelector;
use crate::domain::{Banner, BannerCause, Notice, Persona};
use crate::files;
use crate::text::suggest::nearest;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Larger files are not prompts that a model could read.
const BYTES_MAX: u64 = 1024 * 1024;
/// Personas that are read at most, in the order of their names.
const PERSONAS_MAX: usize = 200;
/// Tools that one persona can name.
const TOOLS_MAX: usize = 500;
/// Characters of the line that says what a persona is.
const DESCRIPTION_CHARS_MAX: usize = 80;
const FENCE: &str = "---";

const BUILT_IN_PERSONAS: [(&str, &str); 2] = [
    ("weather", include_str!("../../assets/personas/weather.md")),
    (
        "terraform",
        include_str!("../../assets/personas/terraform.md"),
    ),
];

/// Those that come with the program.
fn built_in_personas() -> Vec<Persona> {
    let built_in = BUILT_IN_PERSONAS.into_iter();
    built_in
        .map(|(name, text)| parse_persona(name, text.to_owned()))
        .collect()
}

/// Reads the files `personas/NAME.md`, by name; no folder is no persona.
pub fn read_personas(home: &Home) -> Loaded<Vec<Persona>> {
    let folder = home.personas();
    let mut paths = match markdown_files(&folder) {
        Ok(paths) => paths,
        Err(fault) => return unreadable_folder(&folder, &fault),
    };
    paths.sort();
    let banners = too_many_banner(&folder, paths.len());
    paths.truncate(PERSONAS_MAX);
    Loaded {
        value: paths.iter().map(|path| read(path)).collect(),
        banners: banners.into_iter().collect(),
        is_unusable: false,
    }
}

/// Finds a persona among files and built-in ones.
///
/// # Errors
/// There is none of that name, or its file cannot be used: a sentence.
pub fn find_persona(files: &[Persona], name: &str) -> Result<Persona, Notice> {
    let all = all_personas(files);
    let Some(found) = all.iter().find(|persona| persona.name == name) else {
        let names: Vec<&str> = all.iter().map(|persona| persona.name.as_str()).collect();
        let advice = match nearest(name, names.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("There are: {}.", names.join(", ")),
        };
        let what = format!("There is no persona `{}`.", truncate_line(name));
        return Err(Notice::failure(what).with_advice(advice));
    };
    match &found.text {
        Ok(_) => Ok(found.clone()),
        Err(why) => {
            let what = format!("The persona `{name}` cannot be used: {why}.");
            Err(Notice::failure(what).with_advice("Correct its file in the folder `personas`."))
        }
    }
}

/// Files and built-in ones, each name once, in alphabetical order.
pub fn all_personas(files: &[Persona]) -> Vec<Persona> {
    let mut all = files.to_vec();
    for persona in built_in_personas() {
        if all.iter().all(|file| file.name != persona.name) {
            all.push(persona);
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn markdown_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn unreadable_folder(folder: &Path, fault: &io::Error) -> Loaded<Vec<Persona>> {
    let why = match fault.kind() {
        ErrorKind::NotADirectory => "it is a file, a folder is expected".to_owned(),
        _ => files::describe_io_error(fault),
    };
    let what = format!("{} cannot be read: {why}.", folder.display());
    let notice = Notice::warning(what)
        .with_reason("Only the personas that come with the program can be chosen.")
        .with_advice("Make it a folder that you may read.");
    Loaded {
        value: Vec::new(),
        banners: vec![Banner::new(BannerCause::IncompletePersonas, notice)],
        is_unusable: true,
    }
}

fn too_many_banner(folder: &Path, count: usize) -> Option<Banner> {
    let what = format!("{} holds {count} personas.", folder.display());
    (count > PERSONAS_MAX).then(|| {
        let notice = Notice::warning(what)
            .with_reason(format!("The first {PERSONAS_MAX} by name are listed."))
            .with_advice("Move those away that you do not use.");
        Banner::new(BannerCause::IncompletePersonas, notice)
    })
}

fn read(path: &Path) -> Persona {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match read_text(path) {
        Ok(text) => parse_persona(&name, text),
        Err(why) => unusable(&name, why),
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err("its file is gone".to_owned()),
        Err(fault) if fault.kind() == ErrorKind::FileTooLarge => {
            return Err(format!("its file is larger than {} MB", BYTES_MAX >> 20));
        }
        Err(fault) => return Err(files::describe_io_error(&fault)),
    };
    String::from_utf8(bytes).map_err(|fault| {
        let good = &fault.as_bytes()[..fault.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} of its file is not UTF-8")
    })
}

fn unusable(name: &str, why: String) -> Persona {
    Persona {
        name: name.to_owned(),
        description: String::new(),
        text: Err(why),
        tools: None,
    }
}

fn parse_persona(name: &str, whole: String) -> Persona {
    let whole = whole.trim_start_matches('\u{feff}');
    let split = split_front_matter(whole);
    let read = split.and_then(|(front, text)| Ok((FrontMatter::parse(front)?, text)));
    let (front, text) = match read {
        Ok(read) => read,
        Err(why) => return unusable(name, why),
    };
    let first = text
        .lines()
        .map(strip_heading_marks)
        .find(|line| !line.is_empty());
    Persona {
        name: name.to_owned(),
        description: truncate_line(&front.description.or(first).unwrap_or_default()),
        text: Ok(text.to_owned()),
        tools: front.tools,
    }
}

/// A line without the marks of a heading.
fn strip_heading_marks(line: &str) -> String {
    line.trim().trim_start_matches('#').trim().to_owned()
}

fn truncate_line(line: &str) -> String {
    match line.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The lines between two fences at the very start, and what follows them. A fence
/// that is never closed is refused: the `tools` behind it would bind nobody.
fn split_front_matter(whole: &str) -> Result<(&str, &str), String> {
    let mut lines = whole.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == FENCE) else {
        return Ok(("", whole));
    };
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            let rest = &whole[at + line.len()..];
            let rest = rest.trim_start_matches(['\n', '\r']);
            return Ok((&whole[first.len()..at], rest));
        }
        at += line.len();
    }
    Err("its front matter is not closed".to_owned())
}

#[derive(Default)]
struct FrontMatter {
    description: Option<String>,
    tools: Option<Vec<ToolSelector>>,
}

impl FrontMatter {
    /// Reads `key: value` lines; a list stands on one line, in brackets or not, or
    /// on lines of its own that begin with `-`. Keys of others are left alone.
    fn parse(lines: &str) -> Result<Self, String> {
        let mut front = Self::default();
        let mut in_tools = false;
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(item) = line.strip_prefix('-').filter(|_| in_tools) {
                front.add_tools(item)?;
                continue;
            }
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            in_tools = key.trim() == "tools";
            match key.trim() {
                "tools" => front.add_tools(value)?,
                "description" => front.description = Some(strip_quotes(value).to_owned()),
                _ => {}
            }
        }
        Ok(front)
    }

    fn add_tools(&mut self, written: &str) -> Result<(), String> {
        let tools = self.tools.get_or_insert_default();
        let list = written.trim().trim_start_matches('[').trim_end_matches(']');
        for name in list
            .split(',')
            .map(strip_quotes)
            .filter(|name| !name.is_empty())
        {
            let tool = ToolSelector::parse(name).ok_or_else(|| {
                let name = truncate_line(name);
                format!("its `tools` holds `{name}`, `tool` or `server/tool` is expected")
            })?;
            if tools.len() == TOOLS_MAX {
                return Err(format!("its `tools` holds more than {TOOLS_MAX} names"));
            }
            tools.push(tool);
        }
        Ok(())
    }
}

fn strip_quotes(value: &str) -> &str {
    value.trim().trim_matches(['"', '\'']).trim()
}
