//! Requests that servers send to the user: in the legacy era as JSON-RPC requests (`incoming`), in
//! the modern era as results that require input (`input_required`). The owner of the hub receives
//! each as an event and answers it by its id. The number of open requests is bounded.

mod broker;
mod incoming;
mod input_required;
mod required_pages;
mod wire;

pub use broker::RequestBroker;
pub use incoming::{IncomingRequests, answer_incoming, unknown_method};
pub use input_required::{INPUT_ROUNDS_MAX, InputRequired, answer_input_requests};
pub use required_pages::{required_pages, visit_pages};
