//! The system message that describes tools, and the scanner for calls in text. Most tests split each
//! text at every offset.

use crate::support::scan_invariants;
mod json_lookalikes;
mod properties;
mod pythonic;
mod round_trip;
mod scan;
mod scan_every_way;
mod special_tokens;
mod stripped_harmony;
mod tags;
mod tool_prompt;
mod toolset;
mod unclosed_json;
mod wrapped_json;
