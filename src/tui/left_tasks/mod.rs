//! The tasks that the user left running: the list behind `/tasks`.

mod layer;
mod text;
mod view;

pub use layer::open;
pub use text::{age_text, farewell, header_label, status_text};
