//! Models of all servers: the dialog, the first run, and the form that adds a server.

pub mod add_form;
pub mod add_form_keys;
pub mod add_form_view;
pub mod first_run;
pub mod first_run_view;
pub mod keys;
pub mod state;
pub mod view;
