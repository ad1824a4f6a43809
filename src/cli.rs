//! The command line: what was asked for, as data. `app` does it.

pub mod mcp;
pub mod tool_arguments;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Chat with a language model in the terminal; it may use tools of MCP servers, and asks you first.
#[derive(Debug, Parser)]
#[command(name = "humble", version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub shared: GlobalArgs,
    /// Go on with the latest conversation
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub go_on: bool,
    /// Open this conversation: its title or its file's name, or how either begins
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Debug, Args)]
pub struct GlobalArgs {
    /// The folder that holds settings and conversations [default: ~/.humble-ai-cli, or $HUMBLE_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Use this model of config.json instead of the active one
    #[arg(long, short, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Let this persona answer instead of the system prompt
    #[arg(long, global = true, value_name = "NAME")]
    pub persona: Option<String>,
    /// Start no MCP server and offer the model no tool
    #[arg(long, global = true)]
    pub no_tools: bool,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Ask one question; the answer alone goes to standard output
    #[command(after_help = ASK_HELP)]
    Ask(AskArgs),
    /// Look around without a model: a script answers, everything else is real
    #[command(after_help = DEMO_HELP)]
    Demo,
    /// List the models that are configured and those that their servers have
    #[command(after_help = MODELS_HELP)]
    Models(ModelsArgs),
    /// Look at MCP servers, call their tools and add new ones, without a model
    Mcp(mcp::McpArgs),
    /// Find out whether a model works with tools, and how it is best taught to call them
    #[command(after_help = PROBE_HELP)]
    Probe(ProbeArgs),
}

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// Store the best dialect as the model's `toolCalls`, without asking
    #[arg(long, conflicts_with = "no_save")]
    pub save: bool,
    /// Store nothing, and do not ask
    #[arg(long)]
    pub no_save: bool,
}

#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Print one JSON object instead of a list
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub change: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Pull a model to Ollama
    Pull {
        /// As ollama.com/library names it, such as qwen3:4b
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        name: String,
    },
    /// Remove a model from Ollama's disk
    Rm {
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        name: String,
        /// Do not ask first
        #[arg(long, short)]
        yes: bool,
    },
}

const MODELS_HELP: &str = "\
Exit status: 0 all well, 1 a server could not be asked or did not do it, 2 wrong usage.
A key is never shown: only whether there is one, or which variable is missing.
pull and rm act on the Ollama of the active model, else on the first one that is configured, else on the one of \
this machine (OLLAMA_HOST).";

const PROBE_HELP: &str = "\
Exit status: 0 the model works with tools, 1 it does not or a fault, 2 wrong usage, 130 interrupted.
In each dialect (native, prompt, xml) the model is asked to call the built-in tool say_hello once and to repeat the \
secret word that it returns. That can take some minutes; Ctrl+C shows what there is. No other tool runs, and no \
conversation is saved.
Where another dialect does better than the one in use, a terminal asks whether to store it; --json never asks.";

const DEMO_HELP: &str = "\
The demo keeps its conversations and settings in a folder of its own: `demo` inside the usual one, or the one \
that --home names. It reads no other file of yours and needs no network.

Its one model is its own script: --model is not for it.";

const ASK_HELP: &str = "\
Exit status: 0 answered, 1 failed, 2 wrong usage, 3 a tool was refused, 130 interrupted.
What comes in through a pipe is added to the prompt as context; `-` reads the prompt itself from there.
Without a terminal, tools are denied unless --yes, --allow, toolCallMode `auto` or a grant you gave before says \
otherwise. A tool named by --allow that is not there is wrong usage, and nothing is asked. Whatever is allowed, a \
tool whose definition changed since you saw it stays withheld, one that you ruled out stays so, and a call that \
repeats words from a tool's result or from what was piped in asks.";

#[derive(Debug, Args)]
pub struct AskArgs {
    /// Run every tool that the model asks for, without asking
    #[arg(long, conflicts_with = "no_tools")]
    pub yes: bool,
    /// Run this tool without asking; may be repeated
    #[arg(long, value_name = "SERVER/TOOL", conflicts_with = "no_tools")]
    pub allow: Vec<String>,
    /// Save the question and its answer as a conversation
    #[arg(long)]
    pub save: bool,
    /// Ask within the latest conversation, and save the answer there
    #[arg(long = "continue", short = 'c', conflicts_with = "save")]
    pub go_on: bool,
    /// Print one JSON object a line for each event, instead of the answer
    #[arg(long)]
    pub json: bool,
    /// The question; several words need no quotes
    #[arg(value_name = "PROMPT | -")]
    pub prompt: Vec<String>,
}
