//! Actions on the selected row of the servers pane, `/mcp add`, and notices about
//! servers that fail or reconnect.

use crate::commands::servers::TOGGLE_MCP;
use crate::domain::{Notice, Server, ServerId, ServerStatus, Tool, TrustEntry, parse_add_command};
use crate::front_end::advice;
use crate::front_end::server_text::failure_headline;
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::imports::add_server;
use crate::tui::layer::{UiContext, UiRequest};
use crate::tui::notices::NOTICE_DURATION;
use crate::tui::servers::failure_notice;
use crate::tui::servers::state::{ServersPane, ServersPaneRow};
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
pub fn toggle(pane: &ServersPane, cx: &mut UiContext) {
    let Some(server) = pane.selected_server() else {
        return;
    };
    let Some((_, tool)) = pane.selected_tool() else {
        let id = server.id.to_string();
        return cx.request(UiRequest::RunCommand(&TOGGLE_MCP, id));
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

/// `/mcp add`: shows the server before it is added. Without a command or an address, explains both.
pub fn add(argument: &str, cx: &mut UiContext) {
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
    let mut servers = cx.shared.servers.iter();
    if servers.any(|server| server.id.as_str() == name) {
        let name = Clean::name(name);
        let notice = Notice::warning(format!("There is a server `{name}` already."));
        return cx.notify(notice.with_advice("Choose another name."));
    }
    add_server::open(candidate, cx);
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
