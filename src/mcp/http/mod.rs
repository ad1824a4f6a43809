//! Servers that are reached by URL: streamable HTTP of both eras, and HTTP+SSE of
//! 2024-11-05. Ours on `reqwest`: one bad tool or content never costs the good ones,
//! and every request has one owner, the driver. (`rmcp` has a client for streamable HTTP; it was left
//! aside for modelcontextprotocol/rust-sdk#464 and #733, and since it does not speak HTTP+SSE.)

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
pub use error::{HttpError, SYNTHETIC_ERROR_CODE};
pub use param_headers::ParamHeaders;
pub use server_stream::open_sse_endpoint;
pub use transport::{HttpTransport, QUEUE_MAX};
