//! Answers that the model server gives: their words, and the pace at which these
//! are sent. A word with the space behind it stands for a token.

use super::model_server::{Gate, Reply, ollama_done, ollama_line};
use serde_json::json;
use std::time::Duration;

/// The last words of each answer.
pub const LAST_WORDS: &str = "so it ends";

const WORDS: &str = "The quick survey of streaming systems shows that a terminal which draws \
    only what has changed keeps its processor cool, **even** while a model writes `faster` than \
    anybody reads; 한글과 漢字 stand between the words, and a line may end anywhere.";

/// So many words of prose, a paragraph after each eighty.
pub fn prose(count: usize) -> Vec<String> {
    let words = WORDS.split(' ').cycle().take(count).enumerate();
    let word = |(index, word): (usize, &str)| {
        let end = if index % 80 == 79 { "\n\n" } else { " " };
        format!("{word}{end}")
    };
    words.map(word).collect()
}

/// A shape of Markdown that is one block, however long.
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

    /// About so many bytes of it, in tokens.
    pub fn tokens(self, bytes: usize) -> Vec<String> {
        let (head, line) = match self {
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
        // Each line is another one: an answer that repeats itself is stopped.
        let lines = (0..bytes / line.len()).map(|n| line.replace('#', &n.to_string()));
        let text = head.to_owned() + &lines.collect::<String>();
        text.split_inclusive(' ').map(str::to_owned).collect()
    }
}

fn chunk(text: &str) -> String {
    ollama_line(&json!({ "role": "assistant", "content": text }))
}

fn begun() -> Reply {
    Reply::status(200).header("content-type", "application/x-ndjson")
}

fn ended(reply: Reply, count: usize) -> Reply {
    let reply = reply.chunk(chunk(&format!("\n\n{LAST_WORDS}")));
    reply.chunk(ollama_done(20, count as u64))
}

/// As fast as it can be sent, each token in a chunk of its own.
pub fn at_once(tokens: &[String]) -> Reply {
    let reply = tokens
        .iter()
        .fold(begun(), |reply, token| reply.chunk(chunk(token)));
    ended(reply, tokens.len())
}

/// So many tokens a second, all of them after the first gate, the end of the
/// answer after the second.
pub fn paced(tokens: &[String], a_second: u32, first: &Gate, last: &Gate) -> Reply {
    let reply = begun().chunk(chunk("It begins:\n\n")).gate(first);
    let pace = Duration::from_secs(1) / a_second;
    let reply = (0u32..).zip(tokens).fold(reply, |reply, (index, token)| {
        reply.pause_until(pace * index).chunk(chunk(token))
    });
    ended(reply.chunk(chunk("\n\nall said")).gate(last), tokens.len())
}
