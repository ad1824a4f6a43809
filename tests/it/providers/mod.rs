//! The model providers: streams split at every byte, complete request bodies, and a server that
//! misbehaves in every known way, over a real socket.

use crate::support::model_server;
use crate::support::notice_text;
mod anthropic_streams;
mod debug_log;
mod decoding;
mod error_messages;
pub mod hosted_request_bodies;
mod images;
mod malformed_replies;
mod model_info;
mod model_lists;
mod model_pull;
mod native_calls;
mod network;
mod parameter_fallback;
mod prefix_usage;
mod reasoning_echo;
mod recordings;
mod request_bodies;
mod request_privacy;
mod requests;
mod schemas;
mod server_errors;
mod streams;
mod surrogates;
mod thinking;
mod xml_calls;
