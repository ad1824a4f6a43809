//! The Korean phrases: the topic, followed by a fixed ending. They are parsed from the end.

use super::{NoteIntent, Topic};

/// Endings of a request, longest first. A bare stem is a request, too.
const REQUEST_ENDINGS: &[&str] = &[
    "주실 수 있을까요",
    "주실 수 있나요",
    "주실 수 있어요",
    "주실 수 있으세요",
    "줄 수 있을까요",
    "줄 수 있을까",
    "줄 수 있나요",
    "줄 수 있어요",
    "줄 수 있겠니",
    "줄 수 있니",
    "줄 수 있나",
    "줄 수 있어",
    "줄수있어요",
    "줄수있어",
    "봐 주세요",
    "봐주세요",
    "봐 줘",
    "봐줘",
    "보세요",
    "주실래요",
    "주시겠어요",
    "주시겠어",
    "주십시오",
    "주세요",
    "줄래요",
    "줄래",
    "줘요",
    "줘",
    "주라",
    "주겠니",
    "주겠어",
    "달라",
    "봐요",
    "봐",
    "라",
    "요",
    "",
];
const CREATE_STEMS: &[&str] = &[
    "만들어",
    "작성해",
    "작성 해",
    "생성해",
    "생성 해",
    "적어",
    "써",
];
const FIND_STEMS: &[&str] = &["찾아", "검색해", "검색 해", "보여"];
const SUMMARIZE_STEMS: &[&str] = &["요약해", "요약 해", "정리해", "정리 해"];
/// Requests with a noun, as in `요약 부탁해`.
const REQUEST_VERBS: &[&str] = &[
    "부탁드리겠습니다",
    "부탁드립니다",
    "부탁드릴게요",
    "부탁드려요",
    "부탁드려",
    "부탁합니다",
    "부탁할게요",
    "부탁할게",
    "부탁해요",
    "부탁해",
    "부탁",
];
const CREATE_NOUNS: &[&str] = &["작성을", "작성", "생성을", "생성"];
const FIND_NOUNS: &[&str] = &["검색을", "검색"];
const SUMMARIZE_NOUNS: &[&str] = &["요약을", "요약", "정리를", "정리"];
/// Polite beginnings, which do not change the request.
const POLITE: &[&str] = &["혹시 ", "저기 ", "그럼 ", "저기, ", "혹시, "];
/// Words between the note and the verb that give an amount or soften the request.
const MODIFIERS: &[&str] = &[
    "하나만",
    "하나",
    "한번",
    "한 번",
    "좀",
    "전부",
    "모두",
    "다",
];
const NOTES: &[&str] = &["노트들을", "노트들", "노트를", "노트", "메모를", "메모"];
const IN_NOTES: &[&str] = &["노트들에서", "노트에서", "메모에서"];
const OWN: &[&str] = &["내", "나의", "제"];
const SIZES: &[&str] = &["짧은", "간단한", "간략한", "새로운", "새"];
/// Connects the topic to the note, longest first.
const ABOUT: &[&str] = &[
    "에 대해서",
    "에 대한",
    "에 대해",
    "에 관해서",
    "에 관한",
    "에 관해",
    "에대해서",
    "에대한",
    "에대해",
    "에관한",
    "와 관련된",
    "과 관련된",
    "관련된",
    "관련",
];
/// Words before `노트` that refer to the open note.
const OPEN: &[&str] = &[
    "이",
    "현재",
    "지금",
    "열린",
    "현재 열린",
    "지금 열린",
    "열려 있는",
];
/// Questions whether there is a note, and the words for notes before them.
const EXISTENCE_QUESTIONS: &[&str] = &[
    "있을까요",
    "있을까",
    "있습니까",
    "있어요",
    "있나요",
    "있나",
    "있니",
    "있어",
];
const NOTES_AS_SUBJECT: &[&str] = &["노트가", "노트", "메모가", "메모"];
/// Questions about the content of the open note.
const CONTENT_QUESTIONS: &[&str] = &[
    "무슨 내용이야",
    "무슨 내용인가요",
    "무슨 내용이에요",
    "어떤 내용이야",
    "뭐에 대한 거야",
];
/// Words that refer to something outside the prompt, so they are no topic.
const REFERENCES: &[&str] = &[
    "이",
    "그",
    "저",
    "내",
    "제",
    "나의",
    "이것",
    "그것",
    "이거",
    "그거",
    "이 내용",
    "그 내용",
    "위",
    "위의",
    "위 내용",
    "아래",
    "다음",
    "이전",
    "모든",
    "전체",
    "새",
    "아무",
    "오늘의",
    "어떤",
];
/// Beginnings that point to something outside the prompt.
const DEMONSTRATIVES: &[&str] = &["이 ", "그 ", "저 ", "위에서", "방금", "지금까지", "우리가"];
/// With the word for note, these name something else: release notes, patch notes, products.
const COMPOUNDS: &[&str] = &["릴리스", "릴리즈", "패치", "업데이트", "데스", "갤럭시"];
/// Signs that the prompt contains or points to its own text.
const TEXT_SIGNS: &[&str] = &[
    "이 글",
    "다음 글",
    "아래 글",
    "위 글",
    "텍스트에서",
    "글에서",
    "에게 ",
    "한테 ",
    "께 ",
    ":",
];
/// Ends of a topic that describe a message on paper, not a note in the folder.
const MESSAGE_ENDINGS: &[&str] = &["붙일", "남길", "보낼", "전할", "드릴"];

pub(super) fn parse(sentence: &str) -> Option<NoteIntent> {
    let polite = POLITE.iter().find_map(|word| sentence.strip_prefix(word));
    let sentence = polite.unwrap_or(sentence).trim_start();
    if let Some(text) = strip_request(sentence, CREATE_STEMS, CREATE_NOUNS) {
        let topic = topic_of(strip_notes(text)?)?;
        return Some(NoteIntent::Create { topic });
    }
    if let Some(text) = strip_request(sentence, FIND_STEMS, FIND_NOUNS) {
        let query = topic_in_notes(text).or_else(|| topic_of(strip_notes(text)?))?;
        return Some(NoteIntent::Find { query });
    }
    let before_question = strip_any(sentence, EXISTENCE_QUESTIONS);
    if let Some(text) = before_question.and_then(|text| strip_any(text, NOTES_AS_SUBJECT)) {
        let query = strip_any(text, ABOUT).and_then(topic)?;
        return Some(NoteIntent::Find { query });
    }
    if let Some(text) = strip_any(sentence, CONTENT_QUESTIONS) {
        let text = strip_any(text, &["노트는", "노트", "메모는", "메모"])?;
        return OPEN
            .contains(&text)
            .then_some(NoteIntent::SummarizeOpenNote);
    }
    let text = strip_request(sentence, SUMMARIZE_STEMS, SUMMARIZE_NOUNS)?;
    if let Some(topic) = topic_in_notes(text) {
        return Some(NoteIntent::SummarizeTopic { topic });
    }
    let text = strip_notes(text)?;
    if OPEN.contains(&text) {
        return Some(NoteIntent::SummarizeOpenNote);
    }
    let topic = topic_of(text)?;
    Some(NoteIntent::SummarizeTopic { topic })
}

/// Removes the verb of a request and the modifier before it.
fn strip_request<'a>(sentence: &'a str, stems: &[&str], nouns: &[&str]) -> Option<&'a str> {
    let with_stem = REQUEST_ENDINGS.iter().find_map(|ending| {
        let text = sentence.strip_suffix(ending)?.trim_end();
        stems.iter().find_map(|stem| text.strip_suffix(stem))
    });
    let with_noun = || {
        let text = strip_any(sentence, REQUEST_VERBS)?;
        let text = strip_any(text, MODIFIERS).unwrap_or(text);
        nouns.iter().find_map(|noun| text.strip_suffix(noun))
    };
    // The verb must be a separate word.
    let text = with_stem.or_else(with_noun)?;
    let text = text.strip_suffix(char::is_whitespace)?.trim_end();
    Some(strip_any(text, MODIFIERS).unwrap_or(text))
}

/// Removes the word for notes, which must be separate from the topic.
fn strip_notes(text: &str) -> Option<&str> {
    strip_any(text, NOTES)
}

/// The topic of `내 노트에서 TOPIC을`.
fn topic_in_notes(text: &str) -> Option<String> {
    let own = OWN
        .iter()
        .find_map(|own| text.strip_prefix(own)?.strip_prefix(' '));
    let text = own.unwrap_or(text);
    let rest = IN_NOTES.iter().find_map(|notes| text.strip_prefix(notes))?;
    let rest = rest.strip_prefix(' ')?.trim();
    let rest = strip_any(rest, ABOUT).unwrap_or(rest);
    topic(without_object_particle(rest))
}

/// The topic of `TOPIC에 대한 짧은`, `TOPIC에 대한 내` and of `TOPIC` alone.
fn topic_of(text: &str) -> Option<String> {
    let text = strip_any(text, SIZES).unwrap_or(text);
    let text = strip_any(text, OWN).unwrap_or(text);
    topic(strip_any(text, ABOUT).unwrap_or(text))
}

fn topic(text: &str) -> Option<String> {
    let topic = Topic::parse(text)?;
    let text = topic.text.as_str();
    let refers = REFERENCES.contains(&text)
        || COMPOUNDS.contains(&text)
        || DEMONSTRATIVES.iter().any(|start| text.starts_with(start))
        || MESSAGE_ENDINGS.iter().any(|end| text.ends_with(end));
    let has_own_text = TEXT_SIGNS.iter().any(|sign| topic.text.contains(sign));
    let is_topic = topic.is_quoted || !(refers || has_own_text || topic.has_second_sentence());
    is_topic.then_some(topic.text)
}

/// Removes the first of the suffixes that matches. A suffix must follow a space or be the whole text,
/// unless it begins with a particle, which follows the topic directly.
fn strip_any<'a>(text: &'a str, suffixes: &[&str]) -> Option<&'a str> {
    suffixes.iter().find_map(|suffix| {
        let rest = text.strip_suffix(suffix)?;
        let is_particle = suffix.starts_with(['에', '와', '과']);
        let is_separate = rest.is_empty() || rest.ends_with(char::is_whitespace);
        (is_particle || is_separate).then(|| rest.trim_end())
    })
}

/// Removes `을` after a syllable with a final consonant and `를` after one without. `가을` is a
/// word, because `가` has none.
fn without_object_particle(text: &str) -> &str {
    let mut chars = text.chars();
    let Some(particle) = chars.next_back() else {
        return text;
    };
    let before = chars.as_str();
    let has_final_consonant = match before.chars().next_back() {
        Some(syllable @ '가'..='힣') => (u32::from(syllable) - u32::from('가')) % 28 != 0,
        _ => return text,
    };
    match (particle, has_final_consonant) {
        ('을', true) | ('를', false) => before,
        _ => text,
    }
}
