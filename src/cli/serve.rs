//! The command line of `humble serve` as clap types.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Listen for HTTP clients instead of serving one client over standard input and output
    #[arg(long)]
    pub http: bool,
    /// Port to listen on [default: $MCP_PORT, else 8080]
    #[arg(long, requires = "http")]
    pub port: Option<u16>,
    /// Folder of Markdown notes that the note tools may use in addition to `notes.vault` of config.json; can be repeated
    #[arg(long, value_name = "PATH")]
    pub vault: Vec<PathBuf>,
    /// Address or name to listen on; other machines need an access token
    #[arg(
        long,
        requires = "http",
        value_name = "HOST",
        default_value = "127.0.0.1"
    )]
    pub host: String,
    /// File with the access token [default: the token in $HUMBLE_SERVE_TOKEN]
    #[arg(long, requires = "http", value_name = "PATH")]
    pub token_file: Option<PathBuf>,
    /// Also answer to this name, for example behind a proxy; can be repeated
    #[arg(long, requires = "http", value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Requests per second of all clients together; 0 means no limit
    #[arg(long, requires = "http", value_name = "N", default_value_t = 2_000)]
    pub rate_limit: u32,
}

pub const SERVE_HELP: &str = "\
Exit status: 0 stopped by the client, Ctrl+C or SIGTERM, 1 failed, 2 usage error.
Without --http, a client such as an editor starts this command itself and talks to it over standard input and output. \
Each call is logged to standard error and to the log file.
With --http: /mcp is streamable HTTP, /sse is HTTP+SSE for older clients, GET /mcp/tools and POST /mcp/tools/call are \
plain JSON. Clients send the access token as `Authorization: Bearer TOKEN`; it is required for every address except \
loopback ones. Traffic is not encrypted: put a TLS proxy in front of it on networks that you do not trust.";
