//! Answers of the model server: their text, and their pace. A word with its trailing space counts
//! as a token.

use super::model_server::{Gate, Reply, ollama_done, ollama_line};
use serde_json::json;
use std::time::Duration;

/// The last words of each answer.
pub const LAST_WORDS: &str = "so it ends";

const WORDS: &str = "The quick survey of streaming systems shows that a terminal which draws \
    only what has changed keeps its processor cool, **even** while a model writes `faster` than \
    anybody reads; 한글과 漢字 stand between the words, and a line may end anywhere.";

/// `count` words of prose, with a paragraph break after every 80.
pub fn prose(count: usize) -> Vec<String> {
    let token = |(index, word): (usize, &str)| {
        let end = if index % 80 == 79 { "\n\n" } else { " " };
        format!("{word}{end}")
    };
    WORDS
        .split(' ')
        .cycle()
        .take(count)
        .enumerate()
        .map(token)
        .collect()
}

/// A kind of Markdown of any length. All but prose form a single block.
#[derive(Clone, Copy)]
pub enum MarkdownShape {
    Prose,
    List,
    Table,
    Fence,
}

impl MarkdownShape {
    pub const ALL: [Self; 4] = [Self::Prose, Self::List, Self::Table, Self::Fence];

    pub fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::List => "one list",
            Self::Table => "one table",
            Self::Fence => "one open fence",
        }
    }

    /// About `bytes` bytes of text in this shape, split into tokens.
    pub fn tokens(self, bytes: usize) -> Vec<String> {
        let (heading, line) = match self {
            Self::Prose => return prose(bytes * WORDS.split(' ').count() / WORDS.len()),
            Self::List => (
                "",
                "- item # of the list with a few **strong** words in it\n",
            ),
            Self::Table => (
                "| name | what it is | count |\n| --- | --- | --- |\n",
                "| alpha | the first of some letters | # |\n",
            ),
            Self::Fence => (
                "```rust\n",
                "    let total_#: usize = items.iter().map(|item| item.count).sum();\n",
            ),
        };
        // Number the lines, because the program stops repetitive answers.
        let lines = (0..bytes / line.len()).map(|n| line.replace('#', &n.to_string()));
        let text = heading.to_owned() + &lines.collect::<String>();
        text.split_inclusive(' ').map(str::to_owned).collect()
    }
}

fn chunk(text: &str) -> String {
    ollama_line(&json!({ "role": "assistant", "content": text }))
}

fn begin_reply() -> Reply {
    Reply::status(200).header("content-type", "application/x-ndjson")
}

fn end_reply(reply: Reply, token_count: usize) -> Reply {
    let reply = reply.chunk(chunk(&format!("\n\n{LAST_WORDS}")));
    reply.chunk(ollama_done(20, token_count as u64))
}

/// Sends each token in a separate chunk, without pauses.
pub fn unpaced(tokens: &[String]) -> Reply {
    let reply = tokens
        .iter()
        .fold(begin_reply(), |reply, token| reply.chunk(chunk(token)));
    end_reply(reply, tokens.len())
}

/// Sends `tokens_per_second` tokens per second once the start gate opens, and the end of the answer
/// once the end gate opens.
pub fn paced(
    tokens: &[String],
    tokens_per_second: u32,
    start_gate: &Gate,
    end_gate: &Gate,
) -> Reply {
    let reply = begin_reply()
        .chunk(chunk("It begins:\n\n"))
        .gate(start_gate);
    let token_interval = Duration::from_secs(1) / tokens_per_second;
    let reply = (0u32..).zip(tokens).fold(reply, |reply, (index, token)| {
        reply
            .pause_until(token_interval * index)
            .chunk(chunk(token))
    });
    end_reply(
        reply.chunk(chunk("\n\nall said")).gate(end_gate),
        tokens.len(),
    )
}
