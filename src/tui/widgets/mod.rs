//! Building blocks of the features: painter, text field, lists, picker, text viewer.

pub mod editor;
pub mod list;
pub mod painter;
pub mod picker;
pub mod text_viewer;
pub mod text_viewer_keys;
pub mod text_viewer_view;
pub mod wrapped_line;
