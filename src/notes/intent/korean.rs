//! The Korean phrases: usually the topic, then the notes, then the verb. They are parsed from the
//! end.

use super::NoteIntent;
use super::korean_create::{create_in_notes, with_leading_style};
use super::korean_lookalikes::{DESCRIPTIONS, FLAWS};
use super::korean_parts::*;
use super::korean_spacing::separate_words;
use super::korean_style::{Styled, strip_leading_style, strip_style};
use super::korean_words::*;

pub(super) fn parse(sentence: &str) -> Option<NoteIntent> {
    let separated = separate_words(sentence);
    let mut sentence = separated.as_str();
    while let Some(rest) = strip_any_prefix(sentence, POLITE) {
        sentence = rest.trim_start();
    }
    let Styled { text, style } = strip_leading_style(sentence);
    let intent = create_in_notes(text)
        .or_else(|| find(text))
        .or_else(|| summarize(text))?;
    Some(with_leading_style(intent, &style))
}

fn find(sentence: &str) -> Option<NoteIntent> {
    let whether = strip_request(sentence, &FIND_WHETHER);
    let whether = whether.and_then(|text| strip_any(text, WHETHER));
    let query = match (whether, strip_request(sentence, &FIND)) {
        (Some(text), _) => query_of_existence(text),
        (None, Some(text)) => query_of_request(text),
        (None, None) => query_of_existence(strip_any(sentence, EXISTENCE_QUESTIONS)?),
    };
    Some(NoteIntent::Find { query: query? })
}

fn query_of_request(text: &str) -> Option<String> {
    if let Some(text) = after_in_notes(text) {
        return topic_in_notes(text).filter(|topic| !starts_with_any(topic, FLAWS));
    }
    if let Some(topic) = topic_of_own_writing(text) {
        return Some(topic);
    }
    let text = strip_any(text, CONTENT).unwrap_or(text);
    topic_before_notes(without_owner(strip_any(text, NOTES)?), false)
}

/// The query of `홍차 노트 (있어)` and `노트에 홍차 내용 (있어)`.
fn query_of_existence(text: &str) -> Option<String> {
    let without_any = text.strip_prefix("어떤 ").unwrap_or(text);
    if let Some(text) = after_at_notes(without_any) {
        let text = PASSAGES.iter().find_map(|passage| {
            let text = without_particle(text, "이", "가").unwrap_or(text);
            strip_any(text, &[passage])
        });
        return topic_in_notes(text?);
    }
    let text = strip_any(text, WHERE).unwrap_or(text);
    let text = strip_any(text, NOTES_AS_SUBJECT)?;
    let is_described = DESCRIPTIONS.iter().any(|end| text.ends_with(end));
    topic_before_notes(without_owner(text), is_described)
}

/// The topic of `내가 홍차에 대해 쓴 거` and `홍차에 대해 내가 쓴 거`.
fn topic_of_own_writing(text: &str) -> Option<String> {
    let text = strip_any(without_object_particle(text), WRITINGS)?;
    let text = strip_any(text, WRITTEN)?;
    topic(strip_any(without_me(text)?, ABOUT)?)
}

/// The text without `내가` at its beginning or end; `None` if it is at neither.
fn without_me(text: &str) -> Option<&str> {
    strip_any(text, ME).or_else(|| {
        ME.iter()
            .find_map(|me| text.strip_prefix(me)?.strip_prefix(' '))
    })
}

/// The text without words such as `내` or `내가 쓴` at its beginning.
fn without_owner(text: &str) -> &str {
    let rest = OWN
        .iter()
        .find_map(|own| text.strip_prefix(own)?.strip_prefix(' '));
    rest.unwrap_or(text)
}

fn summarize(sentence: &str) -> Option<NoteIntent> {
    if let Some(intent) = content_question(sentence) {
        return Some(intent);
    }
    let summary = strip_request(sentence, &SUMMARIZE);
    let content =
        || strip_request(sentence, &TELL).filter(|text| strip_any(text, CONTENT).is_some());
    let style = strip_style(summary.or_else(content)?);
    let (text, style) = (style.text, style.style_text());
    if let Some(topic) = topic_of_own_writing(text) {
        return Some(NoteIntent::SummarizeTopic { topic, style });
    }
    if let Some(text) = after_in_notes(text) {
        let inner = strip_leading_style(text);
        let topic = topic_in_notes(inner.text)?;
        let intent = NoteIntent::SummarizeTopic { topic, style };
        return Some(with_leading_style(intent, &inner.style));
    }
    let text = strip_any(text, CONTENT).unwrap_or(text);
    let text = text.strip_suffix("의").unwrap_or(text);
    let text = strip_any(text, NOTES)?;
    if OPEN.contains(&text) {
        return Some(NoteIntent::SummarizeOpenNote { style });
    }
    let before_notes = strip_style(text);
    let topic = topic_before_notes(without_owner(before_notes.text), false)?;
    let intent = NoteIntent::SummarizeTopic { topic, style };
    Some(with_leading_style(intent, &before_notes.style))
}

fn content_question(sentence: &str) -> Option<NoteIntent> {
    let style = String::new();
    let text = strip_any(sentence, WRITING_QUESTIONS).and_then(without_me);
    if let Some(text) = text {
        let topic = topic(strip_about(text)?)?;
        return Some(NoteIntent::SummarizeTopic { topic, style });
    }
    let text = strip_any(sentence, CONTENT_QUESTIONS)?;
    if let Some(text) = after_at_notes(text).filter(|text| !text.is_empty()) {
        let topic = topic(strip_about(text)?)?;
        return Some(NoteIntent::SummarizeTopic { topic, style });
    }
    // `홍차에 대해 내 노트에 뭐라고 써 있어?`
    let before_notes = strip_any(text, AT_NOTES).or_else(|| strip_any(text, IN_NOTES));
    let before_owner = before_notes.map(|text| strip_any(text, OWN).unwrap_or(text));
    if let Some(topic) = before_owner.and_then(strip_about).and_then(topic) {
        return Some(NoteIntent::SummarizeTopic { topic, style });
    }
    let text = strip_any(text, OPEN_NOTE_AS_TOPIC)?;
    OPEN.contains(&text)
        .then_some(NoteIntent::SummarizeOpenNote { style })
}

/// The text after `내 노트에` or `내 노트에서`.
fn after_at_notes(text: &str) -> Option<&str> {
    after_own_notes(text, AT_NOTES).or_else(|| after_in_notes(text))
}

/// The topic of `홍차를`, `홍차에 대해` and `홍차에 대한 내용을`.
fn topic_in_notes(text: &str) -> Option<String> {
    let text = without_object_particle(text);
    let text = strip_about(text).unwrap_or_else(|| {
        let content = strip_any(text, PASSAGES);
        content.and_then(strip_about).unwrap_or(text)
    });
    topic(text)
}
