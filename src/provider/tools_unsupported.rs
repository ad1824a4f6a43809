//! Recognizes error messages that report that a model, or its server setup, does not support
//! tools. Servers word them in many ways. Pure.

use crate::text::{WordList, word_list};
/// Phrases that do not combine a name with a refusal.
static EXACT_PHRASES: WordList = word_list!("tools_unsupported", "exact phrases");
static TOOL_NAMES: WordList = word_list!("tools_unsupported", "tool names");
/// Refusals that follow a name, as in "tools not supported".
static REFUSALS_AFTER: WordList = word_list!("tools_unsupported", "refusals after");
/// Refusals that precede a name, as in "unknown tools".
static REFUSALS_BEFORE: WordList = word_list!("tools_unsupported", "refusals before");
static FILLERS: WordList = word_list!("tools_unsupported", "fillers");

/// Whether a message, possibly about the request parameter `param`, refuses tools.
pub(super) fn is_tools_refusal(message: &str, param: Option<&str>) -> bool {
    let lowercase = message.to_lowercase();
    if EXACT_PHRASES
        .iter()
        .any(|phrase| lowercase.contains(phrase))
    {
        return true;
    }
    let text = significant_words(&lowercase);
    let contains = |phrase: &&str| text.contains(&format!(" {phrase} "));
    match param {
        // `param` names tools, so the message needs only a refusal.
        Some("tools" | "tool_choice" | "functions") => {
            let mut refusals = REFUSALS_AFTER.iter().chain(REFUSALS_BEFORE.iter());
            if refusals.any(contains) || contains(&"extra inputs not permitted") {
                return true;
            }
        }
        // The message is about another parameter and merely mentions tools.
        Some(param) if !param.starts_with("tools") => return false,
        _ => {}
    }
    TOOL_NAMES.iter().any(|name| {
        let is_refused_after = REFUSALS_AFTER
            .iter()
            .any(|refusal| contains(&&*format!("{name} {refusal}")));
        let precedes = |refusal: &&str| text.contains(&format!("{refusal} {name} "));
        is_refused_after || REFUSALS_BEFORE.iter().any(precedes)
    })
}

/// The words of a message without punctuation and fillers, each surrounded by single spaces.
fn significant_words(message: &str) -> String {
    let is_separator = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '\''));
    let words = message
        .split(is_separator)
        .map(|word| word.trim_matches('\''));
    let mut text = String::from(" ");
    for word in words.filter(|word| !word.is_empty()) {
        // `use` is a filler except in "tool use".
        let is_tool_use = word == "use" && text.ends_with(" tool ");
        if is_tool_use || !FILLERS.contains(&word) {
            text.push_str(word);
            text.push(' ');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::is_tools_refusal;

    #[test]
    fn tool_refusals_are_recognized_in_many_wordings() {
        for message in [
            "registry.ollama.ai/library/x does not support tools",
            "No endpoints found that support tool use.",
            "No endpoints found that support tool use. Try disabling \"get_time\".",
            "tools param requires --jinja flag",
            "Function calling is not enabled for this model",
            "Unsupported parameter: 'tools' is not supported with this model.",
            "This model does not support function calling.",
            "`m` doesn't support tool calling",
            "tool calling is not supported",
            "Tool use is not supported by m.",
            "The tools parameter is not supported",
            "Unrecognized request argument supplied: tools",
            "unknown field `tools`",
            "Tools are currently not available for this model",
            "This model does not support the use of tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ] {
            assert!(is_tools_refusal(message, None), "{message}");
        }
        for param in ["tools", "tool_choice"] {
            assert!(is_tools_refusal(
                "Extra inputs are not permitted",
                Some(param)
            ));
            assert!(is_tools_refusal("Unsupported parameter", Some(param)));
        }
    }

    #[test]
    fn errors_about_one_tool_or_other_parameters_are_not_tool_refusals() {
        for (message, param) in [
            (
                "Invalid 'tools': array too long. Expected at most 128.",
                Some("tools"),
            ),
            (
                "Invalid schema for function 'get_time'",
                Some("tools[0].function.parameters"),
            ),
            (
                "tools are not supported with reasoning_effort",
                Some("reasoning_effort"),
            ),
            (
                "Unsupported parameter: 'parallel_tool_calls' is not supported",
                None,
            ),
            ("Unexpected role 'tool' after role 'user'", None),
            ("The role `tool` is not supported", None),
            ("x does not support thinking", None),
            ("temperature is not supported", None),
        ] {
            assert!(!is_tools_refusal(message, param), "{message}");
        }
    }
}
