//! Actions of the servers pane, the equivalent commands, and notices about servers that
//! fail or reconnect.

use crate::domain::{Notice, Server, ServerId, ServerStatus, TrustEntry};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::advice;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::notices::NOTICE_DURATION;
use crate::tui::servers::state::{ServersPane, ServersPaneRow, status_label};
use crate::tui::servers::stderr_log;
use crate::tui::widgets::picker::Picker;
use crate::tui::widgets::suggest::suggest;
use crate::tui::widgets::text_viewer::TextViewer;
use std::time::Duration;

/// The same failure is announced at most once in this interval, however many retries fail.
const FAILURE_REPEAT_INTERVAL: Duration = Duration::from_secs(300);

/// Enter on a row: folds or unfolds it, or opens the full text.
pub fn activate_selected(sidebar: &mut ServersPane, cx: &mut UiContext) {
    let Some(ServersPaneRow::More { .. }) = sidebar.selected_row() else {
        return sidebar.toggle_selected_fold();
    };
    if let Some((title, text)) = sidebar.selected_full_text() {
        cx.open(TextViewer::new(title, text));
    }
}

/// Opens the review of the selected tool if it is withheld, or of the server's first
/// withheld tool if a server is selected.
pub fn review_withheld(sidebar: &ServersPane, cx: &mut UiContext) {
    let Some(server) = sidebar.selected_server() else {
        return;
    };
    let tool = match sidebar.selected_tool() {
        Some((_, tool)) => server.withheld_tools.get(&tool.name),
        None => server.withheld_tools.first(),
    };
    let Some(tool) = tool.cloned() else {
        return cx.notify(Notice::info("No tool is withheld here."));
    };
    let server = server.id.clone();
    cx.send(Command::ReviewTool { server, tool });
}

/// Space on a row: enables or disables the selected server or tool.
pub fn toggle_selected(sidebar: &mut ServersPane, cx: &mut UiContext) {
    let Some(server) = sidebar.selected_server() else {
        return;
    };
    let Some((_, tool)) = sidebar.selected_tool() else {
        let id = server.id.clone();
        return toggle(sidebar, &id, cx);
    };
    let (name, tool) = (server.id.clone(), tool.name.clone());
    let was_off = server.disabled_tools.contains(&tool);
    let (owner, shown) = (clean_name(&name), Clean::name(&tool));
    let notice = if was_off {
        format!("Tool `{shown}` of `{owner}` is on.")
    } else {
        format!("Tool `{shown}` of `{owner}` is off. The model no longer sees it.")
    };
    cx.notify(Notice::info(notice));
    let server = name;
    cx.send(Command::ToggleTool { server, tool });
}

/// A server's name for notices, with invisible characters escaped.
fn clean_name(id: &ServerId) -> Clean {
    Clean::name(id.as_str())
}

/// Enables or disables a server, with a notice.
pub fn toggle(sidebar: &mut ServersPane, id: &ServerId, cx: &mut UiContext) {
    let name = clean_name(id);
    let Some(server) = sidebar.find(id) else {
        return;
    };
    if server.enabled {
        cx.notify(Notice::info(format!(
            "Server `{name}` is off. The model no longer sees its tools."
        )));
    } else {
        sidebar.announce_outcome.insert(id.clone());
        cx.notify(Notice::info(format!("Starting server `{name}`.")));
    }
    cx.send(Command::ToggleServer(id.clone()));
}

/// Ends the session, if any, and connects again at once.
pub fn reconnect(sidebar: &mut ServersPane, id: &ServerId, cx: &mut UiContext) {
    let name = clean_name(id);
    let Some(server) = sidebar.find(id) else {
        return;
    };
    let notice = match &server.status {
        _ if !server.enabled => {
            let notice = Notice::warning(format!("Server `{name}` is off."));
            return cx.notify(notice.with_advice("Switch it on with Space or /toggle-mcp."));
        }
        ServerStatus::Misconfigured(_) => {
            let notice = Notice::warning(format!("Server `{name}` is misconfigured."));
            return cx.notify(
                notice.with_advice("Fix its entry in mcp-servers.json; no restart is needed."),
            );
        }
        _ => Notice::info(format!("Reconnecting to server `{name}`.")),
    };
    sidebar.announce_outcome.insert(id.clone());
    cx.notify(notice);
    cx.send(Command::ReconnectServer(id.clone()));
}

/// Asks the user whether to send a server's instructions to the model.
pub fn ask_instructions(sidebar: &ServersPane, id: &ServerId, cx: &mut UiContext) {
    let server = sidebar.find(id);
    if server.is_some_and(|server| server.instructions.is_some()) {
        cx.send(Command::ReviewInstructions(id.clone()));
    } else {
        let text = format!("Server `{}` has no instructions.", clean_name(id));
        cx.notify(Notice::info(text));
    }
}

/// Updates which servers' instructions are sent after a change of the trust list.
pub fn trust_changed(sidebar: &mut ServersPane, list: &[TrustEntry]) {
    let agreed = list.iter().filter_map(|trusted| match trusted {
        TrustEntry::Instructions(agreed) | TrustEntry::InstructionsOnce(agreed) => {
            Some(agreed.clone())
        }
        _ => None,
    });
    sidebar.set_accepted_instructions(agreed.collect());
}

/// Opens a report of all servers and their tools.
fn open_report(sidebar: &ServersPane, cx: &mut UiContext) {
    let servers = &sidebar.servers;
    let connected = servers
        .iter()
        .filter(|server| server.enabled && server.status == ServerStatus::Connected);
    let title = format!(
        "MCP servers: {} of {} connected",
        connected.count(),
        servers.len()
    );
    let text = sidebar.report(&cx.shared.glyphs);
    cx.open(TextViewer::new(title, text));
}

/// `/mcp` opens a report of all servers, `/mcp NAME` shows one in the pane, and
/// `/mcp NAME retry` and the like do what a key does there.
pub fn run_command(sidebar: &mut ServersPane, argument: &str, cx: &mut UiContext) {
    if argument.is_empty() {
        return open_report(sidebar, cx);
    }
    let (id, verb) = match find_by_name(sidebar, argument) {
        Ok(id) => (id, "tools"),
        Err(_) if argument == "hide" => return cx.request(UiRequest::HideServers),
        Err(fault) => {
            let (name, verb) = argument
                .rsplit_once(char::is_whitespace)
                .unwrap_or_default();
            match find_by_name(sidebar, name.trim()) {
                Ok(id) => (id, verb),
                Err(nearer) => {
                    return cx.notify(if name.is_empty() { fault } else { nearer });
                }
            }
        }
    };
    let is_on = sidebar.find(&id).is_some_and(|server| server.enabled);
    match verb {
        "tools" => {
            sidebar.select_and_unfold(&id);
            cx.request(UiRequest::ShowServers);
        }
        "retry" => reconnect(sidebar, &id, cx),
        "log" => stderr_log::open(&id, cx),
        "instructions" => ask_instructions(sidebar, &id, cx),
        "on" | "off" if is_on == (verb == "on") => {
            cx.notify(Notice::info(format!(
                "Server `{}` is already {verb}.",
                clean_name(&id)
            )));
        }
        "on" | "off" => toggle(sidebar, &id, cx),
        _ => {
            let what = format!("`{verb}` is not an action for a server.");
            let advice = "Use tools, retry, log, instructions, on or off.";
            cx.notify(Notice::warning(what).with_advice(advice));
        }
    }
}

/// Finds a server by name, or else by its number in the list. Names come first, because a
/// name may be a number.
fn find_by_name(sidebar: &ServersPane, name: &str) -> Result<ServerId, Notice> {
    let servers = &sidebar.servers;
    let id_of = |server: &Server| server.id.clone();
    let same = |server: &&Server| server.id.as_str() == name;
    let alike = |server: &&Server| server.id.as_str().to_lowercase() == name.to_lowercase();
    if let Some(server) = servers.iter().find(same).or(servers.iter().find(alike)) {
        return Ok(id_of(server));
    }
    let number = name.parse::<usize>().ok();
    if let Some(server) = number.and_then(|number| servers.get(number.checked_sub(1)?)) {
        return Ok(id_of(server));
    }
    let notice = Notice::warning(format!("There is no server `{}`.", Clean::name(name)));
    let known = servers.iter().map(|server| server.id.as_str());
    Err(match suggest(name, known) {
        Some(near) => notice.with_advice(format!("Did you mean `{}`?", Clean::name(near))),
        None => notice.with_advice("/toggle-mcp lists all servers with their numbers."),
    })
}

/// `/toggle-mcp`: opens a numbered list, or toggles the server given by number or name.
pub fn toggle_command(sidebar: &mut ServersPane, argument: &str, cx: &mut UiContext) {
    if !argument.is_empty() && argument.parse() != Ok(0_usize) {
        return match find_by_name(sidebar, argument) {
            Ok(id) => toggle(sidebar, &id, cx),
            Err(_) if argument.parse::<usize>().is_ok() => {
                let count = sidebar.servers.len();
                let text = format!("Please enter a number from 0 to {count}, or a name.");
                cx.notify(Notice::warning(text));
            }
            Err(notice) => cx.notify(notice),
        };
    }
    let rows = sidebar.servers.iter().map(|server| {
        let label = format!("{}  {}", clean_name(&server.id), status_label(server));
        (PickedItem::Server(server.id.clone()), label)
    });
    Picker::new("Servers", "Change nothing", rows).pick_or_open(argument, cx);
}

/// Stores a new snapshot of a server. A failure is announced once; a successful connection
/// only if the user asked for it.
pub fn server_changed(sidebar: &mut ServersPane, server: Server, cx: &mut UiContext) {
    let (id, status) = (server.id.clone(), server.status.clone());
    let count = server.offered_tools().count();
    let before = sidebar.upsert(server);
    let is_news = before.is_none_or(|before| before.status != status);
    match status {
        ServerStatus::Failed(notice) if is_news => notify_failure(sidebar, &id, &notice, cx),
        ServerStatus::Connected if sidebar.announce_outcome.remove(&id) => {
            sidebar.announced_failures.remove(&id);
            let tools = match count {
                1 => "1 tool".to_owned(),
                count => format!("{count} tools"),
            };
            let text = format!("Server `{}` is connected with {tools}.", clean_name(&id));
            cx.notify(Notice::info(text));
        }
        _ => {}
    }
}

fn notify_failure(sidebar: &mut ServersPane, id: &ServerId, notice: &Notice, cx: &mut UiContext) {
    let now = cx.shared.now;
    let is_awaited = sidebar.announce_outcome.remove(id);
    let told = &mut sidebar.announced_failures;
    let is_old = told.get(id).is_some_and(|(line, at)| {
        *line == advice::notice_line(notice) && now < *at + FAILURE_REPEAT_INTERVAL
    });
    if is_old && !is_awaited {
        return;
    }
    told.insert(id.clone(), (advice::notice_line(notice), now));
    // Servers that fail together share one notice.
    let just_now = |id: &ServerId| {
        let told = told.get(id);
        told.is_some_and(|(_, at)| now < *at + NOTICE_DURATION)
    };
    let servers = sidebar.servers.iter();
    let failed: Vec<String> = servers
        .filter(|server| just_now(&server.id))
        .map(|server| format!("`{}`", clean_name(&server.id)))
        .collect();
    let what = match failed.as_slice() {
        [] | [_] => notice.what.clone(),
        several => format!("Servers {} failed.", several.join(", ")),
    };
    let advice = "/mcp shows why.";
    cx.notify(Notice::warning(what).with_advice(advice));
}
