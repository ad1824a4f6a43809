//! The wire layer against bytes: streams cut at every place, requests compared
//! whole, and a real server that misbehaves in every way that is known of.

#[path = "providers/asking.rs"]
mod asking;
#[path = "providers/bodies.rs"]
mod bodies;
#[path = "providers/calls.rs"]
mod calls;
#[path = "providers/carrying.rs"]
mod carrying;
#[path = "providers/facts.rs"]
mod facts;
#[path = "providers/halves.rs"]
mod halves;
#[path = "providers/hosted_bodies.rs"]
mod hosted_bodies;
#[path = "providers/listing.rs"]
mod listing;
#[path = "providers/logged.rs"]
mod logged;
#[path = "providers/manners.rs"]
mod manners;
#[path = "providers/messages.rs"]
mod messages;
#[path = "support/model_server.rs"]
mod model_server;
#[path = "providers/network.rs"]
mod network;
#[path = "support/notice.rs"]
mod notice;
#[path = "providers/odd_answers.rs"]
mod odd_answers;
#[path = "providers/pulling.rs"]
mod pulling;
#[path = "providers/reading.rs"]
mod reading;
#[path = "providers/recordings.rs"]
mod recordings;
#[path = "providers/refused.rs"]
mod refused;
#[path = "providers/schemas.rs"]
mod schemas;
#[path = "providers/sentences.rs"]
mod sentences;
#[path = "providers/statuses.rs"]
mod statuses;
#[path = "providers/streams.rs"]
mod streams;
#[path = "providers/thinking.rs"]
mod thinking;
#[path = "providers/written.rs"]
mod written;
