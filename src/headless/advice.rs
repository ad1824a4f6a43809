//! Advice as it helps somebody without the screen: whole sentences, in which what
//! `humble ask` can do takes the place of the screen's commands and keys, and what
//! has no such place is left out. Advice that names neither stays word for word.

/// The screen's commands; a word of advice that is none of them may be a path.
const COMMANDS: &str = "help new clear sessions set-model models think probe set-tool-mode persona reload system-prompt mcp toggle-mcp thinking retry \
     continue compact edit undo branches fork rename private raw copy log mouse trust cancel sidebar exit";

/// What stands for words of the screen; the longer of two comes first.
const INSTEAD: [(&str, &str); 13] = [
    ("/probe finds out", "`humble probe` finds out"),
    ("/retry asks again", "run it again"),
    ("then /retry", "then run it again"),
    ("and /retry", "and run it again"),
    (
        "/continue goes on from there",
        "with --save, --continue can go on from there",
    ),
    (
        "Alt+C goes on from there",
        "with --save, --continue can go on from there",
    ),
    ("Begin a new one with /new", "send a shorter prompt"),
    (
        "Begin a new conversation with /new",
        "send a shorter prompt",
    ),
    ("/compact makes it shorter", SHORTER),
    ("/compact makes the conversation shorter", SHORTER),
    (
        "/compact replaces the older part by a summary; the file keeps all",
        SHORTER,
    ),
    (
        ", or choose another with /set-model",
        ", or another with --model",
    ),
    ("with /set-model", "with --model"),
];
const SHORTER: &str = "send a shorter prompt, or ask without --continue";

/// Advice for standard error; none where all of it is about the screen.
pub(super) fn without_screen(advice: &str) -> Option<String> {
    let kept = sentences(advice).into_iter().filter_map(|sentence| {
        if !names_the_screen(sentence) {
            return Some(ended(sentence));
        }
        let said = INSTEAD
            .iter()
            .fold(sentence.to_owned(), |said, (words, instead)| {
                said.replace(words, instead)
            });
        remaining(&said)
    });
    let kept: Vec<String> = kept.collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// A sentence ends where white space and something else than a small letter follow
/// its full stop: `see x.pem and …` and `e.g. so` go on. Lines stay together.
fn sentences(advice: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in advice.match_indices(['.', '!', '?']) {
        let rest = &advice[at + 1..];
        let next = rest.trim_start().chars().next();
        let is_end = rest.starts_with(' ') && next.is_some_and(|c| !c.is_lowercase());
        if is_end && !is_quoting(&advice[start..at]) {
            found.push(advice[start..=at].trim());
            start = at + 1;
        }
    }
    let last = advice[start..].trim();
    found.extend((!last.is_empty()).then_some(last));
    found
}

/// Is a quote open at the end?
fn is_quoting(text: &str) -> bool {
    text.matches('`').count() % 2 == 1
}

/// The clauses that name nothing of the screen, as a sentence.
fn remaining(sentence: &str) -> Option<String> {
    let mut said = String::new();
    let mut rest = sentence;
    let mut joint = "";
    loop {
        let end = [("; ", "; "), (", or ", ", or ")]
            .iter()
            .filter_map(|(mark, joint)| Some((next_outside_quotes(rest, mark)?, *joint)))
            .min();
        let clause = end.map_or(rest, |(at, _)| &rest[..at]);
        if !names_the_screen(clause) {
            said.push_str(if said.is_empty() { "" } else { joint });
            said.push_str(clause);
        }
        let Some((at, next)) = end else { break };
        joint = next;
        rest = &rest[at + next.len()..];
    }
    let alone = said.trim().trim_end_matches(['.', ',', ';', ':']);
    let alone = ["or ", "and "].iter().fold(alone, |said, joint| {
        said.strip_prefix(joint).unwrap_or(said)
    });
    (!alone.is_empty()).then(|| ended(&capital(alone)))
}

fn next_outside_quotes(text: &str, mark: &str) -> Option<usize> {
    let mut places = text.match_indices(mark).map(|(at, _)| at);
    places.find(|at| !is_quoting(&text[..*at]))
}

fn names_the_screen(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || "`(),;:!?\"".contains(c));
    words.any(|word| {
        let word = word.trim_end_matches('.');
        let command = word.strip_prefix('/');
        command.is_some_and(|name| COMMANDS.split(' ').any(|known| known == name)) || is_key(word)
    })
}

/// Ctrl+C ends a run without the screen as well.
fn is_key(word: &str) -> bool {
    let of_function = |number: &str| {
        number
            .parse()
            .is_ok_and(|number| (1..=12).contains(&number))
    };
    let is_chord = ["Alt+", "Ctrl+", "Shift+"]
        .iter()
        .any(|start| word.starts_with(start));
    (is_chord && word != "Ctrl+C") || word.strip_prefix('F').is_some_and(of_function)
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// What ends in a word gets its full stop; an example to copy does not.
fn ended(sentence: &str) -> String {
    let is_open = sentence.ends_with(|c: char| c.is_alphanumeric() || "`'\")".contains(c));
    let stop = if is_open && !sentence.contains('\n') {
        "."
    } else {
        ""
    };
    format!("{sentence}{stop}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::ApiKey;
    use crate::domain::{Dialect, ModelConfig, ProviderKind};
    use crate::provider::error::Garbled;
    use crate::provider::{Cause, EndReason, Fault};

    /// Advice of the engine, the turn and the providers, and what is left of it.
    const TABLE: [(&str, &str); 30] = [
        ("/retry asks again.", "Run it again."),
        (
            "What came so far is kept. /retry asks again.",
            "What came so far is kept. Run it again.",
        ),
        (
            "/retry asks again; if it happens again, see `ollama serve`'s log.",
            "Run it again; if it happens again, see `ollama serve`'s log.",
        ),
        (
            "What came so far is kept. /retry asks again; if it happens again, see `ollama serve`'s log.",
            "What came so far is kept. Run it again; if it happens again, see `ollama serve`'s log.",
        ),
        (
            "Wait a little, then /retry; or choose another model with /set-model.",
            "Wait a little, then run it again; or choose another model with --model.",
        ),
        (
            "Top it up, or choose another model than `m` with /set-model.",
            "Top it up, or choose another model than `m` with --model.",
        ),
        (
            "Choose another model with /set-model.",
            "Choose another model with --model.",
        ),
        (
            "Pull it with `ollama pull m`, or choose another with /set-model.",
            "Pull it with `ollama pull m`, or another with --model.",
        ),
        (
            "Check model of `m` in config.json, or choose another with /set-model.",
            "Check model of `m` in config.json, or another with --model.",
        ),
        (
            "Begin a new one with /new, or choose another model with /set-model.",
            "Send a shorter prompt, or choose another model with --model.",
        ),
        (
            "Begin a new one with /new, or choose a model with a larger context.",
            "Send a shorter prompt, or choose a model with a larger context.",
        ),
        (
            "Begin a new conversation with /new, or choose a model with a larger context.",
            "Send a shorter prompt, or choose a model with a larger context.",
        ),
        (
            "Put the question in other words, or choose another model with /set-model.",
            "Put the question in other words, or choose another model with --model.",
        ),
        (
            "Raise the limit in the model's `options`, or set `think` to false, and /retry.",
            "Raise the limit in the model's `options`, or set `think` to false, and run it again.",
        ),
        (
            "/continue goes on from there; the model's `options` can raise the limit.",
            "With --save, --continue can go on from there; the model's `options` can raise the limit.",
        ),
        (
            "Alt+C goes on from there.",
            "With --save, --continue can go on from there.",
        ),
        (
            "/retry asks again; another wording or `think` off often helps.",
            "Run it again; another wording or `think` off often helps.",
        ),
        (
            "/compact makes it shorter.",
            "Send a shorter prompt, or ask without --continue.",
        ),
        (
            "/compact makes the conversation shorter; `options.num_ctx` makes room.",
            "Send a shorter prompt, or ask without --continue; `options.num_ctx` makes room.",
        ),
        (
            "/compact replaces the older part by a summary; the file keeps all.",
            "Send a shorter prompt, or ask without --continue.",
        ),
        (
            "It answers on until you choose another with /set-model.",
            "It answers on until you choose another with --model.",
        ),
        ("/think stays off; choose another model with /models.", ""),
        ("Press Alt+R, or start the server.", "Start the server."),
        (
            "F12 shows its lines; nothing else is lost",
            "Nothing else is lost.",
        ),
        (
            "`/system-prompt replace` puts ours in its place and keeps a copy.",
            "",
        ),
        ("Ctrl+O lists those that there are.", ""),
        (
            "Wait for it, or stop it with Ctrl+C.",
            "Wait for it, or stop it with Ctrl+C.",
        ),
        (
            "All of it is in /home/a, b; c/new.json: move it from there",
            "All of it is in /home/a, b; c/new.json: move it from there.",
        ),
        (
            "No model is listed in /h/config.json yet. /models shows what a running Ollama has and adds it; `humble demo` shows the program without any model. Or put this there, for example:\n{ \"models\": [ ] }",
            "No model is listed in /h/config.json yet. `humble demo` shows the program without any model. Or put this there, for example:\n{ \"models\": [ ] }",
        ),
        (
            "Check `a. B; c` in config.json, e.g. so",
            "Check `a. B; c` in config.json, e.g. so.",
        ),
    ];

    #[test]
    fn advice_without_the_screen_is_whole_sentences() {
        for (advice, expected) in TABLE {
            let found = without_screen(advice).unwrap_or_default();
            assert_eq!(found, expected, "{advice}");
        }
    }

    #[test]
    fn every_command_of_the_screen_is_known_here() {
        let mut known: Vec<_> = crate::tui::keymap::commands()
            .map(|(command, _)| command.trim_start_matches('/'))
            .collect();
        let mut ours: Vec<_> = COMMANDS.split(' ').collect();
        known.sort_unstable();
        ours.sort_unstable();
        assert_eq!(ours, known);
    }

    fn model(provider: ProviderKind) -> ModelConfig {
        ModelConfig {
            name: "m".to_owned(),
            model: "m".to_owned(),
            provider,
            base_url: "http://localhost:1".to_owned(),
            api_key: ApiKey::NotNeeded,
            active: true,
            context_length: None,
            think: None,
            dialect: Dialect::Native,
            tool_role: None,
            keep_alive: None,
            options: Default::default(),
            ca_file: None,
        }
    }

    fn causes() -> Vec<Cause> {
        let text = || "words of the server".to_owned();
        let status = |status| Cause::Status {
            status,
            message: None,
            retry_after: None,
            path: None,
        };
        let mut causes: Vec<_> = (400..=599).map(status).collect();
        causes.extend([
            Cause::Refused,
            Cause::Unresolved,
            Cause::ConnectTimeout,
            Cause::Silent { seconds: 5 },
            Cause::Unreachable { why: text() },
            Cause::Reset,
            Cause::Redirected { to: text() },
            Cause::Cut,
            Cause::Empty,
            Cause::InStream { message: text() },
            Cause::Busy { message: text() },
            Cause::Garbled(Garbled::WebPage),
            Cause::Unsupported,
        ]);
        causes.push(Cause::ContextOverflow {
            sent: None,
            limit: None,
            message: text(),
        });
        causes.push(Cause::NoCredit {
            status: 402,
            message: text(),
        });
        causes
    }

    #[test]
    fn advice_after_every_fault_and_end_of_a_model_is_whole_without_the_screen() {
        let mut notices = vec![];
        for provider in ProviderKind::ALL {
            let model = model(provider);
            for cause in causes() {
                let mut fault = Fault::new(&model, cause);
                notices.push(fault.notice());
                fault.after_words = true;
                notices.push(fault.notice());
            }
        }
        let others = [
            "content_filter",
            "model_length",
            "pause_turn",
            "insufficient_system_resource",
        ];
        notices.extend(
            others
                .iter()
                .filter_map(|other| EndReason::Other((*other).to_owned()).notice()),
        );
        notices.extend(EndReason::Refused { why: None }.notice());
        for notice in notices {
            let advice = notice.advice.expect("every fault has advice");
            let said =
                without_screen(&advice).unwrap_or_else(|| panic!("nothing is left of {advice}"));
            assert!(said.ends_with('.') && !names_the_screen(&said), "{said}");
            assert!(said.starts_with(char::is_uppercase), "{said}");
        }
    }
}
