//! The engine's questions: what is asked about, the choices, and the rules for answering.

pub mod argument_check;
pub mod arguments;
pub mod body;
pub mod body_pin;
pub mod body_probe;
pub mod body_settings;
pub mod body_unfinished;
pub mod choices;
pub mod compact;
pub mod dialogs;
pub mod input_field;
pub mod keys;
pub mod read_before_run;
pub mod state;
pub mod view;
