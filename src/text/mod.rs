//! Text processing without I/O: sanitizing, display width, wrapping, lenient JSON, Python literals,
//! Markdown, syntax highlighting, server-sent events.

mod ascii_twin;
pub mod columns;
pub mod common_prefix_suffix;
pub mod comparison;
mod escape_sequences;
pub mod find_query;
pub mod grapheme;
pub mod highlight;
pub mod invisible;
pub mod json_changes;
mod json_scanner;
pub mod labeled;
pub mod lenient_json;
pub mod line_diff;
pub mod lines;
mod look_alike;
pub mod lossless_wrap;
pub mod markdown;
mod mixed_scripts;
pub mod normalize;
pub mod numbers;
pub mod python;
pub mod sanitize;
mod script_context;
mod script_words;
pub mod sse;
pub mod styled_line;
pub mod suggest;
pub mod surrogates;
pub mod term_matches;
pub mod terminal_json;
pub mod token_estimate;
mod word_list;
pub mod wrap;

pub use ascii_twin::fold_look_alikes;
pub use json_scanner::{JsonEvent, JsonScanner};
pub use sanitize::Clean;
pub use script_context::ScriptContext;
pub use word_list::WordList;
pub(crate) use word_list::word_list;
