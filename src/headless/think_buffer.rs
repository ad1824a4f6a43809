//! Holds text back that a lone `</think>` may turn into thinking, where it goes to an
//! output that takes nothing back, and where the model is known to write one (S6.3).
//! Pure.

/// Parts of the names of models that were seen to leave out their `<think>`, mostly
/// since the server's template had written it for them.
const THINKING_MODELS: [&str; 17] = [
    "deepseek-r1",
    "r1-distill",
    "deepseek-reasoner",
    "deepscaler",
    "qwq",
    "qwen3",
    "magistral",
    "glm-z1",
    "glm-4.5",
    "nemotron",
    "exaone-deep",
    "exaone4",
    "openthinker",
    "smollm3",
    "marco-o1",
    "thinking",
    "reasoning",
];
/// Their relatives that do not think.
const NON_THINKING_VARIANTS: [&str; 2] = ["instruct", "coder"];
/// So much text without a word of thinking is an answer. Thinking is long: what is let
/// go sooner would often stay where it does not belong.
const HELD_BYTES_MAX: usize = 32 << 10;

/// Does this model write a `</think>` that nothing opened?
fn is_thinking_model(model: &str) -> bool {
    let model = model.to_lowercase();
    let has = |names: &[&str]| names.iter().any(|name| model.contains(name));
    has(&["thinking", "reasoning"]) || has(&THINKING_MODELS) && !has(&NON_THINKING_VARIANTS)
}

/// The beginning of a reply.
#[derive(Debug, Default)]
pub(super) struct ThinkBuffer {
    may_be_thinking: bool,
    /// None once it is let go.
    held: Option<String>,
}

impl ThinkBuffer {
    /// The model that answers, by the names that it has.
    pub(super) fn for_model(names: [&str; 2]) -> Self {
        Self {
            may_be_thinking: names.into_iter().any(is_thinking_model),
            held: None,
        }
    }

    /// Another reply begins.
    pub(super) fn start_reply(&mut self) {
        self.held = self.may_be_thinking.then(String::new);
    }

    /// Takes text of the reply; what can be shown.
    pub(super) fn push(&mut self, text: &str) -> String {
        let Some(held) = &mut self.held else {
            return text.to_owned();
        };
        let from = held.len();
        held.push_str(text);
        // A blank line that began before this text counts as well.
        let from = held.floor_char_boundary(from.saturating_sub(1).max(HELD_BYTES_MAX));
        let is_long = held.len() > HELD_BYTES_MAX && held[from..].contains("\n\n");
        if is_long {
            self.release()
        } else {
            String::new()
        }
    }

    /// It is text, whatever follows: the reply ended, or thinking came in its own way.
    pub(super) fn release(&mut self) -> String {
        self.held.take().unwrap_or_default()
    }

    /// It was thinking. None where it was shown as text before.
    pub(super) fn take_thinking(&mut self) -> Option<String> {
        self.held.take()
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
    fn the_start_of_a_reply_is_held_until_it_is_classified() {
        let mut known = ThinkBuffer::for_model(["my model", "qwen3:4b"]);
        known.start_reply();
        assert_eq!(known.push("음, "), "");
        assert_eq!(known.push("생각\n\n"), "");
        assert_eq!(known.take_thinking(), Some("음, 생각\n\n".to_owned()));
        assert_eq!(known.push("The answer."), "The answer.");
        assert_eq!(known.take_thinking(), None, "it was shown");
        known.start_reply();
        assert_eq!(known.push("An answer"), "");
        assert_eq!(known.release(), "An answer");
        assert_eq!(known.release(), "");
        let mut other = ThinkBuffer::for_model(["gpt-4o", "gpt-4o"]);
        other.start_reply();
        assert_eq!(other.push("at once"), "at once");
        assert_eq!(other.take_thinking(), None);
    }

    #[test]
    fn long_text_is_released_at_its_next_blank_line() {
        let mut known = ThinkBuffer::for_model(["qwq", "qwq"]);
        known.start_reply();
        let long = "한 줄\n\n".repeat(HELD_BYTES_MAX / 9 + 1);
        let long = long.trim_end();
        assert_eq!(known.push(long), "");
        assert_eq!(known.push(" and on\n"), "");
        let whole = format!("{long} and on\n\nnext");
        assert_eq!(known.push("\nnext"), whole);
        assert_eq!(known.push(" more"), " more");
    }
}
