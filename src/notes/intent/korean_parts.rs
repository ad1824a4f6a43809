//! Takes Korean requests apart, beginning at their end: verbs, particles, and the words that connect
//! a topic with its notes.

use super::korean_lookalikes::*;
use super::korean_words::*;
use super::topic::RequestTopic;

/// Removes the verb of a request and the modifiers before it.
pub(super) fn strip_request<'a>(sentence: &'a str, verb: &Verb) -> Option<&'a str> {
    let with_stem = REQUEST_ENDINGS.iter().find_map(|ending| {
        let text = sentence.strip_suffix(ending)?.trim_end();
        verb.stems.iter().find_map(|stem| text.strip_suffix(stem))
    });
    let with_noun = || {
        let text = strip_any(sentence, REQUEST_VERBS)?;
        let text = strip_any(text, MODIFIERS).unwrap_or(text);
        verb.nouns.iter().find_map(|noun| text.strip_suffix(noun))
    };
    let bare = || {
        let text = strip_any(sentence, SOFTENERS).unwrap_or(sentence);
        verb.bare_nouns
            .iter()
            .find_map(|noun| text.strip_suffix(noun))
    };
    // The verb must be a separate word.
    let text = with_stem.or_else(with_noun).or_else(bare)?;
    let mut text = text.strip_suffix(char::is_whitespace)?.trim_end();
    while let Some(shorter) = strip_any(text, MODIFIERS) {
        text = shorter;
    }
    Some(text)
}

/// The text after `내 노트에서`.
pub(super) fn after_in_notes(text: &str) -> Option<&str> {
    after_own_notes(text, IN_NOTES)
}

pub(super) fn after_own_notes<'a>(text: &'a str, notes: &[&str]) -> Option<&'a str> {
    let own = OWN
        .iter()
        .find_map(|own| text.strip_prefix(own)?.strip_prefix(' '));
    let text = own.unwrap_or(text);
    let rest = notes.iter().find_map(|notes| text.strip_prefix(notes))?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim())
}

/// The topic of `홍차에 대한`, `홍차에 대한 내` and, unless `needs_about`, of `홍차`.
pub(super) fn topic_before_notes(text: &str, needs_about: bool) -> Option<String> {
    let text = strip_any(text, SIZES).unwrap_or(text);
    let text = strip_any(text, OWN).unwrap_or(text);
    if let Some(text) = strip_about(text) {
        return topic(text);
    }
    let is_compound = COMPOUNDS
        .iter()
        .any(|word| strip_any(text, &[word]).is_some());
    let is_place = NON_TOPIC_PARTICLES
        .iter()
        .any(|particle| text.ends_with(particle));
    let topic = topic(text)?;
    (!needs_about && !is_compound && !is_place).then_some(topic)
}

/// Removes the words that connect a topic to the notes about it.
pub(super) fn strip_about(text: &str) -> Option<&str> {
    let written = strip_any(text, WRITTEN).and_then(|text| strip_any(text, ABOUT));
    let written = written.map(|text| text.strip_prefix("내가 ").unwrap_or(text));
    written
        .or_else(|| strip_title(text))
        .or_else(|| strip_connection(text))
        .or_else(|| strip_any(text, ABOUT))
}

/// The title in `제목이 '홍차'인 노트` and `제목을 '홍차'로 해서 노트 …`.
pub(super) fn strip_title(text: &str) -> Option<&str> {
    let text = strip_any_prefix(text, TITLE_BEGINNINGS)?;
    let text = TITLE_ENDINGS
        .iter()
        .find_map(|end| text.strip_suffix(end))?;
    Some(text.strip_suffix("으").unwrap_or(text))
}

/// Removes the particle between a topic and the note, and the words after the particle.
pub(super) fn strip_connection(text: &str) -> Option<&str> {
    PARTICLE_CONNECTIONS
        .iter()
        .find_map(|(after_consonant, after_vowel, rests)| {
            rests.iter().find_map(|rest| {
                let text = text.strip_suffix(rest)?.trim_end();
                without_connection(text, after_consonant, after_vowel)
            })
        })
}

/// Removes a particle that may be confused with the last syllable of a noun.
pub(super) fn without_connection<'a>(
    text: &'a str,
    after_consonant: &str,
    after_vowel: &str,
) -> Option<&'a str> {
    let noun = text.strip_suffix(after_vowel);
    let ends_in_i = |noun: &&str| NOUNS_IN_I.iter().any(|end| noun.ends_with(end));
    noun.filter(ends_in_i)
        .or_else(|| without_particle(text, after_consonant, after_vowel))
}

pub(super) fn strip_any_prefix<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))
}

/// The text as a topic. `None` if it refers to other text or is more than a topic, unless it is in
/// quotation marks.
pub(super) fn topic(text: &str) -> Option<String> {
    let topic = RequestTopic::parse(text)?;
    let text = topic.text.as_str();
    let is_conversation = CONVERSATIONS.iter().any(|word| {
        let before = strip_any(text, &[word]);
        before.is_some_and(|before| CONVERSATION_TIMES.contains(&before) || before.is_empty())
    });
    let is_reference = REFERENCES.contains(&text)
        || NOT_TOPICS.contains(&text)
        || is_conversation
        || starts_with_any(text, DEMONSTRATIVES)
        || MESSAGE_ENDINGS
            .iter()
            .any(|end| strip_any(text, &[end]).is_some());
    let is_first_step = STEPS.iter().any(|step| text.ends_with(step));
    let is_excluded = is_reference || is_first_step || topic.has_second_sentence();
    let signs = TEXT_SIGNS.iter().chain(LOOKALIKES);
    let has_sign = signs.into_iter().any(|sign| text.contains(sign));
    let is_topic = topic.is_quoted || !(is_excluded || has_sign);
    is_topic.then_some(topic.text)
}

pub(super) fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| text.starts_with(start))
}

/// Removes the first of the suffixes that matches. A suffix must follow a space or be the whole text,
/// unless it begins with a particle, which follows the topic directly.
pub(super) fn strip_any<'a>(text: &'a str, suffixes: &[&str]) -> Option<&'a str> {
    suffixes.iter().find_map(|suffix| {
        let rest = text.strip_suffix(suffix)?;
        let is_particle = suffix.starts_with(['에', '와', '과', '의']);
        let is_separate = rest.is_empty() || rest.ends_with(char::is_whitespace);
        (is_particle || is_separate).then(|| rest.trim_end())
    })
}

/// Removes an object particle. Keeps `가을`, because `을` never follows a vowel such as that of `가`.
pub(super) fn without_object_particle(text: &str) -> &str {
    without_particle(text, "을", "를").unwrap_or(text)
}

/// Removes a particle that has one form after a final consonant and another after a vowel.
pub(super) fn without_particle<'a>(
    text: &'a str,
    after_consonant: &str,
    after_vowel: &str,
) -> Option<&'a str> {
    let ends_with_consonant = |text: &str| match text.chars().next_back() {
        Some(syllable @ '가'..='힣') => Some((u32::from(syllable) - u32::from('가')) % 28 != 0),
        _ => None,
    };
    // After other characters, such as digits and quotation marks, either form is taken as a particle.
    let consonant = text.strip_suffix(after_consonant);
    let consonant = consonant.filter(|text| ends_with_consonant(text) != Some(false));
    let vowel = text.strip_suffix(after_vowel);
    let vowel = vowel.filter(|text| ends_with_consonant(text) != Some(true));
    let found = consonant.or(vowel)?;
    (!found.is_empty()).then_some(found)
}
