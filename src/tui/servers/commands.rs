//! The servers pane: its keys, the commands that do the same, and what is said when
//! a server fails or comes back.

use crate::domain::{Notice, Server, ServerId, ServerLog, ServerStatus, Trusted};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::layout::has_side;
use crate::tui::model::{Focus, Model, NOTICE_LASTS, Overlay, Pick, Picked, SideRow};
use crate::tui::msg::Effect;
use crate::tui::servers::state::state_words;
use crate::tui::servers::stderr_log::ServerLogPane;
use crate::tui::update::actions::pick_or_open;
use crate::tui::widgets::text_viewer::{Reading, Unusual};
use std::sync::Arc;
use std::time::Duration;

/// A failure that was told is not told again within this time, however often it is
/// tried.
const TOLD_LASTS: Duration = Duration::from_secs(300);

/// Shows the pane and goes there.
pub fn show(model: &mut Model) {
    if has_side(model.size) {
        model.show_servers = true;
    } else {
        model.over_chat = Some(Focus::Servers);
    }
    model.focus = Focus::Servers;
}

/// Enter on a row: it folds or unfolds, or is read whole.
pub fn enter(model: &mut Model) {
    let sidebar = &mut model.sidebar;
    let Some(SideRow::More { .. }) = sidebar.chosen_row() else {
        return sidebar.toggle_chosen();
    };
    if let Some((title, text)) = sidebar.chosen_in_full() {
        let reading = Reading::new(title, text, Unusual::SpeltOut);
        model.overlay = Some(Overlay::Reading(Box::new(reading)));
    }
}

/// How the tool changed in whose rows the person stands, or on a server's row the first
/// that is withheld.
pub fn review(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(server) = model.sidebar.chosen_server() else {
        return;
    };
    let tool = match model.sidebar.chosen_tool() {
        Some((_, tool)) => server.withheld.get(&tool.name),
        None => server.withheld.first(),
    };
    let Some(tool) = tool.cloned() else {
        return model.notify(Notice::info("No tool is withheld here."));
    };
    let server = server.id.clone();
    effects.push(Effect::Send(Command::ReviewTool { server, tool }));
}

/// Space on a row: the server, or the tool in whose rows it is, goes on or off.
pub fn toggle_chosen(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(server) = model.sidebar.chosen_server() else {
        return;
    };
    let Some((_, tool)) = model.sidebar.chosen_tool() else {
        let id = server.id.clone();
        return toggle(model, &id, effects);
    };
    let (name, tool) = (server.id.clone(), tool.name.clone());
    let was_off = server.tools_off.contains(&tool);
    let (of, shown) = (seen(&name), Clean::name(&tool));
    let notice = if was_off {
        format!("Tool `{shown}` of `{of}` is on offer again.")
    } else {
        format!("Tool `{shown}` of `{of}` is off: it is not offered any more.")
    };
    model.notify(Notice::info(notice));
    let server = name;
    effects.push(Effect::Send(Command::ToggleTool { server, tool }));
}

/// A server's name as it is said: nothing in it is hidden.
fn seen(id: &ServerId) -> Clean {
    Clean::name(id.as_str())
}

/// Switches a server on or off, and says which.
pub fn toggle(model: &mut Model, id: &ServerId, effects: &mut Vec<Effect>) {
    let name = seen(id);
    let Some(server) = model.sidebar.find(id) else {
        return;
    };
    if server.enabled {
        model.notify(Notice::info(format!(
            "Server `{name}` is off: its tools are not offered any more."
        )));
    } else {
        model.sidebar.awaited.insert(id.clone());
        model.notify(Notice::info(format!("Server `{name}` is being started.")));
    }
    effects.push(Effect::Send(Command::ToggleServer(id.clone())));
}

/// Ends the session, if there is one, and opens another at once.
pub fn reconnect(model: &mut Model, id: &ServerId, effects: &mut Vec<Effect>) {
    let name = seen(id);
    let Some(server) = model.sidebar.find(id) else {
        return;
    };
    let notice = match &server.status {
        _ if !server.enabled => {
            let notice = Notice::warning(format!("Server `{name}` is off."));
            return model.notify(notice.advise("Space, or /toggle-mcp, switches it on."));
        }
        ServerStatus::Misconfigured(_) => {
            let notice = Notice::warning(format!("Server `{name}` is misconfigured."));
            return model.notify(notice.advise("Correct it in mcp-servers.json: that is enough."));
        }
        _ => Notice::info(format!("Reaching server `{name}` anew.")),
    };
    model.sidebar.awaited.insert(id.clone());
    model.notify(notice);
    effects.push(Effect::Send(Command::ReconnectServer(id.clone())));
}

pub fn open_log(model: &mut Model, id: &ServerId, effects: &mut Vec<Effect>) {
    let pane = ServerLogPane::new(id.clone(), model.now);
    model.overlay = Some(Overlay::ServerLog(Box::new(pane)));
    ask_for_log(id, None, effects);
}

fn ask_for_log(server: &ServerId, seen: Option<u64>, effects: &mut Vec<Effect>) {
    let server = server.clone();
    effects.push(Effect::Send(Command::ReadServerLog { server, seen }));
}

/// Whoever looks at what a server writes sees it go on.
pub fn follow_log(model: &mut Model, effects: &mut Vec<Effect>) {
    let now = model.now;
    if let Some(Overlay::ServerLog(pane)) = &mut model.overlay
        && now >= pane.due()
    {
        let seen = pane.ask(now);
        ask_for_log(&pane.server, seen, effects);
    }
}

pub fn logged(model: &mut Model, log: Arc<ServerLog>) {
    if let Some(Overlay::ServerLog(pane)) = &mut model.overlay {
        pane.take(log);
    }
}

/// Shows what a server wants the model to be told, and lets the person agree to it.
pub fn ask_instructions(model: &mut Model, id: &ServerId, effects: &mut Vec<Effect>) {
    let server = model.sidebar.find(id);
    if server.is_some_and(|server| server.instructions.is_some()) {
        effects.push(Effect::Send(Command::AskInstructions(id.clone())));
    } else {
        let words = format!("Server `{}` gave no instructions.", seen(id));
        model.notify(Notice::info(words));
    }
}

/// What was decided changed: with it, which servers' instructions are sent.
pub fn trust_changed(model: &mut Model, list: Arc<Vec<Trusted>>) {
    let agreed = list.iter().filter_map(|trusted| match trusted {
        Trusted::Instructions(agreed) | Trusted::InstructionsOnce(agreed) => Some(agreed.clone()),
        _ => None,
    });
    model.sidebar.agree(agreed.collect());
    model.trusted = list;
}

/// All servers with their tools, to be read in a window of their own.
fn read_all(model: &mut Model) {
    let servers = &model.sidebar.servers;
    let connected = servers
        .iter()
        .filter(|server| server.enabled && server.status == ServerStatus::Connected);
    let title = format!(
        "MCP servers: {} of {} connected",
        connected.count(),
        servers.len()
    );
    let text = model.sidebar.report(&model.glyphs);
    let reading = Reading::new(title, text, Unusual::SpeltOut);
    model.overlay = Some(Overlay::Reading(Box::new(reading)));
}

/// `/mcp`, `/mcp NAME`, `/mcp NAME retry`: all servers as a text, one of them in the pane,
/// or what a key does to it there.
pub fn command(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    if argument.is_empty() {
        return read_all(model);
    }
    let (id, verb) = match named(model, argument) {
        Ok(id) => (id, "tools"),
        Err(_) if argument == "hide" => return hide(model),
        Err(fault) => {
            let (name, verb) = argument
                .rsplit_once(char::is_whitespace)
                .unwrap_or_default();
            match named(model, name.trim()) {
                Ok(id) => (id, verb),
                Err(nearer) => {
                    return model.notify(if name.is_empty() { fault } else { nearer });
                }
            }
        }
    };
    let is_on = model.sidebar.find(&id).is_some_and(|server| server.enabled);
    match verb {
        "tools" => {
            model.sidebar.go_to(&id);
            show(model);
        }
        "retry" => reconnect(model, &id, effects),
        "log" => open_log(model, &id, effects),
        "instructions" => ask_instructions(model, &id, effects),
        "on" | "off" if is_on == (verb == "on") => {
            model.notify(Notice::info(format!(
                "Server `{}` is {verb} already.",
                seen(&id)
            )));
        }
        "on" | "off" => toggle(model, &id, effects),
        _ => {
            let what = format!("`{verb}` is nothing that can be done with a server.");
            let advice = "It is tools, retry, log, instructions, on or off.";
            model.notify(Notice::warning(what).advise(advice));
        }
    }
}

fn hide(model: &mut Model) {
    model.show_servers = false;
    if model.over_chat == Some(Focus::Servers) {
        model.over_chat = None;
    }
}

/// A server by its name, or by its number in the list. A name comes first: it may be
/// a number.
fn named(model: &Model, name: &str) -> Result<ServerId, Notice> {
    let servers = &model.sidebar.servers;
    let of = |server: &Server| server.id.clone();
    let same = |server: &&Server| server.id.as_str() == name;
    let alike = |server: &&Server| server.id.as_str().to_lowercase() == name.to_lowercase();
    if let Some(server) = servers.iter().find(same).or(servers.iter().find(alike)) {
        return Ok(of(server));
    }
    let number = name.parse::<usize>().ok();
    if let Some(server) = number.and_then(|number| servers.get(number.checked_sub(1)?)) {
        return Ok(of(server));
    }
    let notice = Notice::warning(format!("There is no server `{}`.", Clean::name(name)));
    let near = crate::tui::update::commands::nearest_of(
        name,
        servers.iter().map(|server| server.id.as_str()),
    );
    Err(match near {
        Some(near) => notice.advise(format!("Did you mean `{}`?", Clean::name(near))),
        None => notice.advise("/toggle-mcp lists them with their numbers."),
    })
}

/// `/toggle-mcp`: the list with numbers, or at once with a number or a name behind it.
pub fn toggle_command(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    if !argument.is_empty() && argument.parse() != Ok(0_usize) {
        return match named(model, argument) {
            Ok(id) => toggle(model, &id, effects),
            Err(_) if argument.parse::<usize>().is_ok() => {
                let count = model.sidebar.servers.len();
                let words = format!("Please enter a number from 0 to {count}, or a name.");
                model.notify(Notice::warning(words));
            }
            Err(notice) => model.notify(notice),
        };
    }
    let rows = model.sidebar.servers.iter().map(|server| {
        let label = format!("{}  {}", seen(&server.id), state_words(server));
        (Picked::Server(server.id.clone()), label)
    });
    let pick = Pick {
        title: "Servers",
        zero: "Change nothing",
        rows: rows.collect(),
        chosen: 0,
        typed: String::new(),
    };
    pick_or_open(model, pick, argument, effects);
}

/// A newer snapshot of a server. A failure is said once and calmly; that a server came
/// up is said only where the person waits for it.
pub fn changed(model: &mut Model, server: Server) {
    let (id, status) = (server.id.clone(), server.status.clone());
    let count = server.offered().count();
    let before = model.sidebar.put(server);
    let is_news = before.is_none_or(|before| before.status != status);
    match status {
        ServerStatus::Failed(notice) if is_news => tell_failure(model, &id, &notice),
        ServerStatus::Connected if model.sidebar.awaited.remove(&id) => {
            model.sidebar.told.remove(&id);
            let tools = match count {
                1 => "1 tool".to_owned(),
                count => format!("{count} tools"),
            };
            let words = format!(
                "Server `{}` is connected, with {tools} on offer.",
                seen(&id)
            );
            model.notify(Notice::info(words));
        }
        _ => {}
    }
}

fn tell_failure(model: &mut Model, id: &ServerId, notice: &Notice) {
    let now = model.now;
    let is_awaited = model.sidebar.awaited.remove(id);
    let told = &mut model.sidebar.told;
    let is_old = told
        .get(id)
        .is_some_and(|(words, at)| *words == notice.sentence() && now < *at + TOLD_LASTS);
    if is_old && !is_awaited {
        return;
    }
    told.insert(id.clone(), (notice.sentence(), now));
    // Several that fail together are one piece of news.
    let just_now = |id: &ServerId| {
        let told = told.get(id);
        told.is_some_and(|(_, at)| now < *at + NOTICE_LASTS)
    };
    let servers = model.sidebar.servers.iter();
    let failed: Vec<String> = servers
        .filter(|server| just_now(&server.id))
        .map(|server| format!("`{}`", seen(&server.id)))
        .collect();
    let what = match failed.as_slice() {
        [] | [_] => notice.what.clone(),
        several => format!("Servers {} failed.", several.join(", ")),
    };
    let advice = "/mcp shows why.";
    model.notify(Notice::warning(what).advise(advice));
}
