//! The conversation: its entries, their layout as rows, scrolling and drawing.

pub mod agent_line;
pub mod call_row;
pub mod draw_row;
pub mod entry_layout;
pub mod entry_rows;
pub mod find;
pub mod layout_input;
pub mod long_prompt;
pub mod plain_text;
pub mod rendered_text;
pub mod row_content;
pub mod row_context;
pub mod selection;
pub mod state;
pub mod stop_row;
pub mod stops;
pub mod timing;
pub mod view;
pub mod viewport;
