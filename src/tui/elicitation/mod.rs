//! Requests from MCP servers in a dialog: a form with its fields and their review, a web page, and a
//! request to the model. All texts of the server are sanitized and marked as the server's.

pub mod body;
pub mod fields_view;
pub mod form_state;
pub mod option_list;
pub mod sampling_body;
pub mod sampling_progress;
