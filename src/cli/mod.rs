//! The command line as clap types. `app` executes the parsed commands.

pub mod mcp;
pub mod serve;
pub mod sessions;
pub mod tool_arguments;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Chat with a language model in the terminal, and let it call MCP tools with your approval
#[derive(Debug, Parser)]
#[command(name = "humble", version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    /// Continue the latest conversation
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub continue_latest: bool,
    /// Open this conversation, by its file name, its title or a part of the title
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Print the chat line by line instead of drawing a screen, for screen readers
    #[arg(long)]
    pub linear: bool,
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Debug, Args)]
pub struct GlobalArgs {
    /// Folder of settings and conversations [default: $HUMBLE_HOME, else ~/.humble-ai-cli]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Use this model from config.json instead of the active one
    #[arg(long, short, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Use this persona instead of the system prompt
    #[arg(long, global = true, value_name = "NAME")]
    pub persona: Option<String>,
    /// Start no MCP servers and offer the model no tools
    #[arg(long, global = true)]
    pub no_tools: bool,
}

impl GlobalArgs {
    /// The flag that selects a model or a persona, if one was given. Commands without a model
    /// reject it.
    pub fn model_flag(&self) -> Option<&'static str> {
        match (&self.model, &self.persona) {
            (Some(_), _) => Some("--model"),
            (None, Some(_)) => Some("--persona"),
            (None, None) => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Ask one question; only the answer goes to standard output
    #[command(after_help = ASK_HELP)]
    Ask(AskArgs),
    /// Try humble without a model: a script answers, everything else is real
    #[command(after_help = DEMO_HELP)]
    Demo(DemoArgs),
    /// List the configured models and the models on their servers
    #[command(after_help = MODELS_HELP)]
    Models(ModelsArgs),
    /// List MCP servers, call their tools and add servers, without a model
    Mcp(mcp::McpArgs),
    /// Test whether a model works with tools, and which call format suits it best
    #[command(after_help = PROBE_HELP)]
    Probe(ProbeArgs),
    /// Check settings, servers and terminal, and what to do about problems
    #[command(after_help = DOCTOR_HELP)]
    Doctor(DoctorArgs),
    /// List, show, search, export and delete conversations
    Sessions(sessions::SessionsArgs),
    /// Print a script that completes commands and options in your shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    #[command(after_help = MAN_HELP)]
    Man,
    /// Offer the built-in tools to other MCP clients
    #[command(after_help = serve::SERVE_HELP)]
    Serve(serve::ServeArgs),
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Print the chat line by line instead of drawing a screen, for screen readers
    #[arg(long)]
    pub linear: bool,
}

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// Store the best dialect as the model's `toolCalls` without asking
    #[arg(long, conflicts_with = "no_save")]
    pub save: bool,
    /// Store nothing and do not ask
    #[arg(long)]
    pub no_save: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print one JSON object per line for each check
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Print one JSON object instead of a list
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Pull a model into Ollama
    Pull {
        /// Name of the model on ollama.com/library, such as qwen3:4b
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        name: String,
    },
    /// Remove a model from Ollama
    Rm {
        /// Name of the model
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        name: String,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

const MODELS_HELP: &str = "\
Exit status: 0 success, 1 a server could not be reached or failed, 2 usage error.
API keys are never shown, only whether one is set or which variable is missing.
pull and rm use the Ollama server of the active model, else the first one in config.json, else the one on this \
machine (OLLAMA_HOST).";

const COMPLETIONS_HELP: &str = "\
Exit status: 0 success, 2 usage error.

  humble completions bash > ~/.local/share/bash-completion/completions/humble
  humble completions zsh > ~/.zfunc/_humble
  humble completions fish > ~/.config/fish/completions/humble.fish";

const MAN_HELP: &str = "\
Exit status: 0 success.

  humble man | man -l -
  humble man > ~/.local/share/man/man1/humble.1";

const DOCTOR_HELP: &str = "\
Exit status: 0 no problem was found, 1 at least one, 2 usage error, 130 interrupted.
Servers that are on are started, but no tool is called. No settings are changed. Warnings do not count as problems.
API keys are never shown.";

const PROBE_HELP: &str = "\
Exit status: 0 the model works with tools, 1 it does not or the probe failed, 2 usage error, 130 interrupted.
For each dialect (native, prompt, xml), the probe asks the model to call the built-in tool say_hello once and to \
repeat the secret word that it returns. This can take some minutes; Ctrl+C shows the results so far. No other tool \
runs, and no conversation is saved.
If another dialect does better than the current one, the probe asks on the terminal whether to save it; --json \
never asks.";

const DEMO_HELP: &str = "\
The demo keeps its conversations and settings in a folder of its own: `demo` inside the usual one, or the one \
given by --home. It reads no other file of yours and needs no network.

Its only model is a script, so --model does not apply.";

const ASK_HELP: &str = "\
Exit status: 0 answered, 1 failed, 2 usage error, 3 a tool was refused, 130 interrupted. A request for your notes that \
could not be carried out, for example because no note matches, also exits with 1, even if the model answered.
Piped input is added to the prompt as context; `-` reads the prompt itself from standard input.
A prompt alone, including one read with `-`, may be a request for your notes, such as \"find notes about tea\"; with \
piped input or attached files, it goes to the model.
Without a terminal, tools are denied unless --yes, --allow, toolCallMode `auto` or a permission that you gave \
earlier allows them. An unknown tool in --allow is a usage error, and the question is not sent. Three limits always hold: a \
tool whose definition changed stays withheld, a tool that you blocked stays blocked, and a call that repeats text \
from a tool result, from piped input or from an attached file asks first.";

#[derive(Debug, Args)]
pub struct AskArgs {
    /// Run every tool the model calls, without asking
    #[arg(long, conflicts_with = "no_tools")]
    pub yes: bool,
    /// Run this tool without asking; can be repeated
    #[arg(long, value_name = "SERVER/TOOL", conflicts_with = "no_tools")]
    pub allow: Vec<String>,
    /// Attach this image or text file; can be repeated
    #[arg(long, value_name = "PATH")]
    pub attach: Vec<String>,
    /// Save the question and the answer as a conversation
    #[arg(long)]
    pub save: bool,
    /// Ask within the latest conversation and save the answer there
    #[arg(long = "continue", short = 'c', conflicts_with = "save")]
    pub continue_latest: bool,
    /// Print one JSON object per line for each event instead of the answer
    #[arg(long)]
    pub json: bool,
    /// The question; quotes are optional
    #[arg(value_name = "PROMPT | -")]
    pub prompt: Vec<String>,
}
