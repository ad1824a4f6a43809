//! Models of all servers: the picker of `/models`, the first-run choice, the form that adds a model
//! from another server, and the thinking effort.

pub mod add_form;
mod add_form_address;
mod add_form_key;
pub mod add_form_view;
pub mod first_run;
pub mod first_run_view;
pub mod layer;
pub mod offered_models;
pub mod rows;
pub mod view;
