//! The wire layer against bytes: streams cut at every place, requests compared
//! whole, and a real server that misbehaves in every way that is known of.

use crate::support::model_server;
use crate::support::notice;
mod asking;
mod bodies;
mod calls;
mod carrying;
mod facts;
mod halves;
mod hosted_bodies;
mod listing;
mod logged;
mod manners;
mod messages;
mod network;
mod odd_answers;
mod pulling;
mod reading;
mod recordings;
mod refused;
mod schemas;
mod sentences;
mod statuses;
mod streams;
mod thinking;
mod written;
