//! Literals that stand around calls (DIALECTS B and C): what opens one, and what
//! closes it. What is inside is read by the other families.

use super::family::{Form, Found, Opening, Recogniser, Step};
use crate::domain::Offered;

/// A literal after which a call must follow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapper {
    pub(super) opens: &'static str,
    /// As the dialog labels what is inside.
    pub(super) form: &'static str,
    /// Nobody writes it but to call a tool: what cannot be read in it is an
    /// unreadable call. Elsewhere it is text.
    pub(super) is_certain: bool,
}

const fn certain(opens: &'static str, form: &'static str) -> Wrapper {
    Wrapper {
        opens,
        form,
        is_certain: true,
    }
}

const fn likely(opens: &'static str, form: &'static str) -> Wrapper {
    Wrapper {
        opens,
        form,
        is_certain: false,
    }
}

pub(super) static WRAPPERS: &[Wrapper] = &[
    certain("<tool_call>", "Hermes"),
    certain("<tool_calls>", "Hermes"),
    // Also what lists the definitions of tools.
    likely("<tools>", "Hermes"),
    certain("<TOOLCALL>", "Nemotron"),
    likely("<function_call>", "function_call"),
    likely("<function_calls>", "function_calls"),
    certain(concat!("<", "antml:function_calls>"), "invoke tag"),
    likely("<tool_code>", "tool_code"),
    certain("<seed:tool_call>", "Seed"),
    certain("<minimax:tool_call>", "MiniMax"),
    certain("<|tool_call|>", "Granite"),
    certain("<|tool_call>", "Gemma"),
    certain("<start_function_call>", "Gemma"),
    certain("[TOOL_CALLS]", "Mistral"),
    certain("<|python_tag|>", "Llama"),
    certain("<|tool_call_start|>", "LFM2"),
    certain("<|START_ACTION|>", "Command"),
    certain("<｜tool▁calls▁begin｜>", "DeepSeek"),
    // As its distilled models spell it.
    certain("<｜tool_calls_begin｜>", "DeepSeek"),
    certain("<｜tool calls begin｜>", "DeepSeek"),
    certain("<｜tool\\_calls\\_begin｜>", "DeepSeek"),
    certain("<｜tool▁calls｜>", "DeepSeek"),
    certain("<｜tool▁call▁begin｜>", "DeepSeek"),
    certain("<|tool▁calls▁begin|>", "DeepSeek"),
    certain("<|tool▁call▁begin|>", "DeepSeek"),
    certain("<|tool_calls_begin|>", "DeepSeek"),
    certain("<|tool_calls_section_begin|>", "Kimi"),
    // DeepSeek with ASCII bars and Kimi K2 share it; what follows tells.
    certain("<|tool_call_begin|>", "Kimi"),
    certain("<｜DSML｜function_calls>", "DeepSeek"),
    certain("<|DSML|function_calls>", "DeepSeek"),
    certain("<｜DSML｜tool_calls>", "DeepSeek"),
    certain("<|DSML|tool_calls>", "DeepSeek"),
    // As its tokens come through where the template doubles the bars.
    certain("<｜｜DSML｜｜tool_calls>", "DeepSeek"),
    certain("<｜｜DSML｜｜ tool_calls>", "DeepSeek"),
    certain("<｜｜DSML｜｜ calls>", "DeepSeek"),
    FUNCTOOLS,
];

/// No special token: an ordinary word, which opens a call only at a line's start
/// and right before an array.
const FUNCTOOLS: Wrapper = likely("functools", "Phi");

pub(super) const CLOSERS: &[&str] = &[
    "</tool_call>",
    "</tool_calls>",
    "</tools>",
    "</TOOLCALL>",
    "</function_call>",
    "</function_calls>",
    concat!("</", "antml:function_calls>"),
    "</tool_code>",
    "</function>",
    "</invoke>",
    "</seed:tool_call>",
    "</minimax:tool_call>",
    "</mcp-request>",
    "<|/tool_call|>",
    "<end_function_call>",
    "<tool_call|>",
    "[/TOOL_CALLS]",
    "<|tool_call_end|>",
    "<|END_ACTION|>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<|tool▁call▁end|>",
    "<|tool▁calls▁end|>",
    "<|tool_calls_end|>",
    "<|tool_calls_section_end|>",
    "</｜DSML｜function_calls>",
    "</|DSML|function_calls>",
    "</｜DSML｜tool_calls>",
    "</|DSML|tool_calls>",
    "</｜｜DSML｜｜tool_calls>",
    "</｜｜DSML｜｜ tool_calls>",
    "</｜｜DSML｜｜ calls>",
    // The end of a message, which some servers let through.
    "<|endoftext|>",
    "<|eot|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "<|tool_response>",
    "<start_function_response>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "</s>",
];

pub(super) fn open(opening: &Opening<'_>) -> Option<Form> {
    let may = match opening.marker {
        '<' | '[' => !opening.quoted(),
        'f' => opening.at_line_start && !opening.in_code && opening.wrapper.is_none(),
        _ => false,
    };
    (may && !opening.offered.is_empty()).then(|| Box::new(Opener) as _)
}

/// Bytes of brackets too many, with white space between them.
const STRAY_BYTES_MAX: usize = 32;

/// Right after a call only: elsewhere a closing tag is text.
/// With it goes a bracket too many that stands before it.
pub(super) fn close(opening: &Opening<'_>) -> Option<Form> {
    let may = opening.after_call && matches!(opening.marker, '<' | '[' | '}' | ']');
    may.then(|| Box::new(Closer) as _)
}

#[derive(Debug)]
struct Opener;

impl Recogniser for Opener {
    fn step(&mut self, _c: char, body: &str, _offered: &Offered) -> Step {
        let mut starts = WRAPPERS.iter().filter(|one| one.opens.starts_with(body));
        match starts.next() {
            Some(wrapper) if wrapper.opens == body => Step::Found(Found::Opens(wrapper)),
            Some(_) => Step::Hold,
            None => Step::Reject,
        }
    }
}

#[derive(Debug)]
struct Closer;

impl Recogniser for Closer {
    fn step(&mut self, _c: char, body: &str, _offered: &Offered) -> Step {
        let closer = body.trim_start_matches(|c: char| "}]".contains(c) || c.is_whitespace());
        if CLOSERS.contains(&closer) {
            Step::Found(Found::Closes)
        } else if body.len() - closer.len() <= STRAY_BYTES_MAX
            && CLOSERS.iter().any(|one| one.starts_with(closer))
        {
            Step::Hold
        } else {
            Step::Reject
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_literal_begins_with_another() {
        let opens = WRAPPERS.iter().map(|wrapper| wrapper.opens);
        for table in [opens.collect(), CLOSERS.to_vec()] {
            for (at, one) in table.iter().enumerate() {
                let mut others = table.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(others.all(|(_, other)| !other.starts_with(one)), "{one}");
            }
        }
    }
}
