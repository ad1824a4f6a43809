//! Personas: built-in ones, and files in the folder `personas`, which override built-in ones of
//! the same name. An unusable file is listed with the reason.

use super::markdown_files::{
    describe_folder_error, first_line, markdown_files, read_markdown, split_front_matter,
    strip_quotes, truncate_line,
};
use super::rejected_edits::{RejectedEdits, persona_file, rejected_banner};
use super::{Home, Loaded};
use crate::domain::persona::ToolSelector;
use crate::domain::{Banner, BannerCause, Notice, Persona};
use crate::text::suggest::nearest;
use std::io;
use std::path::Path;

/// Maximum number of persona files; the first in alphabetical order are used.
const PERSONAS_MAX: usize = 200;
const TOOLS_MAX: usize = 500;

const BUILT_IN_PERSONAS: [(&str, &str); 2] = [
    ("weather", include_str!("../../assets/personas/weather.md")),
    (
        "terraform",
        include_str!("../../assets/personas/terraform.md"),
    ),
];

fn built_in_personas() -> Vec<Persona> {
    let built_in = BUILT_IN_PERSONAS.into_iter();
    built_in
        .map(|(name, text)| parse_persona(name, text.to_owned()))
        .collect()
}

/// Reads the files `personas/NAME.md`, sorted by name. A missing folder counts as empty.
pub fn read_personas(home: &Home) -> Loaded<Vec<Persona>> {
    let folder = home.personas();
    let mut paths = match markdown_files(&folder) {
        Ok(paths) => paths,
        Err(error) => return unreadable_folder(&folder, &error),
    };
    let banners = too_many_banner(&folder, paths.len());
    paths.truncate(PERSONAS_MAX);
    Loaded {
        value: paths.iter().map(|path| read_persona(path)).collect(),
        banners: banners.into_iter().collect(),
        is_unusable: false,
    }
}

/// Removes the personas that the user rejected.
pub(super) fn withhold_personas(personas: &mut Loaded<Vec<Persona>>, rejected: &RejectedEdits) {
    personas.value.retain(|persona| {
        let is_rejected = rejected.rejects_persona(persona);
        if is_rejected {
            let entry = format!("persona `{}`", persona.name);
            let banner = rejected_banner(&persona_file(persona), &[entry]);
            personas.banners.extend(banner);
        }
        !is_rejected
    });
}

/// Finds a persona by name, among `files` and the built-in ones.
///
/// # Errors
/// The name is unknown, or its file is unusable.
pub fn find_persona(files: &[Persona], name: &str) -> Result<Persona, Notice> {
    let all = all_personas(files);
    let Some(persona) = all.iter().find(|persona| persona.name == name) else {
        let names: Vec<&str> = all.iter().map(|persona| persona.name.as_str()).collect();
        let advice = match nearest(name, names.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Available: {}.", names.join(", ")),
        };
        let message = format!("There is no persona `{}`.", truncate_line(name));
        return Err(Notice::failure(message).with_advice(advice));
    };
    match &persona.text {
        Ok(_) => Ok(persona.clone()),
        Err(why) => {
            let message = format!("The persona `{name}` cannot be used: {why}.");
            Err(Notice::failure(message).with_advice("Correct its file in the folder `personas`."))
        }
    }
}

/// Persona files and built-in personas in alphabetical order, each name once.
pub fn all_personas(files: &[Persona]) -> Vec<Persona> {
    let mut all = files.to_vec();
    for persona in built_in_personas() {
        if all.iter().all(|file| file.name != persona.name) {
            all.push(persona);
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn unreadable_folder(folder: &Path, error: &io::Error) -> Loaded<Vec<Persona>> {
    let why = describe_folder_error(error);
    let message = format!("{} cannot be read: {why}.", folder.display());
    let notice = Notice::warning(message)
        .with_reason("Only the built-in personas are available.")
        .with_advice("Make it a readable folder.");
    Loaded {
        value: Vec::new(),
        banners: vec![Banner::new(BannerCause::IncompletePersonas, notice)],
        is_unusable: true,
    }
}

fn too_many_banner(folder: &Path, count: usize) -> Option<Banner> {
    let message = format!("{} contains {count} personas.", folder.display());
    (count > PERSONAS_MAX).then(|| {
        let notice = Notice::warning(message)
            .with_reason(format!("Only the first {PERSONAS_MAX} by name are listed."))
            .with_advice("Remove those that you do not use.");
        Banner::new(BannerCause::IncompletePersonas, notice)
    })
}

fn read_persona(path: &Path) -> Persona {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match read_markdown(path) {
        Ok(text) => parse_persona(&name, text),
        Err(why) => unusable_persona(&name, why),
    }
}

fn unusable_persona(name: &str, why: String) -> Persona {
    Persona {
        name: name.to_owned(),
        description: String::new(),
        text: Err(why),
        tools: None,
    }
}

fn parse_persona(name: &str, contents: String) -> Persona {
    let split = split_front_matter(&contents);
    let parsed = split.and_then(|(lines, text)| Ok((FrontMatter::parse(lines)?, text)));
    let (front_matter, text) = match parsed {
        Ok(parsed) => parsed,
        Err(why) => return unusable_persona(name, why),
    };
    Persona {
        name: name.to_owned(),
        description: truncate_line(
            &front_matter
                .description
                .or_else(|| first_line(text))
                .unwrap_or_default(),
        ),
        text: Ok(text.to_owned()),
        tools: front_matter.tools,
    }
}

#[derive(Default)]
struct FrontMatter {
    description: Option<String>,
    tools: Option<Vec<ToolSelector>>,
}

impl FrontMatter {
    /// Parses `key: value` lines. A list is on one line, with or without brackets, or on
    /// lines that start with `-`. Unknown keys are ignored.
    fn parse(lines: &str) -> Result<Self, String> {
        let mut front_matter = Self::default();
        let mut in_tools = false;
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(item) = line.strip_prefix('-').filter(|_| in_tools) {
                front_matter.add_tools(item)?;
                continue;
            }
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            in_tools = key.trim() == "tools";
            match key.trim() {
                "tools" => front_matter.add_tools(value)?,
                "description" => front_matter.description = Some(strip_quotes(value).to_owned()),
                _ => {}
            }
        }
        Ok(front_matter)
    }

    fn add_tools(&mut self, value: &str) -> Result<(), String> {
        let tools = self.tools.get_or_insert_default();
        let names = value.trim().trim_start_matches('[').trim_end_matches(']');
        for name in names
            .split(',')
            .map(strip_quotes)
            .filter(|name| !name.is_empty())
        {
            let tool = ToolSelector::parse(name).ok_or_else(|| {
                let name = truncate_line(name);
                format!("its `tools` contains `{name}`, expected `tool` or `server/tool`")
            })?;
            if tools.len() == TOOLS_MAX {
                return Err(format!("its `tools` contains more than {TOOLS_MAX} names"));
            }
            tools.push(tool);
        }
        Ok(())
    }
}
