//! The MCP client against servers at a URL, well-behaved or not. Each test ends by closing the hub
//! and checking that no connection and no task is left.

use crate::support::hub_harness;
mod accepted_requests;
mod default_behavior;
mod disconnects;
mod http_harness;
mod http_writer;
mod notifications;
mod redirects;
mod refusals;
mod sessions;
mod tasks;
mod test_server;
mod transport_detection;
