//! The opening and closing markers around calls. `wrapper` recognizes them; the other recognizers
//! use them to find the end of a call.

use crate::text::{WordList, word_list};
use std::sync::LazyLock;

/// An opening marker, which must be followed by a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpeningMarker {
    pub(super) opening: &'static str,
    /// The label of the contained calls in the approval dialog.
    pub(super) form: &'static str,
    /// The marker is used only for calls, so unreadable contents are an unusable call. After any other
    /// marker, unreadable contents are text.
    pub(super) is_certain: bool,
}

const fn certain(opening: &'static str, form: &'static str) -> OpeningMarker {
    OpeningMarker {
        opening,
        form,
        is_certain: true,
    }
}

const fn likely(opening: &'static str, form: &'static str) -> OpeningMarker {
    OpeningMarker {
        opening,
        form,
        is_certain: false,
    }
}

pub(super) static WRAPPERS: &[OpeningMarker] = &[
    certain("<tool_call>", "Hermes"),
    certain("<tool_calls>", "Hermes"),
    // Also encloses lists of tool definitions.
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
    // Variants written by distilled models.
    certain("<｜tool_calls_begin｜>", "DeepSeek"),
    certain("<｜tool calls begin｜>", "DeepSeek"),
    certain("<｜tool\\_calls\\_begin｜>", "DeepSeek"),
    certain("<｜tool▁calls｜>", "DeepSeek"),
    certain("<｜tool▁call▁begin｜>", "DeepSeek"),
    certain("<|tool▁calls▁begin|>", "DeepSeek"),
    certain("<|tool▁call▁begin|>", "DeepSeek"),
    certain("<|tool_calls_begin|>", "DeepSeek"),
    certain("<|tool_calls_section_begin|>", "Kimi"),
    // Also written by DeepSeek models with ASCII bars; the separator after the name then changes
    // the label.
    certain("<|tool_call_begin|>", "Kimi"),
    certain("<｜DSML｜function_calls>", "DeepSeek"),
    certain("<|DSML|function_calls>", "DeepSeek"),
    certain("<｜DSML｜tool_calls>", "DeepSeek"),
    certain("<|DSML|tool_calls>", "DeepSeek"),
    // Some templates double the bars.
    certain("<｜｜DSML｜｜tool_calls>", "DeepSeek"),
    certain("<｜｜DSML｜｜ tool_calls>", "DeepSeek"),
    certain("<｜｜DSML｜｜ calls>", "DeepSeek"),
    FUNCTOOLS,
];

/// An ordinary word, not a special token. Opens a call only at the start of a line and directly
/// before an array.
const FUNCTOOLS: OpeningMarker = likely("functools", "Phi");

/// Markers that close a wrapper or a form, and tokens that end the message.
pub(super) static CLOSERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    static MARKERS: WordList = word_list!("closing_markers");
    // In two parts, because programs may take the whole marker for the end of a call.
    let split = concat!("</", "antml:function_calls>");
    MARKERS.iter().copied().chain([split]).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_marker_is_a_prefix_of_another() {
        let openings = WRAPPERS.iter().map(|wrapper| wrapper.opening);
        for table in [openings.collect(), CLOSERS.to_vec()] {
            for marker in &table {
                let with_prefix = table.iter().filter(|other| other.starts_with(marker));
                assert_eq!(with_prefix.collect::<Vec<_>>(), [marker]);
            }
        }
    }
}
