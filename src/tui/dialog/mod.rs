//! Dialogs for the engine's questions: contents, choices, and the rules for answering.
//!
//! A dialog lets a tool call run only after all of its arguments were drawn, or after the user typed
//! a confirmation.

pub mod argument_check;
mod argument_editor;
pub mod arguments;
pub mod body;
pub mod choice_row;
pub mod choices;
pub mod compact;
mod confirmation_word;
pub mod dialog_text;
pub mod dialogs;
pub mod held_letter;
pub mod hints;
mod input_field;
pub mod key_role;
pub mod keys;
pub mod pages;
mod permission_notice;
pub mod read_before_run;
mod read_only_tools;
mod rule_text;
mod server_form;
pub mod state;
pub mod unused_key;
mod value_options;
mod view;
