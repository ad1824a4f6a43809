//! Keeps `docs/` in step with the code: keys, commands, settings, flags, variables, recognizers.
//! Tables that are private to the crate are compared in unit tests: in `questions/tests.rs` and
//! `dialect/registry.rs`.

use crate::support::fixtures::{documented, server, tool_with};
use clap::CommandFactory;
use humble::cli::Cli;
use humble::commands::COMMANDS;
use humble::dialect::scan::{CallScanner, ScanEvent};
use humble::domain::Toolset;
use humble::tui::keymap::{BindingGroup, all_bindings};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CONFIGURATION: &str = include_str!("../../docs/configuration.md");
const DIALECTS_PAGE: &str = include_str!("../../docs/dialects.md");
const KEYS: &str = include_str!("../../docs/keys.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The text of a source file up to its unit tests.
fn source(path: &str) -> String {
    let text = fs::read_to_string(root().join(path)).expect("a source file");
    let code = text.split("#[cfg(test)]").next();
    code.unwrap_or_default().to_owned()
}

#[test]
fn default_keys_are_documented() {
    for group in BindingGroup::ALL {
        let rows = all_bindings().filter(|row| row.group == group && !row.default_keys.is_empty());
        let expected: BTreeSet<Vec<String>> = rows
            .map(|row| row.default_keys.iter().map(ToString::to_string))
            .map(Iterator::collect)
            .collect();
        // Some groups have commands only.
        if expected.is_empty() {
            continue;
        }
        let section = format!("## {}", group.title());
        let heading = match KEYS.lines().any(|line| line == section) {
            true => section,
            false => format!("#{section}"),
        };
        let keys_in_docs = documented(KEYS, &heading).into_iter().collect();
        assert_eq!(expected, keys_in_docs, "{heading}");
    }
}

#[test]
fn names_of_actions_are_documented_with_their_default_keys() {
    let rows = all_bindings().map(|row| {
        let keys = row.default_keys.iter().map(ToString::to_string);
        std::iter::once(row.name.to_owned()).chain(keys).collect()
    });
    let expected: Vec<Vec<String>> = rows.collect();
    assert_eq!(expected, documented(KEYS, "### Names of the actions"));
}

#[test]
fn slash_commands_are_documented() {
    let rows = COMMANDS.iter().flat_map(|row| {
        let with_usage = format!("{} {}", row.name, row.usage).trim_end().to_owned();
        let aliases = row.aliases.iter().map(|alias| (*alias).to_owned());
        std::iter::once(with_usage).chain(aliases)
    });
    let expected: Vec<String> = rows.collect();
    let documented_commands = documented(KEYS, "## Slash commands");
    assert_eq!(expected, documented_commands.concat());
}

/// The first string literal among the arguments of a call. `code` starts after the opening
/// parenthesis.
fn first_literal(code: &str) -> Option<&str> {
    let mut depth = 1;
    for (index, c) in code.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '"' => return code[index + 1..].split('"').next(),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    None
}

/// The names of the functions and closures in `code` that read a setting: those with a parameter
/// `key: &str`.
fn readers(code: &str) -> impl Iterator<Item = &str> {
    let functions = code.split("fn ").skip(1).filter_map(|rest| {
        let (head, _) = rest.split_once('{')?;
        head.contains("key: &str").then_some(head)
    });
    let closures = code.split("let ").skip(1).filter(|rest| {
        let head = rest.split(';').next().unwrap_or_default();
        head.contains("= |key: &str|")
    });
    functions.chain(closures).filter_map(|head| {
        let end = head.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        Some(&head[..end])
    })
}

fn keys_read(files: &[&str]) -> BTreeSet<String> {
    let fields = source("src/config/fields.rs");
    let mut keys = BTreeSet::new();
    for file in files {
        let code = source(file);
        for reader in readers(&fields).chain(readers(&code)) {
            let calls = code.split(&format!("{reader}(")).collect::<Vec<_>>();
            for pair in calls.windows(2) {
                let is_whole = !pair[0].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                let is_definition = pair[0].ends_with("fn ");
                if is_whole && !is_definition {
                    keys.extend(first_literal(pair[1]).map(str::to_owned));
                }
            }
        }
    }
    assert!(keys.len() > 3, "{files:?} read {keys:?}");
    keys
}

fn documented_keys(headings: &[&str]) -> BTreeSet<String> {
    let rows = headings
        .iter()
        .flat_map(|heading| documented(CONFIGURATION, heading));
    rows.flatten().collect()
}

#[test]
fn keys_of_config_json_are_documented() {
    let keys_in_code = keys_read(&[
        "src/config/settings/mod.rs",
        "src/config/settings/limits.rs",
        "src/config/settings/ui.rs",
        "src/config/tool_diet.rs",
        "src/config/keys.rs",
        "src/config/models.rs",
        "src/config/built_in.rs",
        "src/config/notes.rs",
    ]);
    let keys_in_docs = documented_keys(&[
        "### At the root",
        "### `limits`",
        "### `builtIn`",
        "### `notes`",
        "### `ui`",
        "### An entry of `models`",
    ]);
    assert_eq!(keys_in_code, keys_in_docs);
}

#[test]
fn keys_of_mcp_servers_json_are_documented() {
    let keys_in_code = keys_read(&[
        "src/config/servers.rs",
        "src/config/disabled_tools.rs",
        "src/config/oauth_settings.rs",
    ]);
    assert_eq!(keys_in_code, documented_keys(&["### An entry of a server"]));
}

#[test]
fn keys_of_personas_are_documented() {
    let code = source("src/config/personas.rs");
    let arms = code.split("match key.trim() {").nth(1).expect("one match");
    let arms = arms.split('}').next().unwrap_or_default();
    let keys_in_code: BTreeSet<String> = arms
        .split("\" =>")
        .filter_map(|arm| Some(arm.rsplit_once('"')?.1.to_owned()))
        .collect();
    assert_eq!(keys_in_code, documented_keys(&["## Personas"]));
}

#[test]
fn command_line_flags_are_documented() {
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().cloned());
        for flag in command.get_arguments().filter_map(clap::Arg::get_long) {
            let name = command.get_name();
            assert!(
                CONFIGURATION.contains(&format!("`--{flag}")),
                "`{name} --{flag}` is missing"
            );
        }
    }
}

/// Adds the files below `folder`, except unit tests, to `files`.
fn add_files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("a readable folder").path();
        match path.is_dir() {
            true if path.ends_with("tests") => {}
            true => add_files_below(&path, files),
            false if path.ends_with("tests.rs") => {}
            false => files.push(path),
        }
    }
}

#[test]
fn environment_variables_are_documented() {
    let mut files = Vec::new();
    add_files_below(&root().join("src"), &mut files);
    let mut names = BTreeSet::new();
    for file in files {
        let code = source(file.to_str().expect("UTF-8"));
        let calls = ["var(\"", "var_os(\"", "variables(\"", "set(\"", "is(\""];
        for call in calls.into_iter().chain(["key_variable: Some(\""]) {
            let arguments = code.split(call).skip(1);
            let arguments = arguments.filter_map(|rest| rest.split('"').next());
            let is_name = |name: &&str| {
                let allowed = |c: char| c.is_ascii_uppercase() || c == '_';
                name.len() > 3 && name.chars().all(allowed)
            };
            names.extend(arguments.filter(is_name).map(str::to_owned));
        }
    }
    assert!(names.contains("HUMBLE_HOME"), "{names:?}");
    for name in names {
        assert!(CONFIGURATION.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn recognizers_are_documented_in_order() {
    let code = source("src/dialect/registry.rs");
    let (_, table) = code.split_once("= [").expect("the table of recognizers");
    let table = table.split("];").next().unwrap_or_default();
    let expected: Vec<&str> = table
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(
        expected,
        documented(DIALECTS_PAGE, "## Recognizers").concat(),
        "docs/dialects.md"
    );
}

/// The example in each row must be recognized as a call with the label of that row.
#[test]
fn examples_of_call_forms_are_recognized() {
    let arguments = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let tool = tool_with("get_time", arguments);
    let toolset = Arc::new(Toolset::from_servers(&[server("humble", vec![tool])]));
    let (_, page) = DIALECTS_PAGE
        .split_once("## Call forms")
        .expect("the forms");
    let rows = page.lines().skip_while(|line| !line.starts_with("| `"));
    let rows: Vec<_> = rows.take_while(|line| line.starts_with("| `")).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let mut spans = row.split('`').skip(1).step_by(2);
        let label = spans.next().expect("a label");
        let example = spans.find(|span| span.contains("get_time")).expect(row);
        let mut scanner = CallScanner::new(Arc::clone(&toolset));
        let mut events = scanner.push(&example.replace("\\|", "|"));
        events.extend(scanner.finish());
        let calls = events.iter().filter_map(|event| match event {
            ScanEvent::Call(call) => Some(call),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        assert_eq!(calls.len(), 1, "{example}: {events:?}");
        assert_eq!(calls[0].arguments["city"], "Paris", "{example}");
        let is_label_documented = row.contains(&format!("labeled `{}` inside", calls[0].form));
        assert!(
            calls[0].form == label || is_label_documented,
            "{example}: {:?}",
            calls[0]
        );
    }
}
