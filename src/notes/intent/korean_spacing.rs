//! Inserts spaces that are often left out around the words for notes, as in `노트좀 만들어줘` and
//! `홍차에 대한노트 찾아줘`.

use super::korean_lookalikes::is_plain_topic;

const NOTES: &[&str] = &["노트", "메모"];
/// Endings of a word before the note.
const BEFORE_NOTES: &[&str] = &["대한", "관한", "관련", "관련된", "관련한"];
/// Particles directly after the word for note.
const PARTICLES: &[&str] = &["들을", "들", "를", ""];
/// Beginnings of words that may follow the note without a space.
const AFTER_NOTES: &[&str] = &[
    "좀", "하나", "만들", "작성", "써", "찾", "검색", "요약", "정리", "보여", "추가", "생성",
    "적어", "남겨", "있어", "있나", "있니", "부탁",
];
/// Nouns of requests, before `좀`.
const REQUEST_NOUNS: &[&str] = &["요약", "정리", "검색", "작성", "추가", "생성"];
const SOFTENERS: &[&str] = &["좀", "하나"];

/// Words that mark notes as the user's own, as in `내노트에서`.
const OWNERS: &[&str] = &["내", "제"];
/// Beginnings of words with `내` that name no owner, such as `내일` and `내과`.
const NOT_OWNED: &[&str] = &[
    "내가", "내각", "내공", "내과", "내관", "내구", "내국", "내년", "내달", "내담", "내력", "내륙",
    "내막", "내면", "내복", "내부", "내분", "내성", "내수", "내시", "내신", "내역", "내외", "내용",
    "내의", "내일", "내장", "내전", "내주", "내진", "내추", "내향", "내화",
];

/// Particles that make the notes the place to search.
const PLACE_PARTICLES: &[&str] = &["에서", "에"];
/// Particles after such a place, which are not topics.
const PARTICLES_AFTER_PLACE: &[&str] = &["는", "도", "만", "의", "나", "부터"];
/// Beginnings of verbs after a topic in the notes.
const VERBS_AFTER_TOPIC: &[&str] = &["찾", "검색", "요약", "정리", "있어", "있나", "있니"];

/// Maximum number of characters of a topic without spaces. A longer one is usually a clause.
const TOPIC_CHARS_MAX: usize = 10;

pub(super) fn separate_words(sentence: &str) -> String {
    let words = sentence.split_whitespace();
    let request = sentence.trim();
    if let Some(separated) = separate_request(request).or_else(|| separate_search(request)) {
        return separated;
    }
    let words = words.map(separate_word).collect::<Vec<_>>().join(" ");
    separate_place(&words).unwrap_or(words)
}

/// Separates the place from the topic, or the topic from the verb, in `내 노트에서정원 찾아줘` and `내
/// 노트에서 정원찾아줘`.
fn separate_place(sentence: &str) -> Option<String> {
    let mut words: Vec<&str> = sentence.split(' ').collect();
    let at = usize::from(OWNERS.contains(words.first()?));
    let place = words.get(at)?;
    let notes = NOTES.iter().find(|notes| place.starts_with(**notes))?;
    let end = notes.len()
        + place[notes.len()..]
            .starts_with("에서")
            .then_some("에서".len())?;
    let (place, topic) = place.split_at(end);
    let is_topic = |text: &str| {
        !text.is_empty()
            && text.chars().count() <= TOPIC_CHARS_MAX
            && text.chars().all(char::is_alphanumeric)
            && !PARTICLES_AFTER_PLACE.contains(&text)
            && !VERBS_AFTER_TOPIC.iter().any(|verb| text.starts_with(verb))
    };
    if is_topic(topic) {
        words.splice(at..=at, [place, topic]);
    } else if topic.is_empty() && words.len() == at + 2 {
        let last = words[at + 1];
        let verb_at = VERBS_AFTER_TOPIC.iter().filter_map(|verb| last.rfind(verb));
        let (topic, verb) = last.split_at(verb_at.max()?);
        if !is_topic(topic) {
            return None;
        }
        words.splice(at + 1.., [topic, verb]);
    } else {
        return None;
    }
    Some(words.join(" "))
}

/// Separates the topic from the note in a request without any spaces, such as `홍차노트찾아줘`. In a
/// request with spaces, `맥북노트` is a word.
fn separate_request(word: &str) -> Option<String> {
    let (topic, request) = NOTES.iter().find_map(|notes| {
        let at = word.rfind(notes)?;
        Some(word.split_at(at))
    })?;
    let separated = separate_word(request);
    let has_verb = separated != request;
    let is_topic = !topic.is_empty()
        && topic.chars().count() <= TOPIC_CHARS_MAX
        && topic.chars().all(char::is_alphanumeric);
    (has_verb && is_topic && is_plain_topic(topic))
        .then(|| format!("{} {separated}", separate_owner(topic)))
}

/// Separates the parts of a search in the notes without any spaces, such as `내노트에서정원찾아줘`.
fn separate_search(word: &str) -> Option<String> {
    let owner = OWNERS.iter().find(|owner| word.starts_with(**owner));
    let owner = owner.copied().unwrap_or_default();
    let rest = &word[owner.len()..];
    let notes = NOTES.iter().find(|notes| rest.starts_with(**notes))?;
    let rest = &rest[notes.len()..];
    let particle = PLACE_PARTICLES
        .iter()
        .find(|particle| rest.starts_with(**particle))?;
    let rest = &rest[particle.len()..];
    let verb_at = VERBS_AFTER_TOPIC.iter().filter_map(|verb| rest.rfind(verb));
    let (topic, verb) = rest.split_at(verb_at.max()?);
    let is_topic = !topic.is_empty()
        && topic.chars().count() <= TOPIC_CHARS_MAX
        && topic.chars().all(char::is_alphanumeric);
    is_topic.then(|| {
        format!("{owner} {notes}{particle} {topic} {verb}")
            .trim_start()
            .to_owned()
    })
}

/// Separates `내` from a topic of at least two characters, as in `내정원`.
fn separate_owner(topic: &str) -> String {
    match topic.strip_prefix('내') {
        Some(thing)
            if thing.chars().count() > 1
                && !NOT_OWNED.iter().any(|begin| topic.starts_with(begin)) =>
        {
            format!("내 {thing}")
        }
        _ => topic.to_owned(),
    }
}

fn separate_word(word: &str) -> String {
    let may_split = |at: &usize| {
        let before = &word[..*at];
        before.is_empty()
            || OWNERS.contains(&before)
            || BEFORE_NOTES.iter().any(|end| before.ends_with(end))
    };
    let notes = NOTES.iter().find_map(|notes| {
        let at = word.rfind(notes).filter(may_split)?;
        Some((at, at + notes.len()))
    });
    if let Some((start, end)) = notes {
        let (before, rest) = (&word[..start], &word[end..]);
        let particle = PARTICLES
            .iter()
            .find(|particle| rest.starts_with(**particle));
        let end = end + particle.map_or(0, |particle| particle.len());
        let after = &word[end..];
        let is_separate = AFTER_NOTES.iter().any(|begin| after.starts_with(begin));
        let (noun, after) = match is_separate {
            true => (&word[start..end], separate_softener(after)),
            false => (&word[start..], String::new()),
        };
        return [before, noun, &after].join(" ").trim().to_owned();
    }
    let noun = REQUEST_NOUNS.iter().find(|noun| word.starts_with(**noun));
    let after = noun.and_then(|noun| word.strip_prefix(noun));
    match (noun, after.filter(|after| after.starts_with('좀'))) {
        (Some(noun), Some(after)) => format!("{noun} {}", separate_softener(after)),
        _ => word.to_owned(),
    }
}

fn separate_softener(text: &str) -> String {
    let softener = SOFTENERS.iter().find(|word| text.starts_with(**word));
    let rest = softener.and_then(|softener| text.strip_prefix(softener));
    match (softener, rest) {
        (Some(softener), Some(rest)) if !rest.is_empty() => format!("{softener} {rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_spaces_around_the_korean_word_for_note_are_inserted() {
        for (given, expected) in [
            ("노트좀 만들어줘", "노트 좀 만들어줘"),
            ("노트좀만들어줘", "노트 좀 만들어줘"),
            ("메모하나 써줘", "메모 하나 써줘"),
            ("차에 대한노트를찾아줘", "차에 대한 노트를 찾아줘"),
            ("노트 요약좀 해줘", "노트 요약 좀 해줘"),
            ("요약좀해줘", "요약 좀 해줘"),
            ("홍차노트찾아줘", "홍차 노트 찾아줘"),
            ("홍차메모좀찾아줘", "홍차 메모 좀 찾아줘"),
            ("내정원노트찾아줘", "내 정원 노트 찾아줘"),
            ("내과진료노트찾아줘", "내과진료 노트 찾아줘"),
            ("내꿈노트찾아줘", "내꿈 노트 찾아줘"),
            ("내노트에서 홍차 찾아줘", "내 노트에서 홍차 찾아줘"),
            ("내노트에서정원찾아줘", "내 노트에서 정원 찾아줘"),
            ("내 노트에서정원 찾아줘", "내 노트에서 정원 찾아줘"),
            ("내노트에서 정원찾아줘", "내 노트에서 정원 찾아줘"),
            ("내 노트에서는 정원 찾아줘", "내 노트에서는 정원 찾아줘"),
            ("메모에정원있어", "메모에 정원 있어"),
            ("노트에서찾아줘", "노트에서찾아줘"),
            ("선물노트북찾아줘", "선물노트북찾아줘"),
            (
                "노트북 맥북노트 노트에서 메모해줘",
                "노트북 맥북노트 노트에서 메모해줘",
            ),
        ] {
            assert_eq!(separate_words(given), expected);
        }
    }
}
