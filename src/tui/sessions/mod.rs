//! The browser for saved conversations, and the commands that export and delete the open one.

pub mod commands;
mod export_form;
pub mod layer;
mod listing;
mod marks;
mod preview;
mod row_action;
mod view;
