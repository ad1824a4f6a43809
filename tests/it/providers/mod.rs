//! The wire layer against bytes: streams cut at every place, requests compared
//! whole, and a real server that misbehaves in every way that is known of.

use crate::support::model_server;
use crate::support::notice_text;
mod anthropic_messages;
mod debug_log;
mod decoding;
mod error_messages;
mod hosted_request_bodies;
mod malformed_replies;
mod model_info;
mod model_lists;
mod model_pull;
mod native_calls;
mod network;
mod parameter_fallback;
mod reasoning_echo;
mod recordings;
mod request_bodies;
mod request_privacy;
mod requests;
mod schemas;
mod statuses;
mod streams;
mod surrogates;
mod thinking;
mod xml_calls;
