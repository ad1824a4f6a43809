//! How models are taught to call tools, and how their calls are read back, cut
//! into chunks at every place.

use crate::support::scanned;
mod cuts;
mod offered;
mod properties;
mod pythonic;
mod round_trip;
mod scan;
mod tags;
mod tokens;
mod tool_prompt;
mod unclosed_json;
mod wrapped_json;
