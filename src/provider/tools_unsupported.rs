//! Recognizes the many ways in which servers report that a model, or its setup, does not support
//! tools. Pure.

/// Phrases that fit no pattern.
const EXACT_PHRASES: [&str; 2] = ["tools param requires", "tool choice requires"];
/// Names for tools.
const SUBJECTS: [&str; 12] = [
    "tools",
    "tool use",
    "tool_use",
    "tool-use",
    "tool calling",
    "tool calls",
    "tool-calling",
    "tool_calls",
    "tool_choice",
    "function calling",
    "function calls",
    "functions",
];
/// Refusals that follow a name, as in "tools not supported".
const PHRASES_AFTER: [&str; 6] = [
    "not supported",
    "not enabled",
    "not available",
    "not allowed",
    "not permitted",
    "unsupported",
];
/// Refusals that precede a name, as in "unknown tools".
const PHRASES_BEFORE: [&str; 11] = [
    "not support",
    "n't support",
    "no support for",
    "not supporting",
    "that support",
    "unsupported",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "not capable",
];
/// Words that are ignored.
const FILLERS: [&str; 25] = [
    "the",
    "any",
    "a",
    "native",
    "using",
    "use",
    "of",
    "parameter",
    "parameters",
    "param",
    "field",
    "fields",
    "argument",
    "arguments",
    "request",
    "supplied",
    "keyword",
    "option",
    "is",
    "are",
    "was",
    "yet",
    "currently",
    "input",
    "property",
];

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
    let is_refused = |phrase: &&str| text.contains(&format!(" {phrase} "));
    match param {
        Some("tools" | "tool_choice" | "functions") => {
            let names_none = PHRASES_AFTER.iter().chain(&PHRASES_BEFORE).any(is_refused);
            if names_none || is_refused(&"extra inputs not permitted") {
                return true;
            }
        }
        // The message is about another parameter and merely mentions tools.
        Some(param) if !param.starts_with("tools") => return false,
        _ => {}
    }
    SUBJECTS.iter().any(|subject| {
        let after = PHRASES_AFTER
            .iter()
            .any(|after| is_refused(&&*format!("{subject} {after}")));
        let before = |phrase: &&str| text.contains(&format!("{phrase} {subject} "));
        after || PHRASES_BEFORE.iter().any(before)
    })
}

/// The significant words, separated by single spaces: no punctuation, no fillers.
fn significant_words(message: &str) -> String {
    let is_gap = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '\''));
    let words = message.split(is_gap).map(|word| word.trim_matches('\''));
    // `use` is a filler except in "tool use".
    let mut kept = String::from(" ");
    for word in words.filter(|word| !word.is_empty()) {
        let names_tools = word == "use" && kept.ends_with(" tool ");
        if names_tools || !FILLERS.contains(&word) {
            kept.push_str(word);
            kept.push(' ');
        }
    }
    kept
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
