//! Commands that add servers to `mcp-servers.json` or complete them.

use crate::domain::model::Secret;
use crate::domain::{NewServer, ServerId};

#[derive(Debug, Clone, PartialEq)]
pub enum NewServerCommand {
    /// Adds servers, switched off.
    Import(Vec<NewServer>),
    /// Adds a server and switches it on, unless it lacks a variable.
    Add(Box<NewServer>),
    /// Stores values of variables in the entry of a server, and switches it on.
    SetVariables(ServerId, Vec<(String, Secret)>),
}
