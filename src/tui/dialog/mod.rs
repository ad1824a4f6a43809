//! The engine's questions: what is asked about, the choices, and the rules for answering.

pub mod arguments;
pub mod body;
pub mod body_pin;
pub mod body_probe;
pub mod body_settings;
pub mod body_unfinished;
pub mod choices;
pub mod compact;
pub mod dialogs;
pub mod edit_check;
pub mod field;
pub mod granting;
pub mod keys;
pub mod state;
pub mod view;
