//! Buffers the start of a reply, because a later `</think>` without `<think>` may turn it into
//! thinking. Needed because printed text cannot be taken back, and used only for models known to
//! write such a tag. Pure.

use crate::text::{WordList, word_list};

static THINKING_MODELS: WordList = word_list!("thinking_models");
const NON_THINKING_VARIANTS: [&str; 2] = ["instruct", "coder"];
/// Text longer than this without a tag counts as the answer once a blank line follows. Thinking is
/// long, so a smaller limit would often print thinking as the answer.
const BUFFER_BYTES_MAX: usize = 32 << 10;

/// Whether the model is known to write `</think>` without `<think>`.
fn is_thinking_model(model: &str) -> bool {
    let model = model.to_lowercase();
    let contains_any = |names: &[&str]| names.iter().any(|name| model.contains(name));
    contains_any(&["thinking", "reasoning"])
        || contains_any(&THINKING_MODELS) && !contains_any(&NON_THINKING_VARIANTS)
}

/// The buffered start of a reply.
#[derive(Debug, Default)]
pub struct ThinkBuffer {
    may_be_thinking: bool,
    /// `None` once released.
    buffered: Option<String>,
}

impl ThinkBuffer {
    pub fn for_model(names: [&str; 2]) -> Self {
        Self {
            may_be_thinking: names.into_iter().any(is_thinking_model),
            buffered: None,
        }
    }

    pub fn start_reply(&mut self) {
        self.buffered = self.may_be_thinking.then(String::new);
    }

    /// Returns the text to show now.
    pub fn push(&mut self, text: &str) -> String {
        let Some(buffered) = &mut self.buffered else {
            return text.to_owned();
        };
        let previous_len = buffered.len();
        buffered.push_str(text);
        // Start one byte earlier, to find a blank line that began in the previous text.
        let start =
            buffered.floor_char_boundary(previous_len.saturating_sub(1).max(BUFFER_BYTES_MAX));
        let is_long = buffered.len() > BUFFER_BYTES_MAX && buffered[start..].contains("\n\n");
        if is_long {
            self.release()
        } else {
            String::new()
        }
    }

    /// Returns the buffer as text: the reply ended, the text is long, or thinking arrived on its own
    /// channel.
    pub fn release(&mut self) -> String {
        self.buffered.take().unwrap_or_default()
    }

    /// Returns the buffer as thinking. `None` if it was already shown as text.
    pub fn take_thinking(&mut self) -> Option<String> {
        self.buffered.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_models_are_recognized_by_parts_of_their_names() {
        for name in [
            "deepseek-r1:8b",
            "hf.co/unsloth/DeepSeek-R1-Distill-Qwen-7B-GGUF:Q4_K_M",
            "qwq",
            "qwen3:4b",
            "qwen3-30b-a3b-thinking-2507",
            "magistral:24b",
            "THUDM/GLM-Z1-9B-0414",
            "nvidia/Llama-3.3-Nemotron-Super-49B-v1",
            "phi4-mini-reasoning",
        ] {
            assert!(is_thinking_model(name), "{name}");
        }
        for name in ["gpt-4o", "qwen2.5-coder", "qwen3-coder:30b", "llama3.2", ""] {
            assert!(!is_thinking_model(name), "{name}");
        }
    }

    #[test]
    fn the_start_of_a_reply_is_buffered_until_it_is_classified() {
        let mut buffer = ThinkBuffer::for_model(["my model", "qwen3:4b"]);
        buffer.start_reply();
        assert_eq!(buffer.push("음, "), "");
        assert_eq!(buffer.push("생각\n\n"), "");
        assert_eq!(buffer.take_thinking(), Some("음, 생각\n\n".to_owned()));
        assert_eq!(buffer.push("The answer."), "The answer.");
        assert_eq!(buffer.take_thinking(), None, "already shown");
        buffer.start_reply();
        assert_eq!(buffer.push("An answer"), "");
        assert_eq!(buffer.release(), "An answer");
        assert_eq!(buffer.release(), "");
        let mut unbuffered = ThinkBuffer::for_model(["gpt-4o", "gpt-4o"]);
        unbuffered.start_reply();
        assert_eq!(unbuffered.push("at once"), "at once");
        assert_eq!(unbuffered.take_thinking(), None);
    }

    #[test]
    fn long_text_is_released_at_its_next_blank_line() {
        let mut buffer = ThinkBuffer::for_model(["qwq", "qwq"]);
        buffer.start_reply();
        let long = "한 줄\n\n".repeat(BUFFER_BYTES_MAX / 9 + 1);
        let long = long.trim_end();
        assert_eq!(buffer.push(long), "");
        assert_eq!(buffer.push(" and on\n"), "");
        let whole = format!("{long} and on\n\nnext");
        assert_eq!(buffer.push("\nnext"), whole);
        assert_eq!(buffer.push(" more"), " more");
    }
}
