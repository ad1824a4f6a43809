//! gpt-oss's messages (DIALECTS 32, 37): a header of special tokens in any order,
//! `<|channel|>analysis to=functions.f<|message|>`, and what it is the header of: a
//! call, thinking, or an answer. The tokens around an answer are text until a
//! header was seen, and in code always.

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
/// What ends a message.
const ENDS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];
const ROLE: &str = "assistant";
const CHANNELS: [&str; 3] = ["analysis", "commentary", "final"];
const RECIPIENT: &str = "to=";
const HEADER_BYTES_MAX: usize = 512;
/// Words such as `json` beside a channel or a recipient.
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
    let at = match opening.marker {
        '<' => HarmonyState::Token { start: 0 },
        // The role was in the prompt: the answer begins with the recipient.
        't' if opening.at_stream_start && !opening.offered.is_empty() => HarmonyState::Word {
            start: 0,
            first: false,
        },
        _ => return None,
    };
    Some(Box::new(HarmonyRecognizer {
        state: at,
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
    /// The token before.
    last: &'static str,
    /// Where the header ends.
    header: usize,
    body: JsonArguments,
}

/// What of the message has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HarmonyState {
    Token {
        start: usize,
    },
    /// Behind a token or a word; `first` where a role or channel must follow.
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
    /// Arguments that are no JSON.
    NonJsonArguments,
}

impl Recognizer for HarmonyRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let here = body.len() - c.len_utf8();
        match self.state {
            HarmonyState::BeforeArguments if c == '{' => {
                self.body.push(c, body);
                self.hold(HarmonyState::Arguments)
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
                self.end_word(&body[start..here], first, c, here)
            }
            HarmonyState::Word { start, first } => {
                match may_be_word(&body[start..], self.last, first) {
                    true => Advance::Hold,
                    false => Advance::Reject,
                }
            }
            HarmonyState::Between { .. } if c == '<' => {
                self.hold(HarmonyState::Token { start: here })
            }
            HarmonyState::Between { .. } if c == ' ' => Advance::Hold,
            HarmonyState::Between { first } => match may_be_word(&body[here..], self.last, first) {
                true => self.hold(HarmonyState::Word { start: here, first }),
                false => Advance::Reject,
            },
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        let over = (self.state == HarmonyState::Arguments).then(|| self.body.end(body));
        over.flatten().map_or(0, |over| body.len() - over)
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let in_header = matches!(
            self.state,
            HarmonyState::Between { .. } | HarmonyState::Word { .. } | HarmonyState::Token { .. }
        );
        let complete = body.trim_end();
        if self.state == HarmonyState::Arguments
            && let Some(over) = self.body.end(body)
        {
            return self.read(body, over, offered, true);
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
    fn hold(&mut self, at: HarmonyState) -> Advance {
        self.state = at;
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
                START | CHANNEL => self.hold(HarmonyState::Between { first: true }),
                _ => self.hold(HarmonyState::Between { first: false }),
            };
        }
        let frames = opens && self.has_message_header;
        if frames && ENDS.contains(&part) {
            return Advance::Found(RecognizedForm::Delimiter);
        }
        let mut may = TOKENS.iter().chain(ENDS.iter().filter(|_| frames));
        match may.any(|token| token.starts_with(part)) {
            true => Advance::Hold,
            false => Advance::Reject,
        }
    }

    /// `c` ends the word.
    fn end_word(&mut self, word: &str, first: bool, c: char, here: usize) -> Advance {
        let is_whole = match self.last {
            START if first => word == ROLE,
            CHANNEL if first => CHANNELS.contains(&word),
            "" => word.len() > RECIPIENT.len() && word.starts_with(RECIPIENT),
            _ => true,
        };
        match c {
            _ if !is_whole || c == '\n' => Advance::Reject,
            '<' => self.hold(HarmonyState::Token { start: here }),
            _ => self.hold(HarmonyState::Between { first: false }),
        }
    }

    /// The header is complete.
    fn message(&mut self, body: &str, offered: &Toolset) -> Advance {
        self.header = body.len();
        if recipient(body).is_some() {
            if offered.is_empty() {
                return Advance::Text;
            }
            return self.hold(HarmonyState::BeforeArguments);
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

    /// The arguments end at `end`.
    fn read(
        &self,
        body: &str,
        end: usize,
        offered: &Toolset,
        whole: bool,
    ) -> Option<RecognizedForm> {
        let raw = body[..end].trim_end();
        let (arguments, repaired) = match body[self.header..end].trim() {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::parse(json),
        };
        let written = ParsedCall {
            raw,
            server: None,
            name: recipient(&body[..self.header])?,
            arguments,
            form: FORM,
            was_repaired: repaired,
            is_terminated: whole,
            unmistakable: true,
        };
        json_call::resolve_call(written, offered).map(|piece| RecognizedForm::Calls(vec![piece]))
    }
}

/// Whether `part` may begin a word behind `last`.
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

/// Whom the header is addressed to: a tool, named.
fn recipient(header: &str) -> Option<&str> {
    let at = header.find(RECIPIENT)?;
    let name = &header[at + RECIPIENT.len()..];
    let end = name.find(|c: char| c == '<' || c.is_whitespace());
    let name = &name[..end.unwrap_or(name.len())];
    (!name.is_empty() && name != ROLE && name != "user").then_some(name)
}
