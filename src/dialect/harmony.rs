//! The messages of gpt-oss (Harmony): a header of special tokens in any order, such as
//! `<|channel|>analysis to=functions.f<|message|>`, followed by a call, thinking or an answer.
//! Before the first header, and always in code, tokens around an answer are plain text.

use super::invalid_json::JsonProgress;
use super::json_arguments::JsonArguments;
use super::json_call::{self, ParsedCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer, ThinkingEnd,
};
use crate::domain::Toolset;
use serde_json::Value;

const FORM: &str = "Harmony";
const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const CONSTRAIN: &str = "<|constrain|>";
const MESSAGE: &str = "<|message|>";
const HEADER_TOKENS: [&str; 4] = [START, CHANNEL, CONSTRAIN, MESSAGE];
const END_TOKENS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];
const ROLE: &str = "assistant";
const CHANNELS: [&str; 3] = ["analysis", "commentary", "final"];
const RECIPIENT_PREFIX: &str = "to=";
const HEADER_BYTES_MAX: usize = 512;
/// Maximum length of a word such as `json` after a channel or recipient.
const WORD_CHARS_MAX: usize = 16;

const THINKING_END: &ThinkingEnd = &ThinkingEnd {
    tags: &END_TOKENS,
    reread: &[START, CHANNEL],
};

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let is_in_code = opening.is_in_fence || opening.is_quoted() || opening.is_in_code_span;
    if is_in_code || opening.wrapper.is_some() {
        return None;
    }
    let state = match opening.first_char {
        '<' => HarmonyState::Token { start: 0 },
        // If the prompt ended with the role, the reply begins with the recipient.
        't' if opening.is_at_stream_start && !opening.offered.is_empty() => HarmonyState::Word {
            start: 0,
            is_first: false,
        },
        _ => return None,
    };
    Some(Box::new(HarmonyRecognizer {
        state,
        has_message_header: opening.has_message_header,
        last_token: "",
        header_end: 0,
        arguments: JsonArguments::default(),
    }))
}

#[derive(Debug)]
struct HarmonyRecognizer {
    state: HarmonyState,
    /// An earlier message had a header.
    has_message_header: bool,
    /// The previous token; empty if there is none.
    last_token: &'static str,
    header_end: usize,
    arguments: JsonArguments,
}

/// Offsets are bytes of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HarmonyState {
    Token {
        start: usize,
    },
    /// After a token or word. `expects_first` if the token requires a role or a channel as the
    /// first word after it.
    Between {
        expects_first: bool,
    },
    /// In a word. `is_first` if it must be the role or channel that the token requires.
    Word {
        start: usize,
        is_first: bool,
    },
    /// The header of a call is complete.
    BeforeArguments,
    Arguments,
    NonJsonArguments,
}

impl Recognizer for HarmonyRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        match self.state {
            HarmonyState::BeforeArguments if c == '{' => {
                self.arguments.push(c, body);
                self.enter(HarmonyState::Arguments)
            }
            HarmonyState::BeforeArguments if c.is_whitespace() => Advance::Hold,
            HarmonyState::Arguments => match self.arguments.push(c, body) {
                JsonProgress::Incomplete => Advance::Hold,
                JsonProgress::EndedBefore(_) => Advance::Reject,
                JsonProgress::Complete => self.end_call(body, body.len(), offered),
            },
            HarmonyState::BeforeArguments | HarmonyState::NonJsonArguments => {
                self.state = HarmonyState::NonJsonArguments;
                match END_TOKENS.iter().find(|end| body.ends_with(*end)) {
                    Some(end) => self.end_call(body, body.len() - end.len(), offered),
                    None => Advance::Hold,
                }
            }
            _ if body.len() > HEADER_BYTES_MAX => Advance::Reject,
            HarmonyState::Token { start } => self.step_token(&body[start..], body, offered),
            HarmonyState::Word { start, is_first } if c == '<' || c.is_whitespace() => {
                self.end_word(&body[start..char_start], is_first, c, char_start)
            }
            HarmonyState::Word { start, is_first } => {
                match may_be_word(&body[start..], self.last_token, is_first) {
                    true => Advance::Hold,
                    false => Advance::Reject,
                }
            }
            HarmonyState::Between { .. } if c == '<' => {
                self.enter(HarmonyState::Token { start: char_start })
            }
            HarmonyState::Between { .. } if c == ' ' => Advance::Hold,
            HarmonyState::Between { expects_first } => {
                match may_be_word(&body[char_start..], self.last_token, expects_first) {
                    true => self.enter(HarmonyState::Word {
                        start: char_start,
                        is_first: expects_first,
                    }),
                    false => Advance::Reject,
                }
            }
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let json_end = (self.state == HarmonyState::Arguments).then(|| self.arguments.end(body));
        json_end
            .flatten()
            .map_or(0, |json_end| body.len() - json_end)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let is_in_header = matches!(
            self.state,
            HarmonyState::Between { .. } | HarmonyState::Word { .. } | HarmonyState::Token { .. }
        );
        let trimmed = body.trim_end();
        if self.state == HarmonyState::Arguments
            && let Some(json_end) = self.arguments.end(body)
        {
            return self.parse_call(body, json_end, offered, true);
        }
        match end {
            _ if offered.is_empty() && !is_in_header || self.last_token.is_empty() => None,
            // The header of a message without a channel is only the role.
            FormEnd::Rejected => {
                let is_role_only = trimmed.strip_prefix(START) == Some(ROLE);
                (self.has_message_header && is_role_only).then_some(RecognizedForm::MessageHeader)
            }
            FormEnd::Stream if is_in_header && recipient(body).is_none() => self
                .has_message_header
                .then_some(RecognizedForm::MessageHeader),
            FormEnd::Stream if self.state == HarmonyState::NonJsonArguments => {
                match self.parse_call(body, body.len(), offered, false) {
                    Some(form) => Some(form),
                    None => cut_off_call(trimmed),
                }
            }
            FormEnd::Stream => cut_off_call(trimmed),
        }
    }
}

fn cut_off_call(raw: &str) -> Option<RecognizedForm> {
    let call = json_call::unusable_call(raw, json_call::CUT_OFF);
    Some(RecognizedForm::Calls(vec![call]))
}

impl HarmonyRecognizer {
    fn enter(&mut self, state: HarmonyState) -> Advance {
        self.state = state;
        Advance::Hold
    }

    /// `text` is the token so far, at the end of `body`.
    fn step_token(&mut self, text: &str, body: &str, offered: &Toolset) -> Advance {
        let is_at_start = text.len() == body.len();
        if let Some(token) = HEADER_TOKENS.into_iter().find(|&token| token == text) {
            if is_at_start && !matches!(token, START | CHANNEL) {
                return Advance::Reject;
            }
            self.last_token = token;
            return match token {
                MESSAGE => self.end_header(body, offered),
                START | CHANNEL => self.enter(HarmonyState::Between {
                    expects_first: true,
                }),
                _ => self.enter(HarmonyState::Between {
                    expects_first: false,
                }),
            };
        }
        let may_end_message = is_at_start && self.has_message_header;
        if may_end_message && END_TOKENS.contains(&text) {
            return Advance::Found(RecognizedForm::Delimiter);
        }
        let end_tokens = END_TOKENS.iter().filter(|_| may_end_message);
        let mut candidates = HEADER_TOKENS.iter().chain(end_tokens);
        match candidates.any(|token| token.starts_with(text)) {
            true => Advance::Hold,
            false => Advance::Reject,
        }
    }

    /// Handles `c`, which ends the word.
    fn end_word(&mut self, word: &str, is_first: bool, c: char, char_start: usize) -> Advance {
        let is_expected = match self.last_token {
            START if is_first => word == ROLE,
            CHANNEL if is_first => CHANNELS.contains(&word),
            "" => word.len() > RECIPIENT_PREFIX.len() && word.starts_with(RECIPIENT_PREFIX),
            _ => true,
        };
        match c {
            _ if !is_expected || c == '\n' => Advance::Reject,
            '<' => self.enter(HarmonyState::Token { start: char_start }),
            _ => self.enter(HarmonyState::Between {
                expects_first: false,
            }),
        }
    }

    fn end_header(&mut self, body: &str, offered: &Toolset) -> Advance {
        self.header_end = body.len();
        if recipient(body).is_some() {
            if offered.is_empty() {
                return Advance::Text;
            }
            return self.enter(HarmonyState::BeforeArguments);
        }
        let channel = body.split_once(CHANNEL).map(|(_, rest)| rest.trim_start());
        Advance::Found(match channel {
            Some(rest) if rest.starts_with("analysis") => RecognizedForm::ThinkingStarts {
                until: THINKING_END,
            },
            _ => RecognizedForm::MessageHeader,
        })
    }

    fn end_call(&self, body: &str, arguments_end: usize, offered: &Toolset) -> Advance {
        match self.parse_call(body, arguments_end, offered, true) {
            Some(form) => Advance::Found(form),
            None => Advance::Text,
        }
    }

    fn parse_call(
        &self,
        body: &str,
        arguments_end: usize,
        offered: &Toolset,
        has_end: bool,
    ) -> Option<RecognizedForm> {
        let raw = body[..arguments_end].trim_end();
        let (arguments, was_repaired) = match body[self.header_end..arguments_end].trim() {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::parse(json),
        };
        let call = ParsedCall {
            raw,
            server: None,
            name: recipient(&body[..self.header_end])?,
            arguments,
            form: FORM,
            was_repaired,
            has_end,
            is_unmistakable: true,
        };
        json_call::resolve_call(call, offered).map(|event| RecognizedForm::Calls(vec![event]))
    }
}

/// Whether a word after `last_token` may begin with `prefix`.
fn may_be_word(prefix: &str, last_token: &str, is_first: bool) -> bool {
    match last_token {
        START if is_first => ROLE.starts_with(prefix),
        CHANNEL if is_first => {
            let mut channels = CHANNELS.iter();
            channels.any(|channel| channel.starts_with(prefix))
        }
        "" if prefix.len() < RECIPIENT_PREFIX.len() => RECIPIENT_PREFIX.starts_with(prefix),
        _ => {
            let is_plain_word = prefix.chars().count() <= WORD_CHARS_MAX
                && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric());
            RECIPIENT_PREFIX.starts_with(prefix)
                || prefix.starts_with(RECIPIENT_PREFIX)
                || is_plain_word && !last_token.is_empty()
        }
    }
}

fn recipient(header: &str) -> Option<&str> {
    let start = header.find(RECIPIENT_PREFIX)?;
    let name = &header[start + RECIPIENT_PREFIX.len()..];
    let end = name.find(|c: char| c == '<' || c.is_whitespace());
    let name = &name[..end.unwrap_or(name.len())];
    (!name.is_empty() && name != ROLE && name != "user").then_some(name)
}
