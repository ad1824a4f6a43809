//! Remote servers: streamable HTTP (legacy and modern protocol) and HTTP+SSE of 2024-11-05. Built
//! on `reqwest`, so that an invalid tool or content item never affects the valid ones and the
//! driver owns every request. (`rmcp` has a client for streamable HTTP. We do not use it because of
//! modelcontextprotocol/rust-sdk#464 and #733, and because it does not support HTTP+SSE.)

mod client;
mod connection;
mod driver;
mod error;
mod outgoing_message;
mod param_headers;
mod request;
mod response;
mod server_stream;
mod transport;

pub use client::RemoteClient;
pub use connection::{Connection, HttpKind};
pub use driver::HttpDriver;
pub use error::{HttpError, IS_NOT_FOUND_KEY, SYNTHETIC_ERROR_CODE};
pub use param_headers::ParamHeaders;
pub use server_stream::{EndpointWait, open_sse_endpoint};
pub use transport::{HttpTransport, QUEUE_MAX};
