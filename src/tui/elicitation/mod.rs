//! A form of an MCP server in a dialog: its fields and the review of their values, and the progress of
//! answers for servers. All texts of the server are sanitized and marked as the server's.

pub mod fields_view;
pub mod form_state;
pub mod option_list;
pub mod review;
pub mod sampling_progress;
