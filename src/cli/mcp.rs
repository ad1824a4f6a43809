//! The command line of `humble mcp` as clap types.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct McpArgs {
    #[command(subcommand)]
    pub command: McpCommand,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Connect to the enabled servers and show the state of each
    #[command(after_help = LIST_HELP)]
    List(ListArgs),
    /// List the tools of all enabled servers, or of one server
    #[command(after_help = TOOLS_HELP)]
    Tools(ToolsArgs),
    /// Call a tool
    #[command(after_help = CALL_HELP)]
    Call(CallArgs),
    /// Add a server to mcp-servers.json and check that it answers, or add one from the registry
    #[command(after_help = ADD_HELP, override_usage = ADD_USAGE)]
    Add(AddArgs),
    /// Add the servers of another MCP client, switched off
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArgs),
    /// Sign in to a remote server
    #[command(after_help = LOGIN_HELP)]
    Login(LoginArgs),
    /// Sign out of a remote server
    #[command(after_help = LOGOUT_HELP)]
    Logout(LogoutArgs),
    /// Search the MCP registry
    #[command(after_help = SEARCH_HELP)]
    Search(SearchArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub timeout: TimeoutArgs,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// Only this server, even if it is off
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub server: Option<String>,
    /// Print one JSON object instead of a list
    #[arg(long)]
    pub json: bool,
    /// Also show each input schema; --json always includes them
    #[arg(long)]
    pub schema: bool,
    #[command(flatten)]
    pub timeout: TimeoutArgs,
}

#[derive(Debug, Args)]
pub struct CallArgs {
    /// Name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub server: String,
    /// Name of the tool
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub tool: String,
    /// The arguments: a JSON object, `-` to read one from standard input, or KEY=VALUE pairs
    #[arg(value_name = "JSON | - | KEY=VALUE")]
    pub arguments: Vec<String>,
    /// Print the server's result object instead of its text
    #[arg(long)]
    pub json: bool,
    /// Call the tool even if its definition changed since it was first seen or accepted; the chat
    /// still asks
    #[arg(long)]
    pub accept_changed: bool,
    #[command(flatten)]
    pub timeout: TimeoutArgs,
}

#[derive(Debug, Args)]
pub struct LoginArgs {
    /// Name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub server: String,
    /// Open the address in the default browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
pub struct LogoutArgs {
    /// Name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub server: String,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// Name for the server, or NAMESPACE/NAME of a server in the registry
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
    /// URL of a remote server
    #[arg(long, conflicts_with_all = ["command", "env", "cwd"])]
    pub url: Option<String>,
    /// Transport of a remote server; detected if omitted. For a server in the registry: use its URL
    /// with this transport, not its package
    #[arg(long)]
    pub transport: Option<TransportArg>,
    /// Header for a remote server, as NAME=VALUE or `NAME: VALUE`; can be repeated
    #[arg(long = "header", value_name = "NAME=VALUE")]
    pub headers: Vec<String>,
    /// Environment variable for the command, as NAME=VALUE; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Working folder of the command
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Short description of the server
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Add the server switched off, without starting it
    #[arg(long)]
    pub disabled: bool,
    /// Do not connect to check that it answers
    #[arg(long)]
    pub no_check: bool,
    /// Add a server from the registry without asking
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub timeout: TimeoutArgs,
    /// The command that starts the server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Name of a client, or a file; without it, the files found here are listed
    #[arg(value_name = "CLIENT|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub source: Option<String>,
    /// Add the servers without asking
    #[arg(short = 'y', long, requires = "source")]
    pub yes: bool,
    /// Only the servers with these names
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "source")]
    pub only: Vec<String>,
    /// Copy literal secrets into mcp-servers.json, which only you can read
    #[arg(long, requires = "source")]
    pub copy_secrets: bool,
    /// Print one JSON object instead of text; never asks
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Text in the name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub word: String,
    /// Show at most this many servers
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub limit: u16,
    /// Print one JSON object instead of a list
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TransportArg {
    /// HTTP+SSE (MCP 2024-11-05)
    Sse,
    /// Streamable HTTP
    Http,
}

#[derive(Debug, Args)]
pub struct TimeoutArgs {
    /// Give up after this many seconds in total [default: each server's own timeouts]
    #[arg(long = "timeout", value_name = "SECONDS", value_parser = parse_seconds)]
    pub limit: Option<Duration>,
}

const SECONDS_MAX: f64 = 86_400.0;

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let in_range = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_MAX);
    in_range
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a number of seconds above 0 and at most 86400".to_owned())
}

const LIST_HELP: &str = "\
Exit status: 0 all enabled servers answer, 1 at least one does not, 2 usage error, 130 interrupted.
Servers that are off are listed but not started. The token count estimates what the enabled tools add to each request.
--json prints {\"servers\": […]} in the order of mcp-servers.json, with the built-in `humble` first.";

const TOOLS_HELP: &str = "\
Exit status: 0 success, 1 a server does not answer, 2 usage error, 130 interrupted.
Each tool is followed by its arguments as `humble mcp call` takes them, optional ones in brackets.
--json prints {\"servers\": […]}, each with its tools and their schemas.";

const CALL_HELP: &str = "\
Exit status: 0 the tool succeeded, 1 the tool or its server failed, 2 usage error, 130 interrupted.
The tool runs without asking: typing the command is the approval, even if the tool is switched off or blocked or its \
server is off. If the tool's definition changed since it was first seen or accepted in the chat, the difference is \
shown and the call needs --accept-changed.
KEY=VALUE is converted to the type in the tool's schema; KEY:=JSON is used as it is. Repeat a KEY to fill a list. The \
arguments are checked against the schema before anything is sent.
The result text goes to standard output, errors to standard error. --json prints the server's result object, even \
for a failed call, or {\"error\": …} if there is none.
Ctrl+C or the end of --timeout cancels the call on its server.

  humble mcp call humble get_time timezone=Asia/Seoul
  humble mcp call files read_file '{\"path\": \"a.txt\"}'
  humble mcp call github search query=시계 --json < /dev/null | jq .content";

const LOGIN_HELP: &str = "\
Exit status: 0 signed in, or no sign-in needed; 1 failed; 2 usage error; 130 interrupted.
The address to open, its host and the requested scopes are printed. The browser is redirected to a port on this \
machine. If it runs on another machine, paste the address of the page where it ends up, and press Enter. The tokens \
are stored in auth.json, next to config.json.

  humble mcp login docs
  humble mcp login docs --open";

const LOGOUT_HELP: &str = "\
Exit status: 0 signed out, or not signed in; 1 failed; 2 usage error; 130 interrupted.
The tokens are removed from auth.json, and revoked if the authorization server supports that.";

// The usage that clap derives omits that either `--url` or a command is required.
const ADD_USAGE: &str = "\
humble mcp add [OPTIONS] <NAME> --url <URL>
       humble mcp add [OPTIONS] <NAME> -- <COMMAND>...
       humble mcp add [OPTIONS] <NAMESPACE/NAME>";

const ADD_HELP: &str = "\
Exit status: 0 the server was added and, unless --no-check or --disabled is given, answered; 1 it was not added, or did \
not answer; 2 usage error; 130 interrupted.
The file keeps its order and its unknown fields. A name that is already in the file is a usage error.
${NAME} in the command's arguments, --env, --url and --header is replaced with that environment variable each time the \
file is read. This keeps secrets out of the file; quote it so that your shell does not expand it.
NAMESPACE/NAME without a URL or command is looked up in the registry (`registryUrl` in config.json). Its command or \
URL is shown with the version pinned, and added switched off, after a question or with --yes. Nobody has reviewed it.

  humble mcp add everything -- npx -y @modelcontextprotocol/server-everything
  humble mcp add github --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' -- docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  humble mcp add wiki --url https://example.com/mcp --transport http --header 'Authorization: Bearer ${WIKI_TOKEN}'
  humble mcp add io.github.example/weather";

const IMPORT_HELP: &str = "\
Exit status: 0 imported, nothing new or declined, 1 the file cannot be used or nothing in it can be added, 2 usage \
error or no terminal to ask on, 130 interrupted.
Clients: claude-desktop, claude-code, cursor, vscode, lm-studio, gemini, codex, opencode, zed, goose, windsurf. Their \
files are looked up in your home folder and, where the client has one there, in the current folder. The format of a \
FILE is recognized from its contents.
The servers are shown with their commands or URLs, and added switched off, after one question or with --yes. Literal \
secrets are replaced with ${NAME}. With --copy-secrets their values are stored in mcp-servers.json under `variables`; \
otherwise the chat asks for them when you switch a server on, or set these variables before. The client's file is only \
read.
--json prints {\"servers\": […], \"skipped\": […], \"added\": …} and adds nothing unless --yes is given.

  humble mcp import
  humble mcp import cursor
  humble mcp import claude-desktop --only github filesystem --copy-secrets --yes
  humble mcp import ./mcp.json --json";

const SEARCH_HELP: &str = "\
Exit status: 0 the registry answered, even if nothing was found, 1 it did not, 2 usage error, 130 interrupted.
The registry is `registryUrl` in config.json, by default registry.modelcontextprotocol.io. It verifies who owns a \
namespace, but nobody reviews the servers.
--json prints {\"servers\": […]}, with texts as the registry sent them.

  humble mcp search weather
  humble mcp search github --limit 5 --json
  humble mcp add io.github.example/weather";
