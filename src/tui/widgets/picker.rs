//! A numbered list from which one row is picked, as `/set-model` shows it.

use crate::domain::{CallId, ModelRef, ServerId, Think, ToolMode};
use crate::protocol::BranchSummary;

/// A numbered list, from which 0 changes nothing.
#[derive(Debug, Clone)]
pub struct Pick {
    pub title: &'static str,
    pub zero: &'static str,
    pub rows: Vec<(Picked, String)>,
    /// The rows, then the zero.
    pub chosen: usize,
    /// Digits typed so far, where the list is longer than nine.
    pub typed: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Picked {
    Model(ModelRef),
    Server(ServerId),
    /// A call that is to be cancelled.
    Call(CallId),
    Mode(ToolMode),
    Think(Think),
    /// None is the system prompt.
    Persona(Option<String>),
    Branch(BranchSummary),
}
