//! The wire layer against bytes: streams cut at every place, requests compared
//! whole, and a real server that misbehaves in every way that is known of.

use crate::support::model_server;
use crate::support::notice;
mod asking;
mod bodies;
mod calls;
mod hosted_bodies;
mod listing;
mod logged;
mod malformed_replies;
mod messages;
mod model_info;
mod network;
mod parameter_fallback;
mod pulling;
mod reading;
mod reasoning_echo;
mod recordings;
mod request_privacy;
mod schemas;
mod sentences;
mod statuses;
mod streams;
mod surrogates;
mod thinking;
mod xml_calls;
