//! Models of all servers: selection, the `/models` dialog, the first-run offer, and the
//! form that adds a server.

pub mod add_form;
mod add_form_key;
pub mod add_form_view;
pub mod first_run;
pub mod first_run_view;
pub mod layer;
pub mod offered_models;
pub mod rows;
pub mod select;
pub mod view;
