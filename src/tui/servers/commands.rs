//! Actions of the servers pane, the equivalent commands, and notices about servers that
//! fail or reconnect.

use crate::domain::{Notice, Server, ServerId, ServerStatus, Trusted};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::advice;
use crate::tui::layer::{Cx, Picked, Request};
use crate::tui::notices::NOTICE_LASTS;
use crate::tui::servers::state::{SideRow, Sidebar, state_words};
use crate::tui::servers::stderr_log;
use crate::tui::widgets::nearest::nearest;
use crate::tui::widgets::picker::Picker;
use crate::tui::widgets::text_viewer::TextViewer;
use std::time::Duration;

/// The same failure is announced at most once in this interval, however many retries fail.
const TOLD_LASTS: Duration = Duration::from_secs(300);

/// Enter on a row: folds or unfolds it, or opens the full text.
pub fn enter(sidebar: &mut Sidebar, cx: &mut Cx) {
    let Some(SideRow::More { .. }) = sidebar.chosen_row() else {
        return sidebar.toggle_chosen();
    };
    if let Some((title, text)) = sidebar.chosen_in_full() {
        cx.open(TextViewer::new(title, text));
    }
}

/// Opens the review of the selected tool if it is withheld, or of the server's first
/// withheld tool if a server is selected.
pub fn review(sidebar: &Sidebar, cx: &mut Cx) {
    let Some(server) = sidebar.chosen_server() else {
        return;
    };
    let tool = match sidebar.chosen_tool() {
        Some((_, tool)) => server.withheld.get(&tool.name),
        None => server.withheld.first(),
    };
    let Some(tool) = tool.cloned() else {
        return cx.notify(Notice::info("No tool is withheld here."));
    };
    let server = server.id.clone();
    cx.send(Command::ReviewTool { server, tool });
}

/// Space on a row: enables or disables the selected server or tool.
pub fn toggle_chosen(sidebar: &mut Sidebar, cx: &mut Cx) {
    let Some(server) = sidebar.chosen_server() else {
        return;
    };
    let Some((_, tool)) = sidebar.chosen_tool() else {
        let id = server.id.clone();
        return toggle(sidebar, &id, cx);
    };
    let (name, tool) = (server.id.clone(), tool.name.clone());
    let was_off = server.tools_off.contains(&tool);
    let (owner, shown) = (seen(&name), Clean::name(&tool));
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
fn seen(id: &ServerId) -> Clean {
    Clean::name(id.as_str())
}

/// Enables or disables a server, with a notice.
pub fn toggle(sidebar: &mut Sidebar, id: &ServerId, cx: &mut Cx) {
    let name = seen(id);
    let Some(server) = sidebar.find(id) else {
        return;
    };
    if server.enabled {
        cx.notify(Notice::info(format!(
            "Server `{name}` is off. The model no longer sees its tools."
        )));
    } else {
        sidebar.awaited.insert(id.clone());
        cx.notify(Notice::info(format!("Starting server `{name}`.")));
    }
    cx.send(Command::ToggleServer(id.clone()));
}

/// Ends the session, if any, and connects again at once.
pub fn reconnect(sidebar: &mut Sidebar, id: &ServerId, cx: &mut Cx) {
    let name = seen(id);
    let Some(server) = sidebar.find(id) else {
        return;
    };
    let notice = match &server.status {
        _ if !server.enabled => {
            let notice = Notice::warning(format!("Server `{name}` is off."));
            return cx.notify(notice.advise("Switch it on with Space or /toggle-mcp."));
        }
        ServerStatus::Misconfigured(_) => {
            let notice = Notice::warning(format!("Server `{name}` is misconfigured."));
            return cx
                .notify(notice.advise("Fix its entry in mcp-servers.json; no restart is needed."));
        }
        _ => Notice::info(format!("Reconnecting to server `{name}`.")),
    };
    sidebar.awaited.insert(id.clone());
    cx.notify(notice);
    cx.send(Command::ReconnectServer(id.clone()));
}

/// Asks the user whether to send a server's instructions to the model.
pub fn ask_instructions(sidebar: &Sidebar, id: &ServerId, cx: &mut Cx) {
    let server = sidebar.find(id);
    if server.is_some_and(|server| server.instructions.is_some()) {
        cx.send(Command::AskInstructions(id.clone()));
    } else {
        let text = format!("Server `{}` has no instructions.", seen(id));
        cx.notify(Notice::info(text));
    }
}

/// Updates which servers' instructions are sent after a change of the trust list.
pub fn trust_changed(sidebar: &mut Sidebar, list: &[Trusted]) {
    let agreed = list.iter().filter_map(|trusted| match trusted {
        Trusted::Instructions(agreed) | Trusted::InstructionsOnce(agreed) => Some(agreed.clone()),
        _ => None,
    });
    sidebar.agree(agreed.collect());
}

/// Opens a report of all servers and their tools.
fn read_all(sidebar: &Sidebar, cx: &mut Cx) {
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
pub fn command(sidebar: &mut Sidebar, argument: &str, cx: &mut Cx) {
    if argument.is_empty() {
        return read_all(sidebar, cx);
    }
    let (id, verb) = match named(sidebar, argument) {
        Ok(id) => (id, "tools"),
        Err(_) if argument == "hide" => return cx.ask(Request::HideServers),
        Err(fault) => {
            let (name, verb) = argument
                .rsplit_once(char::is_whitespace)
                .unwrap_or_default();
            match named(sidebar, name.trim()) {
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
            sidebar.go_to(&id);
            cx.ask(Request::ShowServers);
        }
        "retry" => reconnect(sidebar, &id, cx),
        "log" => stderr_log::open(&id, cx),
        "instructions" => ask_instructions(sidebar, &id, cx),
        "on" | "off" if is_on == (verb == "on") => {
            cx.notify(Notice::info(format!(
                "Server `{}` is already {verb}.",
                seen(&id)
            )));
        }
        "on" | "off" => toggle(sidebar, &id, cx),
        _ => {
            let what = format!("`{verb}` is not an action for a server.");
            let advice = "Use tools, retry, log, instructions, on or off.";
            cx.notify(Notice::warning(what).advise(advice));
        }
    }
}

/// Finds a server by name, or else by its number in the list. Names come first, because a
/// name may be a number.
fn named(sidebar: &Sidebar, name: &str) -> Result<ServerId, Notice> {
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
    Err(match nearest(name, known) {
        Some(near) => notice.advise(format!("Did you mean `{}`?", Clean::name(near))),
        None => notice.advise("/toggle-mcp lists all servers with their numbers."),
    })
}

/// `/toggle-mcp`: opens a numbered list, or toggles the server given by number or name.
pub fn toggle_command(sidebar: &mut Sidebar, argument: &str, cx: &mut Cx) {
    if !argument.is_empty() && argument.parse() != Ok(0_usize) {
        return match named(sidebar, argument) {
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
        let label = format!("{}  {}", seen(&server.id), state_words(server));
        (Picked::Server(server.id.clone()), label)
    });
    Picker::new("Servers", "Change nothing", rows).open(argument, cx);
}

/// Stores a new snapshot of a server. A failure is announced once; a successful connection
/// only if the user asked for it.
pub fn changed(sidebar: &mut Sidebar, server: Server, cx: &mut Cx) {
    let (id, status) = (server.id.clone(), server.status.clone());
    let count = server.offered().count();
    let before = sidebar.put(server);
    let is_news = before.is_none_or(|before| before.status != status);
    match status {
        ServerStatus::Failed(notice) if is_news => tell_failure(sidebar, &id, &notice, cx),
        ServerStatus::Connected if sidebar.awaited.remove(&id) => {
            sidebar.told.remove(&id);
            let tools = match count {
                1 => "1 tool".to_owned(),
                count => format!("{count} tools"),
            };
            let text = format!("Server `{}` is connected with {tools}.", seen(&id));
            cx.notify(Notice::info(text));
        }
        _ => {}
    }
}

fn tell_failure(sidebar: &mut Sidebar, id: &ServerId, notice: &Notice, cx: &mut Cx) {
    let now = cx.shared.now;
    let is_awaited = sidebar.awaited.remove(id);
    let told = &mut sidebar.told;
    let is_old = told
        .get(id)
        .is_some_and(|(line, at)| *line == advice::sentence(notice) && now < *at + TOLD_LASTS);
    if is_old && !is_awaited {
        return;
    }
    told.insert(id.clone(), (advice::sentence(notice), now));
    // Servers that fail together share one notice.
    let just_now = |id: &ServerId| {
        let told = told.get(id);
        told.is_some_and(|(_, at)| now < *at + NOTICE_LASTS)
    };
    let servers = sidebar.servers.iter();
    let failed: Vec<String> = servers
        .filter(|server| just_now(&server.id))
        .map(|server| format!("`{}`", seen(&server.id)))
        .collect();
    let what = match failed.as_slice() {
        [] | [_] => notice.what.clone(),
        several => format!("Servers {} failed.", several.join(", ")),
    };
    let advice = "/mcp shows why.";
    cx.notify(Notice::warning(what).advise(advice));
}
