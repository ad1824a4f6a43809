//! Actions of the servers pane, the slash commands for the same actions, and notices about
//! servers that fail or reconnect.

use crate::domain::{Notice, Server, ServerId, ServerStatus, Tool, TrustEntry, parse_add_command};
use crate::front_end::advice;
use crate::front_end::server_text::{failure_headline, status_label};
use crate::protocol::{Command, SignInCommand};
use crate::text::Clean;
use crate::text::suggest::nearest;
use crate::tui::imports::add_server;
use crate::tui::layer::{PickedItem, UiContext, UiRequest};
use crate::tui::notices::NOTICE_DURATION;
use crate::tui::servers::state::{ServersPane, ServersPaneRow};
use crate::tui::servers::{failure_notice, sign_in, stderr_log, variables, viewer};
use crate::tui::widgets::picker::{Picker, PickerRow};
use crate::tui::widgets::text_viewer::TextViewer;
use std::time::Duration;

/// A repeated failure of a server is announced again only after this interval, unless the user waits
/// for the outcome.
const FAILURE_REPEAT_INTERVAL: Duration = Duration::from_secs(300);

/// Enter on a row: folds or unfolds it, or opens the full text.
pub fn activate_selected(pane: &mut ServersPane, cx: &mut UiContext) {
    let Some(ServersPaneRow::More { .. }) = pane.selected_row() else {
        return pane.toggle_selected_fold();
    };
    if let Some((title, text)) = pane.selected_full_text() {
        cx.open(TextViewer::new(title, text));
    }
}

/// Opens the review of the selected tool if it is withheld, or of the server's first
/// withheld tool if a server is selected.
pub fn review_withheld(pane: &ServersPane, cx: &mut UiContext) {
    let Some(server) = pane.selected_server() else {
        return;
    };
    let tool = match pane.selected_tool() {
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
pub fn toggle_selected(pane: &mut ServersPane, cx: &mut UiContext) {
    let Some(server) = pane.selected_server() else {
        return;
    };
    let Some((_, tool)) = pane.selected_tool() else {
        let id = server.id.clone();
        return toggle(pane, &id, cx);
    };
    toggle_tool(server, &tool.name, cx);
}

/// Enables or disables a tool, with a notice.
pub fn toggle_tool(server: &Server, tool: &str, cx: &mut UiContext) {
    let was_off = server.disabled_tools.contains(tool);
    let (server_name, tool_name) = (clean_name(&server.id), Clean::name(tool));
    let notice = if was_off {
        format!("Tool `{tool_name}` of `{server_name}` is on.")
    } else {
        format!("Tool `{tool_name}` of `{server_name}` is off. The model no longer sees it.")
    };
    cx.notify(Notice::info(notice));
    cx.send(Command::ToggleTool {
        server: server.id.clone(),
        tool: tool.to_owned(),
    });
}

/// Pins a tool or unpins it, with a notice. Requests never hold back a pinned tool. `tool` is `None`
/// if the selected row is not a tool.
pub fn pin_tool(server: &Server, tool: Option<&Tool>, cx: &mut UiContext) {
    let Some(tool) = tool else {
        return cx.notify(Notice::info("Only tools can be pinned. Select one first."));
    };
    let (server_name, tool_name) = (clean_name(&server.id), Clean::name(&tool.name));
    let effect = match server.always_offered.contains(&tool.name) {
        true => "is no longer pinned.",
        false => "is pinned. From the next prompt on, it is never held back.",
    };
    cx.notify(Notice::info(format!(
        "Tool `{tool_name}` of `{server_name}` {effect}"
    )));
    cx.send(Command::ToggleAlwaysOffered {
        server: server.id.clone(),
        tool: tool.name.clone(),
    });
}

/// A server's name for notices, with invisible characters escaped.
fn clean_name(id: &ServerId) -> Clean {
    Clean::name(id.as_str())
}

/// Enables or disables a server, with a notice.
pub fn toggle(pane: &mut ServersPane, id: &ServerId, cx: &mut UiContext) {
    let name = clean_name(id);
    let Some(server) = pane.find(id) else {
        return;
    };
    if server.enabled {
        cx.notify(Notice::info(format!(
            "Server `{name}` is off. The model no longer sees its tools."
        )));
    } else if !server.missing_variables.is_empty() {
        return variables::open(server, cx);
    } else {
        pane.awaited_outcomes.insert(id.clone());
        cx.notify(Notice::info(format!("Starting server `{name}`.")));
    }
    cx.send(Command::ToggleServer(id.clone()));
}

/// Ends the session, if any, and connects again at once, unless the server is off or misconfigured.
pub fn reconnect(pane: &mut ServersPane, id: &ServerId, cx: &mut UiContext) {
    let name = clean_name(id);
    let Some(server) = pane.find(id) else {
        return;
    };
    let notice = match &server.status {
        _ if !server.enabled => {
            let notice = Notice::warning(format!("Server `{name}` is off."));
            return cx.notify(notice.with_advice("Switch it on with /toggle-mcp."));
        }
        ServerStatus::Misconfigured(_) if !server.missing_variables.is_empty() => {
            return variables::open(server, cx);
        }
        ServerStatus::Misconfigured(_) => {
            let notice = Notice::warning(format!("Server `{name}` is misconfigured."));
            return cx.notify(
                notice.with_advice("Fix its entry in mcp-servers.json; no restart is needed."),
            );
        }
        _ => Notice::info(format!("Reconnecting to server `{name}`.")),
    };
    pane.awaited_outcomes.insert(id.clone());
    cx.notify(notice);
    cx.send(Command::ReconnectServer(id.clone()));
}

/// Asks the user whether to send a server's instructions to the model.
pub fn review_instructions(pane: &ServersPane, id: &ServerId, cx: &mut UiContext) {
    let server = pane.find(id);
    if server.is_some_and(|server| server.instructions.is_some()) {
        cx.send(Command::ReviewInstructions(id.clone()));
    } else {
        let text = format!("Server `{}` has no instructions.", clean_name(id));
        cx.notify(Notice::info(text));
    }
}

/// Updates the accepted instructions after the trust decisions changed.
pub fn trust_changed(pane: &mut ServersPane, entries: &[TrustEntry]) {
    let accepted = entries.iter().filter_map(|entry| match entry {
        TrustEntry::Instructions(consent) | TrustEntry::InstructionsUntilExit(consent) => {
            Some(consent.clone())
        }
        _ => None,
    });
    pane.set_accepted_instructions(accepted.collect());
}

/// Advice for an empty list of servers.
pub const ADD_SERVER: &str = "/mcp add NAME COMMAND adds a server.";

/// The text of `/mcp add`.
const ADD_SERVER_HELP: &str = "\
Add a server under a name of your choice. It is shown before it is added:

  /mcp add NAME COMMAND ARGUMENTS
  /mcp add NAME ADDRESS

For example:

  /mcp add files npx -y @modelcontextprotocol/server-filesystem ~/notes
  /mcp add github --env GITHUB_TOKEN docker run -i -e GITHUB_TOKEN IMAGE
  /mcp add docs --header Authorization https://example.com/mcp

--env NAME and --header NAME ask for the value, so that it is not in the
message; NAME=VALUE gives it. Quotes keep words together. In a shell:

  humble mcp add NAME -- COMMAND   adds a server and checks that it answers
  humble mcp search WORD           finds servers in the MCP registry
  humble mcp add NAMESPACE/NAME    adds one of them, switched off
  /import, here in the chat        imports the servers of another client
";

/// `/mcp` opens the viewer of all servers, `/mcp NAME` opens it at one server, and
/// `/mcp NAME ACTION` acts on that server. `/mcp add` adds one or shows how, and `/mcp hide` hides
/// the servers pane.
pub fn run_command(pane: &mut ServersPane, argument: &str, cx: &mut UiContext) {
    if argument.is_empty() {
        return viewer::open(None, cx);
    }
    let (id, verb) = match find_by_name(pane, argument) {
        Ok(id) => (id, "tools"),
        Err(_) if argument.split_whitespace().next() == Some("add") => {
            return add(pane, argument["add".len()..].trim(), cx);
        }
        Err(_) if argument == "hide" => return cx.request(UiRequest::HideServers),
        Err(not_found) => {
            let (name, verb) = argument
                .rsplit_once(char::is_whitespace)
                .unwrap_or_default();
            match find_by_name(pane, name.trim()) {
                Ok(id) => (id, verb),
                Err(name_not_found) => {
                    let notice = if name.is_empty() {
                        not_found
                    } else {
                        name_not_found
                    };
                    return cx.notify(notice);
                }
            }
        }
    };
    let is_on = pane.find(&id).is_some_and(|server| server.enabled);
    match verb {
        "tools" => viewer::open(Some(&id), cx),
        "retry" => reconnect(pane, &id, cx),
        "log" => stderr_log::open(&id, cx),
        "login" => sign_in::open(&id, cx),
        "logout" => cx.send(Command::SignIn(SignInCommand::SignOut(id))),
        "instructions" => review_instructions(pane, &id, cx),
        "on" | "off" if is_on == (verb == "on") => {
            cx.notify(Notice::info(format!(
                "Server `{}` is already {verb}.",
                clean_name(&id)
            )));
        }
        "on" | "off" => toggle(pane, &id, cx),
        _ => {
            let what = format!("`{verb}` is not an action for a server.");
            let advice = "Use tools, retry, log, login, logout, instructions, on or off.";
            cx.notify(Notice::warning(what).with_advice(advice));
        }
    }
}

/// `/mcp add`: shows the server before it is added. Without a command or an address, explains both.
fn add(pane: &ServersPane, argument: &str, cx: &mut UiContext) {
    if argument.split_whitespace().nth(1).is_none() {
        return cx.open(TextViewer::new("Add an MCP server", ADD_SERVER_HELP));
    }
    let candidate = match parse_add_command(argument) {
        Ok(candidate) => candidate,
        Err(why) => {
            let notice = Notice::warning(Clean::single_line(&why).as_str());
            return cx.notify(notice.with_advice("/mcp add shows examples."));
        }
    };
    let name = &candidate.server.name;
    if pane.servers.iter().any(|server| server.id.as_str() == name) {
        let name = Clean::name(name);
        let notice = Notice::warning(format!("There is a server `{name}` already."));
        return cx.notify(notice.with_advice("Choose another name."));
    }
    add_server::open(candidate, cx);
}

/// Finds a server by name, or else by its number in the list. Names come first, because a
/// name may be a number.
fn find_by_name(pane: &ServersPane, name: &str) -> Result<ServerId, Notice> {
    let servers = &pane.servers;
    let id_of = |server: &Server| server.id.clone();
    let is_exact = |server: &&Server| server.id.as_str() == name;
    let differs_only_in_case =
        |server: &&Server| server.id.as_str().to_lowercase() == name.to_lowercase();
    if let Some(server) = servers
        .iter()
        .find(is_exact)
        .or(servers.iter().find(differs_only_in_case))
    {
        return Ok(id_of(server));
    }
    let number = name.parse::<usize>().ok();
    if let Some(server) = number.and_then(|number| servers.get(number.checked_sub(1)?)) {
        return Ok(id_of(server));
    }
    let notice = Notice::warning(format!("There is no server `{}`.", Clean::name(name)));
    let names = servers.iter().map(|server| server.id.as_str());
    Err(match nearest(name, names) {
        Some(suggestion) => {
            notice.with_advice(format!("Did you mean `{}`?", Clean::name(suggestion)))
        }
        None => notice.with_advice("/toggle-mcp lists all servers with their numbers."),
    })
}

/// `/toggle-mcp`: opens a numbered list, or toggles the server given by number or name.
pub fn toggle_command(pane: &mut ServersPane, argument: &str, cx: &mut UiContext) {
    if !argument.is_empty() && argument.parse() != Ok(0_usize) {
        return match find_by_name(pane, argument) {
            Ok(id) => toggle(pane, &id, cx),
            Err(_) if argument.parse::<usize>().is_ok() => {
                let count = pane.servers.len();
                let text = format!("Please enter a number from 0 to {count}, or a name.");
                cx.notify(Notice::warning(text));
            }
            Err(notice) => cx.notify(notice),
        };
    }
    let rows = pane.servers.iter().map(|server| {
        let item = PickedItem::Server(server.id.clone());
        PickerRow::new(item, clean_name(&server.id).as_str(), status_label(server))
    });
    Picker::new("Servers", "Change nothing", rows).pick_or_open(argument, cx);
}

/// Stores a new snapshot of a server. A failure is announced, unless it repeats; a successful
/// connection only if the user asked for it.
pub fn server_changed(pane: &mut ServersPane, server: Server, cx: &mut UiContext) {
    let (id, status) = (server.id.clone(), server.status.clone());
    let tool_count = server.available_tools().count();
    let previous = pane.upsert(server);
    let has_new_status = previous.is_none_or(|previous| previous.status != status);
    match status {
        ServerStatus::Failed(notice) if has_new_status => notify_failure(pane, &id, &notice, cx),
        ServerStatus::Connected if pane.awaited_outcomes.remove(&id) => {
            pane.announced_failures.remove(&id);
            let tools = match tool_count {
                1 => "1 tool".to_owned(),
                count => format!("{count} tools"),
            };
            let text = format!("Server `{}` is connected with {tools}.", clean_name(&id));
            cx.notify(Notice::info(text));
        }
        _ => {}
    }
}

fn notify_failure(pane: &mut ServersPane, id: &ServerId, notice: &Notice, cx: &mut UiContext) {
    let now = cx.shared.now;
    let is_awaited = pane.awaited_outcomes.remove(id);
    let announced = &mut pane.announced_failures;
    let is_repeated = announced.get(id).is_some_and(|(line, announced_at)| {
        *line == advice::notice_line(notice) && now < *announced_at + FAILURE_REPEAT_INTERVAL
    });
    if is_repeated && !is_awaited {
        return;
    }
    announced.insert(id.clone(), (advice::notice_line(notice), now));
    // Servers that fail together share one notice.
    let failed_just_now = |id: &ServerId| {
        let last = announced.get(id);
        last.is_some_and(|(_, announced_at)| now < *announced_at + NOTICE_DURATION)
    };
    let servers = pane.servers.iter();
    let failed: Vec<&Server> = servers
        .filter(|server| server.id == *id || failed_just_now(&server.id))
        .filter(|server| failure_headline(server).is_some())
        .collect();
    let mut announcement = Notice::warning(failure_notice::failure_line(&failed, cx.shared));
    if failed.len() == 1 {
        announcement.advice.clone_from(&notice.advice);
    }
    cx.notify(announcement.with_advice(failure_notice::ADVICE));
}
