//! Widgets shared by features: painter, text field, lists, picker, text viewer.

pub mod editor;
pub mod labeled_fields;
pub mod list;
pub mod list_layer;
pub mod log_tail;
pub mod number_entry;
pub mod painter;
pub mod picker;
pub mod text_field;
pub mod text_viewer;
pub mod window;
pub mod wrapped_line;
