//! How models are taught to call tools, and how their calls are read back, cut
//! into chunks at every place.

use crate::support::scan_invariants;
mod properties;
mod pythonic;
mod round_trip;
mod scan;
mod scan_every_way;
mod special_tokens;
mod tags;
mod tool_prompt;
mod toolset;
mod unclosed_json;
mod wrapped_json;
