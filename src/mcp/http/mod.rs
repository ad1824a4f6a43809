//! Servers that are reached by URL: streamable HTTP of both eras, and HTTP+SSE of
//! 2024-11-05. Ours on `reqwest`: one bad tool or content never costs the good ones,
//! and every request has one owner, the driver.

mod answer;
mod client;
mod driver;
mod exchange;
mod fault;
mod outgoing;
mod params;
mod shared;
mod standing;
mod wire;

pub use client::Remote;
pub use driver::Driver;
pub use exchange::NO_CODE;
pub use fault::WebFault;
pub use params::ParamHeaders;
pub use shared::{Carrier, Shared};
pub use standing::endpoint;
pub use wire::{HttpWire, QUEUE_MAX};
