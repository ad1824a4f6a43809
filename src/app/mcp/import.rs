//! `humble mcp import`: lists other clients' files, or adds the servers of one of them.

use super::output::{print, print_to_stderr, stdout_columns};
use crate::app::output::confirm;
use crate::cli::mcp::ImportArgs;
use crate::config::{self, Home};
use crate::domain::{ImportPlan, ServerCandidate};
use crate::headless::mcp::{candidates as render, clean_line, notice_line};
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use crate::import::{self, CLIENTS, Folders, FoundServer, ImportError};
use crate::text::Clean;
use crate::text::suggest::nearest;
use anyhow::Result;
use serde_json::json;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Runs the command and returns the exit status.
///
/// # Errors
/// The result could not be written, or the user's answer could not be read.
pub fn run_import(home: &Home, args: ImportArgs) -> Result<u8> {
    let Some(folders) = Folders::of_user() else {
        print_to_stderr("Your home folder could not be found. Set HOME to its path.");
        return Ok(EXIT_FAILED);
    };
    let Some(source) = &args.source else {
        return list_clients(&folders, args.json);
    };
    let files = match files_of(source, &folders) {
        Ok(files) => files,
        Err((message, code)) => {
            print_to_stderr(&clean_line(&message));
            return Ok(code);
        }
    };
    let mut found = match read_files(&files, &folders) {
        Ok(found) => found,
        Err(error) => {
            print_to_stderr(&clean_line(&error.to_string()));
            return Ok(EXIT_FAILED);
        }
    };
    if let Some(message) = retain_only(&mut found, &args.only) {
        print_to_stderr(&message);
        return Ok(EXIT_USAGE);
    }
    let existing = match config::written_launches(home) {
        Ok(existing) => with_built_in(existing),
        Err(error) => {
            print_to_stderr(&notice_line(&error.notice()));
            return Ok(EXIT_FAILED);
        }
    };
    let mut plan = import::plan_import(found, &existing, |server| {
        config::preview_server(server).map(drop)
    });
    for candidate in &mut plan.candidates {
        candidate.store_secrets(args.copy_secrets);
    }
    if !args.json {
        for file in &files {
            print(format!(
                "From {}:\n",
                clean_line(&file.display().to_string())
            ))?;
        }
    }
    add_planned(home, &plan, &AddOptions::new(args.yes, args.json))
}

/// Adds the built-in server, because its name is always taken.
pub(super) fn with_built_in<T>(mut existing: Vec<(String, Option<T>)>) -> Vec<(String, Option<T>)> {
    existing.push((config::BUILT_IN_SERVER.to_owned(), None));
    existing
}

/// Whether to add servers without asking (`--yes`), and the output format (`--json`).
pub(super) struct AddOptions {
    is_confirmed: bool,
    is_json: bool,
}

impl AddOptions {
    pub(super) fn new(is_confirmed: bool, is_json: bool) -> Self {
        Self {
            is_confirmed,
            is_json,
        }
    }
}

pub(super) fn add_planned(home: &Home, plan: &ImportPlan, options: &AddOptions) -> Result<u8> {
    if !options.is_json {
        print(render::render_plan(plan, stdout_columns()))?;
    }
    if plan.candidates.is_empty() {
        if options.is_json {
            print(render::plan_json(plan, false))?;
        }
        print_to_stderr("There is nothing to add.");
        let any_already_there = plan.skipped.iter().any(|skipped| skipped.is_already_there);
        return Ok(if any_already_there {
            EXIT_SUCCESS
        } else {
            EXIT_FAILED
        });
    }
    if !options.is_json {
        print_variables(&plan.candidates);
    }
    if !options.is_confirmed {
        // A user who cannot see the list of servers cannot answer the question.
        let is_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        if options.is_json || !is_terminal {
            if options.is_json {
                print(render::plan_json(plan, false))?;
            }
            let reason = match is_terminal {
                true => "--json never asks.",
                false => "There is no terminal to ask on.",
            };
            print_to_stderr(&format!("{reason} Use --yes to add without asking."));
            return Ok(EXIT_USAGE);
        }
        let count = match plan.candidates.len() {
            1 => "this server".to_owned(),
            count => format!("these {count} servers"),
        };
        if !confirm(&format!("Add {count}, switched off?"))? {
            print_to_stderr("Nothing was added.");
            return Ok(EXIT_SUCCESS);
        }
    }
    write_servers(home, plan, options.is_json)
}

fn write_servers(home: &Home, plan: &ImportPlan, json: bool) -> Result<u8> {
    let servers: Vec<_> = plan
        .candidates
        .iter()
        .map(|candidate| candidate.server.clone())
        .collect();
    if let Err(error) = config::add_servers(home, &servers) {
        print_to_stderr(&notice_line(&error.notice()));
        return Ok(EXIT_FAILED);
    }
    if json {
        print(render::plan_json(plan, true))?;
        return Ok(EXIT_SUCCESS);
    }
    let (summary, added) = match servers.as_slice() {
        [server] => (format!("Added `{}`", server.name), "it"),
        servers => (format!("Added {} servers", servers.len()), "servers"),
    };
    let file = home.servers();
    print_to_stderr(&clean_line(&format!(
        "{summary} to {}, switched off. Switch {added} on in the chat with /toggle-mcp.",
        file.display()
    )));
    Ok(EXIT_SUCCESS)
}

fn print_variables(candidates: &[ServerCandidate]) {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let messages = [
        render::variables_message(candidates, is_set),
        render::already_set_message(candidates, is_set),
    ];
    for message in messages.into_iter().flatten() {
        print_to_stderr(&message);
    }
    let has_secrets = |candidate: &ServerCandidate| !candidate.replaced_secrets.is_empty();
    if candidates.iter().any(ServerCandidate::stores_secrets) {
        print_to_stderr(
            "The values behind `stores` go into mcp-servers.json, which only you can read.",
        );
    } else if candidates.iter().any(has_secrets) {
        print_to_stderr(
            "The secrets in the file are not copied. --copy-secrets copies them into mcp-servers.json.",
        );
    }
}

/// The files of a client, or the file with this path. The error is a message with its exit status.
fn files_of(source: &str, folders: &Folders) -> Result<Vec<PathBuf>, (String, u8)> {
    if let Some(client) = import::find_client(source) {
        let files = client.existing_files(folders);
        if !files.is_empty() {
            return Ok(files);
        }
        let places = client.files(folders);
        let places: Vec<String> = places
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let missing = match places.as_slice() {
            [place] => format!("This file does not exist: {place}."),
            places => format!("These files do not exist: {}.", places.join(", ")),
        };
        let message = format!("No settings of {} were found. {missing}", client.title);
        return Err((message, EXIT_FAILED));
    }
    let path = PathBuf::from(source);
    // A broken or cyclic link gets an error of its own later.
    if path.symlink_metadata().is_ok() || source.contains(['/', '\\', '.']) {
        return Ok(vec![path]);
    }
    let ids: Vec<&str> = CLIENTS.iter().map(|client| client.id).collect();
    let hint = match nearest(source, ids.iter().copied()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("Clients: {}.", ids.join(", ")),
    };
    let message = format!("There is no client and no file `{source}`. {hint}");
    Err((message, EXIT_USAGE))
}

/// The servers of all files. A file without servers is an error only if none of them has any.
fn read_files(files: &[PathBuf], folders: &Folders) -> Result<Vec<FoundServer>, ImportError> {
    let mut found = Vec::new();
    let mut without_servers = None;
    for file in files {
        match import::read_file(file, &folders.current) {
            Ok(servers) => found.extend(servers),
            Err(error @ ImportError::NoServers { .. }) => without_servers = Some(error),
            Err(error) => return Err(error),
        }
    }
    match without_servers.filter(|_| found.is_empty()) {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// Keeps the servers named in `only`, or all if it is empty. Returns a message if one of the names
/// matches no server.
fn retain_only(found: &mut Vec<FoundServer>, only: &[String]) -> Option<String> {
    if only.is_empty() {
        return None;
    }
    let missing = only
        .iter()
        .find(|name| !found.iter().any(|server| server.name == **name));
    if let Some(missing) = missing {
        let near = nearest(missing, found.iter().map(|server| server.name.as_str()));
        let hint = near.map(|near| format!(" Did you mean `{}`?", render::short_name(near)));
        let missing = render::short_name(missing);
        return Some(format!(
            "There is no server `{missing}`.{}",
            hint.unwrap_or_default()
        ));
    }
    found.retain(|server| only.contains(&server.name));
    None
}

/// Leaves out files without servers.
fn list_clients(folders: &Folders, json: bool) -> Result<u8> {
    let (mut text, mut listed) = (String::new(), Vec::new());
    for client in CLIENTS {
        for file in client.existing_files(folders) {
            let result = import::read_file(&file, &folders.current);
            // Many clients keep their servers in a file with other settings.
            if matches!(result, Err(ImportError::NoServers { .. })) {
                continue;
            }
            text += &client_text(client.id, &file, &result);
            let (names, error) = match &result {
                Ok(found) => (
                    found.iter().map(|server| server.name.as_str()).collect(),
                    None,
                ),
                Err(error) => (Vec::new(), Some(error.to_string())),
            };
            listed.push(json!({
                "client": client.id, "title": client.title, "file": file, "servers": names,
                "error": error,
            }));
        }
    }
    if json {
        print(json!({ "clients": listed }))?;
    } else if listed.is_empty() {
        print_to_stderr(
            "No known client has MCP servers here. To import a file: humble mcp import FILE",
        );
    } else {
        print(text)?;
        print_to_stderr("To see and import servers: humble mcp import CLIENT");
    }
    Ok(EXIT_SUCCESS)
}

fn client_text(id: &str, file: &Path, result: &Result<Vec<FoundServer>, ImportError>) -> String {
    let heading = clean_line(&format!("{id}  {}", file.display()));
    match result {
        Ok(found) => {
            let names = found.iter();
            let names: Vec<Clean> = names
                .map(|server| render::short_name(&server.name))
                .collect();
            let packed = crate::headless::mcp::pack_names(&names, stdout_columns());
            format!("{heading}\n{packed}")
        }
        Err(error) => format!("{heading}\n    {}\n", clean_line(&error.to_string())),
    }
}
