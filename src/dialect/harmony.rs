//! gpt-oss's messages (DIALECTS 32, 37): a header of special tokens in any order,
//! `<|channel|>analysis to=functions.f<|message|>`, and what it is the header of: a
//! call, thinking, or an answer. The tokens around an answer are text until a
//! header was seen, and in code always.

use super::json_arguments::JsonArguments;
use super::json_call::{self, Written};
use super::recognizer::{Advance, Candidate, End, Match, Opening, Recognizer, ThinkingEnd};
use super::unterminated_json::Progress;
use crate::domain::Offered;
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

pub(super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    let quoted = opening.in_code || opening.quoted() || opening.in_span;
    if quoted || opening.wrapper.is_some() {
        return None;
    }
    let at = match opening.marker {
        '<' => At::Token { start: 0 },
        // The role was in the prompt: the answer begins with the recipient.
        't' if opening.at_stream_start && !opening.offered.is_empty() => At::Word {
            start: 0,
            first: false,
        },
        _ => return None,
    };
    Some(Box::new(Harmony {
        at,
        framed: opening.framed,
        last: "",
        header: 0,
        body: JsonArguments::default(),
    }))
}

#[derive(Debug)]
struct Harmony {
    at: At,
    framed: bool,
    /// The token before.
    last: &'static str,
    /// Where the header ends.
    header: usize,
    body: JsonArguments,
}

/// What of the message has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
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
    BeforeBody,
    Body,
    /// Arguments that are no JSON.
    OtherBody,
}

impl Recognizer for Harmony {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let here = body.len() - c.len_utf8();
        match self.at {
            At::BeforeBody if c == '{' => {
                self.body.push(c, body);
                self.hold(At::Body)
            }
            At::BeforeBody if c.is_whitespace() => Advance::Hold,
            At::Body => match self.body.push(c, body) {
                Progress::Goes => Advance::Hold,
                Progress::Over(_) => Advance::Reject,
                Progress::Ends => self.call(body, body.len(), offered),
            },
            At::BeforeBody | At::OtherBody => {
                self.at = At::OtherBody;
                match ENDS.iter().find(|end| body.ends_with(*end)) {
                    Some(end) => self.call(body, body.len() - end.len(), offered),
                    None => Advance::Hold,
                }
            }
            _ if body.len() > HEADER_BYTES_MAX => Advance::Reject,
            At::Token { start } => self.in_token(&body[start..], body, offered),
            At::Word { start, first } if c == '<' || c.is_whitespace() => {
                self.end_word(&body[start..here], first, c, here)
            }
            At::Word { start, first } => match may_be_word(&body[start..], self.last, first) {
                true => Advance::Hold,
                false => Advance::Reject,
            },
            At::Between { .. } if c == '<' => self.hold(At::Token { start: here }),
            At::Between { .. } if c == ' ' => Advance::Hold,
            At::Between { first } => match may_be_word(&body[here..], self.last, first) {
                true => self.hold(At::Word { start: here, first }),
                false => Advance::Reject,
            },
        }
    }

    fn again(&self, body: &str) -> usize {
        let over = (self.at == At::Body).then(|| self.body.over(body));
        over.flatten().map_or(0, |over| body.len() - over)
    }

    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        let in_header = matches!(
            self.at,
            At::Between { .. } | At::Word { .. } | At::Token { .. }
        );
        let complete = body.trim_end();
        if self.at == At::Body
            && let Some(over) = self.body.over(body)
        {
            return self.read(body, over, offered, true);
        }
        match end {
            _ if offered.is_empty() && !in_header || self.last.is_empty() => None,
            // A message without a channel.
            End::Rejected => {
                let plain = complete.strip_prefix(START) == Some(ROLE);
                (self.framed && plain).then_some(Match::Frames)
            }
            End::Stream if in_header && recipient(body).is_none() => {
                self.framed.then_some(Match::Frames)
            }
            End::Stream if self.at == At::OtherBody => {
                match self.read(body, body.len(), offered, false) {
                    Some(found) => Some(found),
                    None => cut_off(complete),
                }
            }
            End::Stream => cut_off(complete),
        }
    }
}

fn cut_off(raw: &str) -> Option<Match> {
    let cut = json_call::unusable(raw, json_call::CUT_OFF);
    Some(Match::Calls(vec![cut]))
}

impl Harmony {
    fn hold(&mut self, at: At) -> Advance {
        self.at = at;
        Advance::Hold
    }

    fn in_token(&mut self, part: &str, body: &str, offered: &Offered) -> Advance {
        let opens = part.len() == body.len();
        if let Some(token) = TOKENS.into_iter().find(|&token| token == part) {
            if opens && !matches!(token, START | CHANNEL) {
                return Advance::Reject;
            }
            self.last = token;
            return match token {
                MESSAGE => self.message(body, offered),
                START | CHANNEL => self.hold(At::Between { first: true }),
                _ => self.hold(At::Between { first: false }),
            };
        }
        let frames = opens && self.framed;
        if frames && ENDS.contains(&part) {
            return Advance::Found(Match::Closes);
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
            '<' => self.hold(At::Token { start: here }),
            _ => self.hold(At::Between { first: false }),
        }
    }

    /// The header is complete.
    fn message(&mut self, body: &str, offered: &Offered) -> Advance {
        self.header = body.len();
        if recipient(body).is_some() {
            if offered.is_empty() {
                return Advance::Text;
            }
            return self.hold(At::BeforeBody);
        }
        let channel = body.split_once(CHANNEL).map(|(_, rest)| rest.trim_start());
        Advance::Found(match channel {
            Some(rest) if rest.starts_with("analysis") => Match::ThinkingStarts { until: THINKING },
            _ => Match::Frames,
        })
    }

    fn call(&self, body: &str, end: usize, offered: &Offered) -> Advance {
        match self.read(body, end, offered, true) {
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// The arguments end at `end`.
    fn read(&self, body: &str, end: usize, offered: &Offered, whole: bool) -> Option<Match> {
        let raw = body[..end].trim_end();
        let (arguments, repaired) = match body[self.header..end].trim() {
            "" => (Ok(Value::Null), false),
            json => JsonArguments::read(json),
        };
        let written = Written {
            raw,
            server: None,
            name: recipient(&body[..self.header])?,
            arguments,
            form: FORM,
            repaired,
            whole,
            unmistakable: true,
        };
        json_call::written(written, offered).map(|piece| Match::Calls(vec![piece]))
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
