//! The MCP client against servers that are reached by URL, well-behaved and not. Each
//! test ends by closing the hub and finding that no connection and no task is left.

use crate::support::mcp_desk;
mod bench;
mod disconnects;
mod notifications;
mod refusals;
mod talking;
mod transport_detection;
mod web;
mod well_behaved;
