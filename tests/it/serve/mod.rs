//! `humble serve`: both HTTP transports and plain JSON on real sockets, bad clients, and the real
//! program over stdio and HTTP.

mod access;
mod bad_clients;
mod cancel;
mod harness;
mod limits;
mod our_client;
mod plain_json;
mod process;
mod program;
mod protocol;
mod shutdown;
mod sse;
mod stdio;
