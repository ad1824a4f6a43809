//! Calls of gpt-oss whose special tokens the server has removed, such as
//! `commentary to=functions.f json{…}`, for offered tools only. Without JSON after the name, the text
//! is prose about such a call.

use super::invalid_json::JsonProgress;
use super::json_arguments::JsonArguments;
use super::json_call::{self, ParsedCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use crate::domain::{ToolLookup, Toolset};

const FORM: &str = "Harmony";
const RECIPIENT: &str = "to=functions.";
/// The text of the tokens before the recipient, separated by `|`: role and channel.
const HEADERS: &str = "|commentary |analysis |assistant |assistantcommentary |assistantanalysis ";
/// A channel after the recipient is not separated from it.
const CHANNELS: [&str; 2] = ["commentary", "analysis"];
/// May stand between the name and the arguments.
const WORDS: &str = "json code commentary analysis <|constrain|> <|message|>";
const NAME_BYTES_MAX: usize = 256;
const WORDS_BYTES_MAX: usize = 64;

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let is_in_code = opening.is_in_fence || opening.is_quoted() || opening.is_in_code_span;
    let is_possible = match opening.first_char {
        't' => opening.is_at_line_start || opening.is_after_header,
        'c' | 'a' => opening.is_at_line_start,
        _ => false,
    };
    let may_open = is_possible && !is_in_code && opening.wrapper.is_none();
    (may_open && !opening.offered.is_empty()).then(|| {
        Box::new(StrippedHarmonyRecognizer {
            state: State::Header,
            arguments: JsonArguments::default(),
        }) as _
    })
}

#[derive(Debug)]
struct StrippedHarmonyRecognizer {
    state: State,
    arguments: JsonArguments,
}

/// Offsets are bytes of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Header,
    Name {
        start: usize,
    },
    Words {
        name_start: usize,
        name_end: usize,
    },
    Arguments {
        name_start: usize,
        name_end: usize,
        start: usize,
    },
}

impl Recognizer for StrippedHarmonyRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        match self.state {
            State::Header if is_complete_header(body) => {
                self.enter(State::Name { start: body.len() })
            }
            State::Header => match may_be_header(body) {
                true => Advance::Hold,
                false => Advance::Reject,
            },
            State::Name { start } if c == '{' || c == '<' || c.is_whitespace() => {
                match tool_name(&body[start..char_start], offered) {
                    Some(name) => {
                        let (name_start, name_end) = (start, start + name.len());
                        self.state = State::Words {
                            name_start,
                            name_end,
                        };
                        self.step_words(c, body, char_start)
                    }
                    None => Advance::Reject,
                }
            }
            State::Name { start } if body.len() - start > NAME_BYTES_MAX => Advance::Reject,
            State::Name { .. } => Advance::Hold,
            State::Words { .. } => self.step_words(c, body, char_start),
            State::Arguments { .. } => match self.arguments.push(c, body) {
                JsonProgress::Incomplete => Advance::Hold,
                JsonProgress::EndedBefore(_) => Advance::Reject,
                JsonProgress::Complete => match self.parse_call(body, body.len(), offered) {
                    Some(form) => Advance::Found(form),
                    None => Advance::Text,
                },
            },
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let json_end =
            matches!(self.state, State::Arguments { .. }).then(|| self.arguments.end(body));
        json_end
            .flatten()
            .map_or(0, |json_end| body.len() - json_end)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        if !matches!(self.state, State::Arguments { .. }) {
            return None;
        }
        match self.arguments.end(body) {
            Some(json_end) => self.parse_call(body, json_end, offered),
            None if end == FormEnd::Stream => {
                let call = json_call::unusable_call(body.trim_end(), json_call::CUT_OFF);
                Some(RecognizedForm::Calls(vec![call]))
            }
            None => None,
        }
    }
}

impl StrippedHarmonyRecognizer {
    fn enter(&mut self, state: State) -> Advance {
        self.state = state;
        Advance::Hold
    }

    fn step_words(&mut self, c: char, body: &str, char_start: usize) -> Advance {
        let State::Words {
            name_start,
            name_end,
        } = self.state
        else {
            return Advance::Reject;
        };
        let before = &body[name_end..char_start];
        if c == '{' && after_words(before).is_empty() {
            self.arguments.push(c, body);
            let start = char_start;
            return self.enter(State::Arguments {
                name_start,
                name_end,
                start,
            });
        }
        let rest = after_words(&body[name_end..]);
        let may_continue = WORDS.split(' ').any(|word| word.starts_with(rest));
        match may_continue && body.len() - name_end <= WORDS_BYTES_MAX {
            true => Advance::Hold,
            false => Advance::Reject,
        }
    }

    fn parse_call(&self, body: &str, end: usize, offered: &Toolset) -> Option<RecognizedForm> {
        let State::Arguments {
            name_start,
            name_end,
            start,
        } = self.state
        else {
            return None;
        };
        let (arguments, was_repaired) = JsonArguments::parse(body[start..end].trim());
        let call = ParsedCall {
            raw: body[..end].trim_end(),
            server: None,
            name: &body[name_start..name_end],
            arguments,
            form: FORM,
            was_repaired,
            has_end: true,
            is_unmistakable: true,
        };
        json_call::resolve_call(call, offered).map(|event| RecognizedForm::Calls(vec![event]))
    }
}

fn is_complete_header(body: &str) -> bool {
    HEADERS
        .split('|')
        .any(|header| body.strip_prefix(header) == Some(RECIPIENT))
}

fn may_be_header(body: &str) -> bool {
    HEADERS
        .split('|')
        .any(|header| match body.strip_prefix(header) {
            Some(rest) => RECIPIENT.starts_with(rest),
            None => header.starts_with(body),
        })
}

/// The name of an offered tool at the start of `text`, which may end with a channel.
fn tool_name<'a>(text: &'a str, offered: &Toolset) -> Option<&'a str> {
    let without_channel = CHANNELS
        .iter()
        .filter_map(|channel| text.strip_suffix(channel));
    let mut names = std::iter::once(text).chain(without_channel);
    names.find(|name| offered.resolve(None, name) != ToolLookup::Unknown)
}

/// The text after whitespace and [`WORDS`].
fn after_words(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(after) = WORDS.split(' ').find_map(|word| rest.strip_prefix(word)) {
        rest = after.trim_start();
    }
    rest
}
