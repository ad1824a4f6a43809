//! `humble mcp …`: what was asked for, as data.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct McpArgs {
    #[command(subcommand)]
    pub act: McpCommand,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Connect to the servers that are on, and tell how each is
    #[command(after_help = LIST_HELP)]
    List(ListArgs),
    /// List the tools of all servers that are on, or of one
    #[command(after_help = TOOLS_HELP)]
    Tools(ToolsArgs),
    /// Call a tool
    #[command(after_help = CALL_HELP)]
    Call(CallArgs),
    /// Add a server to mcp-servers.json, and see whether it answers
    #[command(after_help = ADD_HELP)]
    Add(AddArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub patience: TimeoutArgs,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// Of this server alone, also where it is off
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub server: Option<String>,
    /// Print one JSON object instead of a list
    #[arg(long)]
    pub json: bool,
    /// Show each input schema too; --json holds them anyway
    #[arg(long)]
    pub schema: bool,
    #[command(flatten)]
    pub patience: TimeoutArgs,
}

#[derive(Debug, Args)]
pub struct CallArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub server: String,
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub tool: String,
    /// The arguments: one JSON object, `-` to read it from standard input, or pairs
    #[arg(value_name = "JSON | - | KEY=VALUE")]
    pub arguments: Vec<String>,
    /// Print the server's own result object instead of its text
    #[arg(long)]
    pub json: bool,
    /// Call the tool although its definition is not the one you accepted; the chat still asks
    #[arg(long)]
    pub accept_changed: bool,
    #[command(flatten)]
    pub patience: TimeoutArgs,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// What the server is to be called here
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
    /// Where a remote server is
    #[arg(long, conflicts_with_all = ["command", "env", "cwd"], required_unless_present = "command")]
    pub url: Option<String>,
    /// How a remote server is spoken to; left out, it is found out
    #[arg(long)]
    pub transport: Option<TransportArg>,
    /// A header for a remote server, as NAME=VALUE or `NAME: VALUE`; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE")]
    pub headers: Vec<String>,
    /// A variable for the command, as NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// The folder that the command is run in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A word on what it is for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Switched off for now; it is not started
    #[arg(long)]
    pub disabled: bool,
    /// Do not connect to see whether it answers
    #[arg(long)]
    pub no_check: bool,
    /// Print one JSON object on what was found
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub patience: TimeoutArgs,
    /// The command that starts the server, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TransportArg {
    /// HTTP+SSE of 2024-11-05
    Sse,
    /// Streamable HTTP
    Http,
}

#[derive(Debug, Args)]
pub struct TimeoutArgs {
    /// Give up after so many seconds in all [default: the server's own time-outs]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
}

const SECONDS_MAX: f64 = 86_400.0;

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let fits = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_MAX);
    fits.map(Duration::from_secs_f64)
        .ok_or_else(|| "a number of seconds above 0, at most 86400, is expected".to_owned())
}

const LIST_HELP: &str = "\
Exit status: 0 every server that is on answers, 1 one does not, 2 wrong usage, 130 interrupted.
Servers that are off are listed and not started. About so many tokens is what the tools that are on add to each request.
--json prints {\"servers\": […]}, in the order of mcp-servers.json with the built-in `humble` first.";

const TOOLS_HELP: &str = "\
Exit status: 0 all well, 1 a server that was to be asked does not answer, 2 wrong usage, 130 interrupted.
Behind each tool stands how `humble mcp call` takes its arguments, those that may be left out in brackets.
--json prints {\"servers\": […]}, each with its tools and their schemas.";

const CALL_HELP: &str = "\
Exit status: 0 a result without error, 1 an error of the tool or its server, 2 wrong usage, 130 interrupted.
Nothing is asked before the call: typing it is the approval. That holds for tools that are switched off \
or ruled out, and for servers that are off, too. A tool whose definition changed since you accepted it in the chat is \
not called without --accept-changed: the difference is shown.
KEY=VALUE is typed by the tool's schema, KEY:=JSON taken as it is; a KEY that is a list may be repeated. The \
arguments are checked against the schema before anything is sent.
The text of the result goes to standard output, an error to standard error. --json prints the server's result \
object, be it an error or not; where there is none, {\"error\": …}.
Ctrl+C, and the end of --timeout, cancel the call at its server.

  humble mcp call humble get_time timezone=Asia/Seoul
  humble mcp call files read_file '{\"path\": \"a.txt\"}'
  humble mcp call github search query=시계 --json < /dev/null | jq .content";

const ADD_HELP: &str = "\
Exit status: 0 added, and it answers where it was asked; 1 not added, or added and it does not answer; 2 wrong \
usage; 130 interrupted.
The file keeps its order and all that this program does not know; a name that is taken is refused.
${NAME} in a command's arguments, --env, --url and --header is replaced by that variable each time the server \
starts, which keeps a secret out of the file: quote it, so that your shell leaves it alone.

  humble mcp add everything -- npx -y @modelcontextprotocol/server-everything
  humble mcp add github --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' -- docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  humble mcp add wiki --url https://example.com/mcp --transport http --header 'Authorization: Bearer ${WIKI_TOKEN}'";
