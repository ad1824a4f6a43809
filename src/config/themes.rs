//! Theme files: `themes/NAME.json` gives colors to roles. What cannot be used is reported with file
//! and line; the rest applies.

use super::Home;
use super::fields::{self, with_period};
use super::json_document::{JsonDocument, type_description};
use super::json_edit::PathStep;
use crate::domain::theme::{ThemeBase, ThemeChoice, ThemeColor, ThemeFile, ThemeRole};
use crate::domain::{Banner, BannerCause, Notice};
use crate::text::suggest::nearest;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Maximum number of theme files; the first in alphabetical order are used.
const THEMES_MAX: usize = 100;
/// Maximum number of reported problems per file.
const PROBLEMS_MAX: usize = 3;
const BASE: &str = "base";

/// Reads all theme files, sorted by name. A missing folder counts as empty. Blocks.
pub(super) fn read_themes(home: &Home) -> (Vec<ThemeFile>, Vec<Banner>) {
    let mut banners = Vec::new();
    let paths = theme_paths(home);
    let themes = paths
        .iter()
        .filter_map(|path| read_theme(path, &mut banners));
    let themes = themes.collect();
    (themes, banners)
}

/// The paths of the theme files, sorted by name.
pub(super) fn theme_paths(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.themes()).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let is_theme = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_theme).collect();
    paths.sort();
    paths.truncate(THEMES_MAX);
    paths
}

fn read_theme(path: &Path, banners: &mut Vec<Banner>) -> Option<ThemeFile> {
    let name = path.file_stem()?.to_str()?.to_owned();
    let file = format!("themes/{name}.json");
    if ThemeChoice::built_in(&name).is_some() {
        let message = format!(
            "{}: `{name}` is the name of a built-in theme.",
            path.display()
        );
        let notice = Notice::warning(message).with_advice("Rename the file.");
        banners.push(Banner::new(BannerCause::setting(file, ""), notice));
        return None;
    }
    let document = match JsonDocument::read(path) {
        Ok(document) => document?,
        Err(error) => {
            banners.push(error.banner());
            return None;
        }
    };
    let mut theme = ThemeFile {
        name,
        base: ThemeBase::default(),
        colors: Vec::new(),
    };
    let mut problem_count = 0;
    for (key, value) in document.root() {
        let Err(problem) = apply_entry(&mut theme, key, value) else {
            continue;
        };
        problem_count += 1;
        if problem_count <= PROBLEMS_MAX {
            let line = document.line_of(&[PathStep::Key(key)]);
            let problem = with_period(&problem);
            let message = format!("{}, line {line}: {problem}", path.display());
            let notice = Notice::warning(message).with_advice("The rest of the theme applies.");
            let cause = BannerCause::setting(file.as_str(), key);
            banners.push(Banner::new(cause, notice));
        }
    }
    Some(theme)
}

fn apply_entry(theme: &mut ThemeFile, key: &str, value: &Value) -> Result<(), String> {
    if key == BASE {
        let text = value.as_str().unwrap_or_default();
        theme.base = match text {
            "dark" => ThemeBase::Dark,
            "light" => ThemeBase::Light,
            _ => {
                return Err(format!(
                    "`base` is {}, expected `dark` or `light`",
                    shown(value)
                ));
            }
        };
        return Ok(());
    }
    let Some(role) = ThemeRole::from_name(key) else {
        let known = ThemeRole::ALL.map(|(name, _)| name);
        let key = fields::start_to_quote(key);
        return Err(match nearest(&key, known.into_iter().chain([BASE])) {
            Some(near) => format!("unknown role `{key}`; did you mean `{near}`?"),
            None => format!("unknown role `{key}`; known are {}", known.join(", ")),
        });
    };
    let color = match value {
        Value::String(name) => ThemeColor::from_name(name),
        Value::Number(number) => number
            .as_u64()
            .and_then(|number| u8::try_from(number).ok())
            .map(ThemeColor::Indexed),
        _ => None,
    };
    let color = color.ok_or_else(|| {
        let value = shown(value);
        format!("`{key}` is {value}, expected `#rrggbb`, a name such as `bright-blue`, or 0 to 255")
    })?;
    theme.colors.push((role, color));
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", fields::start_to_quote(text)),
        Value::Number(number) => number.to_string(),
        other => type_description(other).to_owned(),
    }
}
