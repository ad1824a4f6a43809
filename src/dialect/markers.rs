//! The literals that stand around calls: those that open a wrapper and those that close one. `wrapper`
//! recognizes them; the other recognizers need them to know where a call ends.

/// A literal after which a call must follow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapper {
    pub(super) opening: &'static str,
    /// As the dialog labels what is inside.
    pub(super) form: &'static str,
    /// Nobody writes it but to call a tool: what cannot be read in it is an
    /// unreadable call. Elsewhere it is text.
    pub(super) is_certain: bool,
}

const fn certain(opens: &'static str, form: &'static str) -> Wrapper {
    Wrapper {
        opening: opens,
        form,
        is_certain: true,
    }
}

const fn likely(opens: &'static str, form: &'static str) -> Wrapper {
    Wrapper {
        opening: opens,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_marker_is_a_prefix_of_another() {
        let opens = WRAPPERS.iter().map(|wrapper| wrapper.opening);
        for table in [opens.collect(), CLOSERS.to_vec()] {
            for (at, one) in table.iter().enumerate() {
                let mut others = table.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(others.all(|(_, other)| !other.starts_with(one)), "{one}");
            }
        }
    }
}
