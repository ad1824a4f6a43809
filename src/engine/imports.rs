//! MCP servers of other clients: finds them, and adds those of one client to `mcp-servers.json`.
//! They are added switched off, so the edit is harmless and the next reload of the file applies it.

use super::cx::EngineCx;
use super::jobs::JobResult;
use crate::config::{self, BUILT_IN_SERVER, Home};
use crate::domain::{Advice, ImportSource, NewServer, Notice, QueryId};
use crate::import::{self, CLIENTS, Folders, ImportError};
use crate::protocol::Event;
use std::sync::Arc;

/// Looks for other clients in the background.
pub(super) fn find(query: QueryId, cx: &mut EngineCx) {
    let home = cx.home.clone();
    cx.jobs.spawn_blocking(move || {
        let sources = Folders::of_user().map(|folders| find_sources(&home, &folders));
        let sources = Arc::new(sources.unwrap_or_default());
        JobResult::Events(vec![Event::ImportSourcesFound { query, sources }])
    });
}

/// Adds servers, all of them switched off. The files are read again afterwards.
pub(super) fn add(mut servers: Vec<NewServer>, cx: &mut EngineCx) {
    for server in &mut servers {
        server.enabled = false;
    }
    let home = cx.home.clone();
    cx.write_config(move || {
        let count = servers.len();
        JobResult::ServersAdded(config::add_servers(&home, &servers).map(|()| count))
    });
}

pub(super) fn added_notice(count: usize) -> Notice {
    let servers = match count {
        1 => "Added one server, switched off.".to_owned(),
        count => format!("Added {count} servers, switched off."),
    };
    Notice::info(servers).with_advice(Advice::ListServers)
}

/// The clients that have MCP servers, or files that cannot be read. Blocks.
fn find_sources(home: &Home, folders: &Folders) -> Vec<ImportSource> {
    let existing = config::written_launches(home).map(|mut existing| {
        // The name of the built-in server is always taken.
        existing.push((BUILT_IN_SERVER.to_owned(), None));
        existing
    });
    let mut sources = Vec::new();
    for client in CLIENTS {
        let (mut found, mut read, mut problem) = (Vec::new(), Vec::new(), None);
        for file in client.existing_files(folders) {
            match import::read_file(&file, &folders.current) {
                Ok(servers) => found.extend(servers),
                // Many clients keep their servers in a file with other settings.
                Err(ImportError::NoServers { .. }) => continue,
                Err(error) => problem = Some(error.to_string()),
            }
            read.push(file);
        }
        if read.is_empty() {
            continue;
        }
        let plan = match (problem, &existing) {
            (Some(problem), _) => Err(problem),
            (None, Err(error)) => Err(error.notice().what),
            (None, Ok(existing)) => Ok(import::plan_import(found, existing, |server| {
                config::preview_server(server).map(drop)
            })),
        };
        sources.push(ImportSource {
            client: client.title.to_owned(),
            files: read,
            plan,
        });
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ImportPlan;
    use serde_json::json;
    use std::fs;
    use std::path::Path;

    fn write(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn names(plan: &ImportPlan) -> (Vec<&str>, Vec<&str>) {
        let candidates = plan.candidates.iter();
        let skipped = plan.skipped.iter();
        (
            candidates.map(|found| found.server.name.as_str()).collect(),
            skipped.map(|skipped| skipped.name.as_str()).collect(),
        )
    }

    #[test]
    fn servers_of_other_clients_are_found_and_compared_with_ours() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        let folders = Folders {
            home: root.join("user"),
            settings: root.join("user/.config"),
            current: root.join("project"),
        };
        let servers = |names: &[&str]| {
            let entries = names.iter().map(|name| {
                let env = json!({ "API_KEY": "sk-secret123456" });
                ((*name).to_owned(), json!({ "command": name, "env": env }))
            });
            let entries: serde_json::Map<_, _> = entries.collect();
            json!({ "mcpServers": entries }).to_string()
        };
        let desktop = "user/.config/Claude/claude_desktop_config.json";
        write(root, desktop, &servers(&["files", "notes"]));
        write(root, "user/.cursor/mcp.json", &servers(&["humble"]));
        write(root, "project/.cursor/mcp.json", &servers(&["git"]));
        write(
            root,
            "user/.gemini/settings.json",
            "{ \"theme\": \"dark\" }",
        );
        write(root, "user/.codeium/windsurf/mcp_config.json", "{ broken");
        let home = Home::at(root.join("humble"));
        let ours = json!({ "mcpServers": { "files": {
            "command": "files", "env": { "API_KEY": "${API_KEY}" } } } });
        write(root, "humble/mcp-servers.json", &ours.to_string());

        let sources = find_sources(&home, &folders);
        let clients: Vec<&str> = sources.iter().map(|source| &*source.client).collect();
        assert_eq!(clients, ["Claude Desktop", "Cursor", "Windsurf"]);
        let [desktop, cursor, windsurf] = sources.as_slice() else {
            panic!("{sources:?}");
        };
        let plan = desktop.plan.as_ref().expect("readable");
        assert_eq!(names(plan), (vec!["notes"], vec!["files"]));
        assert_eq!(plan.candidates[0].server.variables(), ["API_KEY"]);
        let plan = cursor.plan.as_ref().expect("readable");
        assert_eq!(names(plan), (vec!["humble-2", "git"], vec![]));
        assert_eq!(cursor.files.len(), 2);
        assert!(windsurf.plan.is_err());
        assert!(!format!("{sources:?}").contains("secret123456"));
    }
}
