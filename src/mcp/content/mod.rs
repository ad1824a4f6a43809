//! Prompts and resources of a server: lists, requests, results and subscriptions.

pub mod capabilities;
pub mod decode;
pub mod followed_resources;
pub mod list;
pub mod list_subscription;
pub mod prompt;
pub mod recent_reads;
pub mod request;
pub mod resource_subscriptions;
pub mod result;
