//! `/mcp`, `/toggle-mcp`, `/tools`, `/import` and `/trust`.

use super::arguments::{ArgumentKind as Arg, SERVER_WORDS, TOOLS_WORDS};
use super::{
    BindingGroup as G, CommandCx, CommandRow, PickEffect, PickList, PickRow, ScreenPart, WantedView,
};
use crate::domain::{Notice, Server, ServerId, ServerStatus};
use crate::front_end::server_text::status_label;
use crate::protocol::{Command, SignInCommand};
use crate::text::Clean;
use crate::text::suggest::nearest;

pub static MCP: CommandRow = CommandRow::new(
    "/mcp",
    "mcp",
    G::Tools,
    "List servers and tools, or manage one",
    manage,
)
.usage("[NAME [retry|log|on|off]]", Arg::Server(SERVER_WORDS))
.found_by("mcp add server plugins extensions connectors login signin restart reconnect");

pub static TOGGLE_MCP: CommandRow = CommandRow::new(
    "/toggle-mcp",
    "toggle-mcp",
    G::Tools,
    "Switch a server on or off",
    switch,
)
.usage("[NUMBER|NAME]", Arg::Server(&[]))
.found_by("enable disable");

pub static TOOLS: CommandRow = CommandRow::new(
    "/tools",
    "tools",
    G::Tools,
    "List, pin and switch tools",
    |cx, words| cx.show(WantedView::Tools(words.to_owned())),
)
.usage("[WORDS]", Arg::Words(TOOLS_WORDS))
.found_by("mcp diet annotations read-only held back plugins functions");

pub static IMPORT: CommandRow = CommandRow::new(
    "/import",
    "import",
    G::Tools,
    "Import MCP servers from other clients",
    |cx, _| cx.show(WantedView::ServerImport),
)
.found_by("claude desktop cursor vscode code add server mcp");

pub static TRUST: CommandRow = CommandRow::new(
    "/trust",
    "trust",
    G::Tools,
    "Review and revoke tool permissions",
    |cx, _| cx.show(WantedView::Trust),
)
.found_by("allow allowed always never approve permission revoke security safety block deny ban");

/// Advice for an empty list of servers.
pub const ADD_SERVER: &str = "/mcp add NAME COMMAND adds a server.";

/// `/mcp` lists all servers, `/mcp NAME` shows one, and `/mcp NAME ACTION` acts on it. `/mcp add` adds
/// one or shows how, and `/mcp hide` hides the servers pane.
fn manage(cx: &mut dyn CommandCx, argument: &str) {
    if argument.is_empty() {
        return cx.show(WantedView::Servers);
    }
    let servers = cx.state().servers;
    if let Ok(id) = find(servers, argument) {
        return cx.show(WantedView::Server(id));
    }
    if argument == "hide" {
        return cx.switch(ScreenPart::HideServers);
    }
    if argument.split_whitespace().next() == Some("add") {
        let added = argument["add".len()..].trim().to_owned();
        return cx.show(WantedView::AddServer(added));
    }
    let (name, verb) = argument
        .rsplit_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    match find(servers, name.trim()) {
        Ok(id) => act(cx, id, verb),
        Err(notice) => cx.notify(notice),
    }
}

fn act(cx: &mut dyn CommandCx, id: ServerId, verb: &str) {
    let server = server(cx.state().servers, &id);
    let is_on = server.is_some_and(|server| server.enabled);
    match verb {
        "tools" => cx.show(WantedView::Server(id)),
        "retry" => reconnect(cx, &id),
        "log" => cx.show(WantedView::ServerLog(id)),
        "login" => cx.show(WantedView::SignIn(id)),
        "logout" => cx.send(Command::SignIn(SignInCommand::SignOut(id))),
        "instructions" => review_instructions(cx, &id),
        "on" | "off" if is_on == (verb == "on") => {
            let name = Clean::name(id.as_str());
            cx.notify(Notice::info(format!("Server `{name}` is already {verb}.")));
        }
        "on" | "off" => toggle(cx, &id),
        _ => {
            let what = format!("`{}` is not an action for a server.", Clean::name(verb));
            let advice = "Use tools, retry, log, login, logout, instructions, on or off.";
            cx.notify(Notice::warning(what).with_advice(advice));
        }
    }
}

/// Lists the servers, or switches the one given by number or name.
fn switch(cx: &mut dyn CommandCx, argument: &str) {
    let servers = cx.state().servers;
    if !argument.is_empty() {
        match find(servers, argument) {
            Ok(id) => return toggle(cx, &id),
            Err(notice) if argument.parse::<usize>().is_err() => return cx.notify(notice),
            Err(_) => {}
        }
    }
    let rows = servers.iter().map(|server| PickRow {
        name: Clean::name(server.id.as_str()).to_string(),
        note: status_label(server).to_owned(),
        effect: PickEffect::Run(&TOGGLE_MCP, server.id.to_string()),
    });
    let list = PickList {
        title: "Servers",
        keep: "Change nothing",
        current: None,
        rows: rows.collect(),
    };
    list.ask(argument, cx);
}

fn server<'a>(servers: &'a [Server], id: &ServerId) -> Option<&'a Server> {
    servers.iter().find(|server| server.id == *id)
}

/// Finds a server by name, or else by its number in the list. Names come first, because a name may be a
/// number.
fn find(servers: &[Server], name: &str) -> Result<ServerId, Notice> {
    let lowercase = name.to_lowercase();
    let is_exact = |server: &&Server| server.id.as_str() == name;
    let differs_only_in_case = |server: &&Server| server.id.as_str().to_lowercase() == lowercase;
    let by_number = || servers.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    let found = servers.iter().find(is_exact);
    let found = found.or_else(|| servers.iter().find(differs_only_in_case));
    if let Some(server) = found.or_else(by_number) {
        return Ok(server.id.clone());
    }
    let notice = Notice::warning(format!("There is no server `{}`.", Clean::name(name)));
    let names = servers.iter().map(|server| server.id.as_str());
    Err(match nearest(name, names) {
        Some(similar) => notice.with_advice(format!("Did you mean `{}`?", Clean::name(similar))),
        None => notice.with_advice("/mcp lists all servers with their numbers."),
    })
}

/// Enables or disables a server, with a notice.
pub fn toggle(cx: &mut dyn CommandCx, id: &ServerId) {
    let name = Clean::name(id.as_str());
    let Some(server) = server(cx.state().servers, id) else {
        return;
    };
    if server.enabled {
        cx.notify(Notice::info(format!(
            "Server `{name}` is off. The model no longer sees its tools."
        )));
    } else if !server.missing_variables.is_empty() {
        return cx.show(WantedView::Variables(id.clone()));
    } else {
        cx.await_server(id);
        cx.notify(Notice::info(format!("Starting server `{name}`.")));
    }
    cx.send(Command::ToggleServer(id.clone()));
}

/// Ends the session, if any, and connects again at once, unless the server is off or misconfigured.
pub fn reconnect(cx: &mut dyn CommandCx, id: &ServerId) {
    let name = Clean::name(id.as_str());
    let Some(server) = server(cx.state().servers, id) else {
        return;
    };
    let refusal = match &server.status {
        _ if !server.enabled => Some(
            Notice::warning(format!("Server `{name}` is off."))
                .with_advice("Switch it on with /toggle-mcp."),
        ),
        ServerStatus::Misconfigured(_) if !server.missing_variables.is_empty() => {
            return cx.show(WantedView::Variables(id.clone()));
        }
        ServerStatus::Misconfigured(_) => Some(
            Notice::warning(format!("Server `{name}` is misconfigured."))
                .with_advice("Fix its entry in mcp-servers.json; no restart is needed."),
        ),
        _ => None,
    };
    if let Some(notice) = refusal {
        return cx.notify(notice);
    }
    cx.await_server(id);
    cx.notify(Notice::info(format!("Reconnecting to server `{name}`.")));
    cx.send(Command::ReconnectServer(id.clone()));
}

/// Asks the user whether to send a server's instructions to the model.
pub fn review_instructions(cx: &mut dyn CommandCx, id: &ServerId) {
    let server = server(cx.state().servers, id);
    if server.is_some_and(|server| server.instructions.is_some()) {
        return cx.send(Command::ReviewInstructions(id.clone()));
    }
    let name = Clean::name(id.as_str());
    cx.notify(Notice::info(format!(
        "Server `{name}` has no instructions."
    )));
}
