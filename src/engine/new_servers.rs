//! A server that the user adds in the chat, and the values of variables that a server lacks.

use super::cx::EngineCx;
use super::jobs::JobResult;
use crate::config;
use crate::config::ConfigError;
use crate::domain::model::Secret;
use crate::domain::{NewServer, Notice, ServerConfig, ServerId};

#[derive(Debug)]
pub(super) enum NewServerResult {
    /// The server was added in this state, switched off.
    Added(Result<Box<ServerConfig>, Notice>),
    /// The server after values of its variables were stored; `None` if it is gone.
    VariablesSet(Result<Option<Box<ServerConfig>>, ConfigError>),
}

/// Checks and adds a server, switched off.
pub(super) fn add(mut server: NewServer, cx: &mut EngineCx) {
    server.enabled = false;
    let home = cx.home.clone();
    cx.write_config(move || {
        let added = config::preview_server(&server).map_err(Notice::warning);
        let added = added.and_then(|config| {
            let added = config::add_servers(&home, std::slice::from_ref(&server));
            added.map_err(|error| error.notice_while_running())?;
            Ok(Box::new(config))
        });
        JobResult::NewServer(NewServerResult::Added(added))
    });
}

/// Stores values of variables in the entry of a server.
pub(super) fn set_variables(server: ServerId, values: Vec<(String, Secret)>, cx: &mut EngineCx) {
    let home = cx.home.clone();
    cx.write_config(move || {
        let stored = config::set_server_variables(&home, &server, &values);
        let stored = stored.map(|server| server.map(Box::new));
        JobResult::NewServer(NewServerResult::VariablesSet(stored))
    });
}
