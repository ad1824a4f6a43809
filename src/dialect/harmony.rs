//! gpt-oss messages (Harmony): a header of special tokens in any order, such as
//! `<|channel|>analysis to=functions.f<|message|>`, followed by a call, thinking or an answer.
//! Tokens around an answer are plain text until the first header, and always in code.

use super::json_arguments::JsonArguments;
use super::json_call::{self, ParsedCall};
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer, ThinkingEnd,
};
use super::unterminated_json::JsonProgress;
use crate::domain::Toolset;
use serde_json::Value;

const FORM: &str = "Harmony";
const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const CONSTRAIN: &str = "<|constrain|>";
const MESSAGE: &str = "<|message|>";
const TOKENS: [&str; 4] = [START, CHANNEL, CONSTRAIN, MESSAGE];
/// Tokens that end a message.
const ENDS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];
const ROLE: &str = "assistant";
const CHANNELS: [&str; 3] = ["analysis", "commentary", "final"];
const RECIPIENT: &str = "to=";
const HEADER_BYTES_MAX: usize = 512;
/// Maximum length of a word such as `json` after a channel or recipient.
const WORD_CHARS_MAX: usize = 16;

const THINKING: &ThinkingEnd = &ThinkingEnd {
    tags: &ENDS,
    reread: &[START, CHANNEL],
};

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let quoted = opening.is_in_fence || opening.is_quoted() || opening.is_in_code_span;
    if quoted || opening.wrapper.is_some() {
        return None;
    }
    let state = match opening.marker {
        '<' => HarmonyState::Token { start: 0 },
        // The role was part of the prompt, so the answer begins with the recipient.
        't' if opening.at_stream_start && !opening.offered.is_empty() => HarmonyState::Word {
            start: 0,
            first: false,
        },
        _ => return None,
    };
    Some(Box::new(HarmonyRecognizer {
        state,
        has_message_header: opening.has_message_header,
        last: "",
        header: 0,
        body: JsonArguments::default(),
    }))
}

#[derive(Debug)]
struct HarmonyRecognizer {
    state: HarmonyState,
    has_message_header: bool,
    /// The previous token.
    last: &'static str,
    /// End of the header in the body.
    header: usize,
    body: JsonArguments,
}

/// Progress within the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HarmonyState {
    Token {
        start: usize,
    },
    /// After a token or word; `first` if a role or channel must follow.
    Between {
        first: bool,
    },
    Word {
        start: usize,
        first: bool,
    },
    /// The header of a call is complete.
    BeforeArguments,
    Arguments,
    /// Arguments that are not JSON.
    NonJsonArguments,
}

impl Recognizer for HarmonyRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        match self.state {
            HarmonyState::BeforeArguments if c == '{' => {
                self.body.push(c, body);
                self.enter(HarmonyState::Arguments)
            }
            HarmonyState::BeforeArguments if c.is_whitespace() => Advance::Hold,
            HarmonyState::Arguments => match self.body.push(c, body) {
                JsonProgress::Incomplete => Advance::Hold,
                JsonProgress::EndedBefore(_) => Advance::Reject,
                JsonProgress::Complete => self.call(body, body.len(), offered),
            },
            HarmonyState::BeforeArguments | HarmonyState::NonJsonArguments => {
                self.state = HarmonyState::NonJsonArguments;
                match ENDS.iter().find(|end| body.ends_with(*end)) {
                    Some(end) => self.call(body, body.len() - end.len(), offered),
                    None => Advance::Hold,
                }
            }
            _ if body.len() > HEADER_BYTES_MAX => Advance::Reject,
            HarmonyState::Token { start } => self.in_token(&body[start..], body, offered),
            HarmonyState::Word { start, first } if c == '<' || c.is_whitespace() => {
                self.end_word(&body[start..char_start], first, c, char_start)
            }
            HarmonyState::Word { start, first } => {
                match may_be_word(&body[start..], self.last, first) {
                    true => Advance::Hold,
                    false => Advance::Reject,
                }
            }
            HarmonyState::Between { .. } if c == '<' => {
                self.enter(HarmonyState::Token { start: char_start })
            }
            HarmonyState::Between { .. } if c == ' ' => Advance::Hold,
            HarmonyState::Between { first } => {
                match may_be_word(&body[char_start..], self.last, first) {
                    true => self.enter(HarmonyState::Word {
                        start: char_start,
                        first,
                    }),
                    false => Advance::Reject,
                }
            }
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let json_end = (self.state == HarmonyState::Arguments).then(|| self.body.end(body));
        json_end
            .flatten()
            .map_or(0, |json_end| body.len() - json_end)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let in_header = matches!(
            self.state,
            HarmonyState::Between { .. } | HarmonyState::Word { .. } | HarmonyState::Token { .. }
        );
        let complete = body.trim_end();
        if self.state == HarmonyState::Arguments
            && let Some(json_end) = self.body.end(body)
        {
            return self.read(body, json_end, offered, true);
        }
        match end {
            _ if offered.is_empty() && !in_header || self.last.is_empty() => None,
            // A message without a channel.
            FormEnd::Rejected => {
                let plain = complete.strip_prefix(START) == Some(ROLE);
                (self.has_message_header && plain).then_some(RecognizedForm::MessageHeader)
            }
            FormEnd::Stream if in_header && recipient(body).is_none() => self
                .has_message_header
                .then_some(RecognizedForm::MessageHeader),
            FormEnd::Stream if self.state == HarmonyState::NonJsonArguments => {
                match self.read(body, body.len(), offered, false) {
                    Some(found) => Some(found),
                    None => cut_off_call(complete),
                }
            }
            FormEnd::Stream => cut_off_call(complete),
        }
    }
}

fn cut_off_call(raw: &str) -> Option<RecognizedForm> {
    let cut = json_call::unusable_call(raw, json_call::CUT_OFF);
    Some(RecognizedForm::Calls(vec![cut]))
}

impl HarmonyRecognizer {
    fn enter(&mut self, state: HarmonyState) -> Advance {
        self.state = state;
        Advance::Hold
    }

    fn in_token(&mut self, part: &str, body: &str, offered: &Toolset) -> Advance {
        let opens = part.len() == body.len();
        if let Some(token) = TOKENS.into_iter().find(|&token| token == part) {
            if opens && !matches!(token, START | CHANNEL) {
                return Advance::Reject;
            }
            self.last = token;
            return match token {
                MESSAGE => self.message(body, offered),
                START | CHANNEL => self.enter(HarmonyState::Between { first: true }),
                _ => self.enter(HarmonyState::Between { first: false }),
            };
        }
        let frames = opens && self.has_message_header;
        if frames && ENDS.contains(&part) {
            return Advance::Found(RecognizedForm::Delimiter);
        }
        let mut possible = TOKENS.iter().chain(ENDS.iter().filter(|_| frames));
        match possible.any(|token| token.starts_with(part)) {
            true => Advance::Hold,
            false => Advance::Reject,
        }
    }

    /// Handles `c`, which ends the word.
    fn end_word(&mut self, word: &str, first: bool, c: char, char_start: usize) -> Advance {
        let is_expected = match self.last {
            START if first => word == ROLE,
            CHANNEL if first => CHANNELS.contains(&word),
            "" => word.len() > RECIPIENT.len() && word.starts_with(RECIPIENT),
            _ => true,
        };
        match c {
            _ if !is_expected || c == '\n' => Advance::Reject,
            '<' => self.enter(HarmonyState::Token { start: char_start }),
            _ => self.enter(HarmonyState::Between { first: false }),
        }
    }

    /// Handles the end of the header.
    fn message(&mut self, body: &str, offered: &Toolset) -> Advance {
        self.header = body.len();
        if recipient(body).is_some() {
            if offered.is_empty() {
                return Advance::Text;
            }
            return self.enter(HarmonyState::BeforeArguments);
        }
        let channel = body.split_once(CHANNEL).map(|(_, rest)| rest.trim_start());
        Advance::Found(match channel {
            Some(rest) if rest.starts_with("analysis") => {
                RecognizedForm::ThinkingStarts { until: THINKING }
            }
            _ => RecognizedForm::MessageHeader,
        })
    }

    fn call(&self, body: &str, end: usize, offered: &Toolset) -> Advance {
        match self.read(body, end, offered, true) {
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// Parses the call, whose arguments end at `end`.
    fn read(
        &self,
        body: &str,
        end: usize,
        offered: &Toolset,
        is_terminated: bool,
    ) -> Option<RecognizedForm> {
        let raw = body[..end].trim_end();
        let (arguments, repaired) = match body[self.header..end].trim() {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::parse(json),
        };
        let call = ParsedCall {
            raw,
            server: None,
            name: recipient(&body[..self.header])?,
            arguments,
            form: FORM,
            was_repaired: repaired,
            is_terminated,
            unmistakable: true,
        };
        json_call::resolve_call(call, offered).map(|piece| RecognizedForm::Calls(vec![piece]))
    }
}

/// Whether `part` may begin a word after `last`.
fn may_be_word(part: &str, last: &str, first: bool) -> bool {
    match last {
        START if first => ROLE.starts_with(part),
        CHANNEL if first => CHANNELS.iter().any(|channel| channel.starts_with(part)),
        "" if part.len() < RECIPIENT.len() => RECIPIENT.starts_with(part),
        _ => {
            let is_plain = part.chars().count() <= WORD_CHARS_MAX
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
            RECIPIENT.starts_with(part)
                || part.starts_with(RECIPIENT)
                || is_plain && !last.is_empty()
        }
    }
}

/// The tool that the header addresses.
fn recipient(header: &str) -> Option<&str> {
    let start = header.find(RECIPIENT)?;
    let name = &header[start + RECIPIENT.len()..];
    let end = name.find(|c: char| c == '<' || c.is_whitespace());
    let name = &name[..end.unwrap_or(name.len())];
    (!name.is_empty() && name != ROLE && name != "user").then_some(name)
}
