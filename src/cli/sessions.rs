//! The command line of `humble sessions` as clap types.

use crate::domain::{ExportFormat, ExportPart};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SessionsArgs {
    #[command(subcommand)]
    pub command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List all conversations, newest first
    #[command(after_help = LIST_HELP)]
    List {
        /// Print one JSON object instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print a conversation
    #[command(after_help = SHOW_HELP)]
    Show {
        #[command(flatten)]
        name: SessionName,
        #[command(flatten)]
        part: PartArgs,
    },
    /// Find conversations by their titles and messages
    #[command(after_help = SEARCH_HELP)]
    Search {
        /// Words that the conversation contains, and filters
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
        /// Print one JSON object instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Write a conversation as Markdown, JSON or HTML
    #[command(after_help = EXPORT_HELP)]
    Export {
        #[command(flatten)]
        name: SessionName,
        /// Format [default: the extension of --output, else md]
        #[arg(long, value_name = "FORMAT")]
        format: Option<FormatArg>,
        /// File, or folder for a file named after the title [default: standard output]
        #[arg(long, short, value_name = "PATH")]
        output: Option<PathBuf>,
        /// Replace the file if it exists
        #[arg(long, requires = "output")]
        force: bool,
        #[command(flatten)]
        part: PartArgs,
    },
    /// Restore the conversation that was deleted last
    #[command(after_help = RESTORE_HELP)]
    Restore,
    /// Delete a conversation
    #[command(after_help = RM_HELP)]
    Rm {
        #[command(flatten)]
        name: SessionName,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct SessionName {
    /// File name, title, or a part of the title that no other conversation has
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct PartArgs {
    /// Only the last N turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// Only the answers, without the prompts
    #[arg(long)]
    pub answers: bool,
}

impl PartArgs {
    pub fn part(&self) -> ExportPart {
        ExportPart {
            last: self.last.and_then(|count| usize::try_from(count).ok()),
            answers_only: self.answers,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Markdown
    Md,
    /// The format of session files
    Json,
    /// A page without scripts, for browsers and printers
    Html,
}

impl From<FormatArg> for ExportFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Md => Self::Markdown,
            FormatArg::Json => Self::Json,
            FormatArg::Html => Self::Html,
        }
    }
}

const LIST_HELP: &str = "\
Exit status: 0 success, 2 usage error.
--json prints {\"sessions\": […]}. A broken file is listed with the reason.";

const SHOW_HELP: &str = "\
Exit status: 0 success, 1 the conversation cannot be read, 2 there is no such conversation, or several match.
Several matches are listed, newest first. The text is sanitized on a terminal and unchanged in a pipe.";

const SEARCH_HELP: &str = "\
Exit status: 0 found, 1 nothing found, 2 usage error.
A conversation must contain every word, in its title or its text. Filters: model:NAME, after:DAY, before:DAY, where \
DAY is 2026-10-01, 2026-10, 2026, today, yesterday, \"last week\", \"this month\", or an age such as 7d, 2w, 3m or 1y.
--json prints {\"sessions\": […]}, each with the part of the text where the words occur.

  humble sessions search busan hotel after:2026-10
  humble sessions search 날씨 model:qwen --json";

const EXPORT_HELP: &str = "\
Exit status: 0 success, 1 the conversation cannot be read or the file not written, 2 usage error.
A file that exists is replaced only with --force or, on a terminal, if you agree. --answers --last 1 writes the last \
answer exactly as the model wrote it. HTML pages contain no scripts and load nothing; HTML in answers is shown as text.

  humble sessions export \"Trip to Busan\" --format html --output busan.html";

const RM_HELP: &str = "\
Exit status: 0 deleted or kept, 1 the conversation cannot be deleted, 2 usage error.
Without a terminal to ask on, --yes is needed. For three days, `humble sessions restore` brings it back.";

const RESTORE_HELP: &str = "\
Exit status: 0 restored, 1 nothing can be restored.
Deleted conversations are kept for three days in the folder `trash`, next to config.json. Each call restores one more.";
