//! Korean requests for a new note: the topic, then the note, then the verb, or the topic last.

use super::NoteIntent;
use super::korean_lookalikes::OTHER_DESTINATIONS;
use super::korean_parts::*;
use super::korean_style::{Styled, strip_leading_style, strip_style};
use super::korean_words::*;

const CREATE: Verb = Verb {
    stems: &[
        "만들어",
        "작성해",
        "작성 해",
        "작성 좀 해",
        "생성해",
        "생성 해",
        "추가해",
        "추가 해",
        "적어",
        "써",
    ],
    nouns: &["작성을", "작성", "생성을", "생성", "추가를", "추가"],
    bare_nouns: &[],
};
/// Phrases that name the notes folder as the place for a new note.
const DESTINATIONS: &[&str] = &[
    "내 노트 폴더에",
    "노트 폴더에",
    "내 노트함에",
    "노트함에",
    "내 노트에",
    "제 노트에",
    "노트에",
    "내 메모장에",
    "메모장에",
    "내 메모에",
    "메모에",
    "내 볼트에",
    "볼트에",
    "내 보관함에",
    "보관함에",
    "내 vault에",
    "vault에",
];
/// Words before `노트` that become part of the style.
const NOTE_STYLES: &[&str] = &["긴", "자세한", "상세한", "꼼꼼한", "체계적인"];
/// The note is part of the verb: `홍차에 대해 메모해줘`.
const NOTE_DOWN: Verb = Verb {
    stems: &["메모해", "메모 해", "메모 좀 해", "노트해"],
    nouns: &[],
    bare_nouns: &[],
};
/// These create a note only if the prompt connects a topic to it, as in `홍차에 대한 메모 남겨줘`.
const KEEP: Verb = Verb {
    stems: &["저장해", "남겨", "기록해", "적어둬", "적어 둬"],
    nouns: &[],
    bare_nouns: &[],
};
/// In `홍차에 대해 노트로 작성해줘`.
const AS_NOTE: &[&str] = &["노트로", "메모로"];
/// Endings of words before [`AS_NOTE`] that mean existing text.
const TEXTS: &[&str] = &[
    "내용",
    "답변",
    "대답",
    "답",
    "대화",
    "글",
    "코드",
    "결과",
    "회의록",
    "텍스트",
    "요약",
    "설명",
    "이야기",
    "얘기",
    "것",
    "거",
    "말",
    "메일",
    "문서",
    "기사",
    "영상",
    "파일",
    "사진",
    "목록",
    "표",
    "강의",
];
const ORGANIZE: Verb = Verb {
    stems: &["정리해", "정리 해", "정리 좀 해"],
    nouns: &["정리를", "정리"],
    bare_nouns: &[],
};
/// Endings of a topic to write about, as opposed to existing text.
const SUBJECT_ENDS: &[&str] = &[
    "장단점",
    "장점",
    "단점",
    "차이",
    "차이점",
    "방법",
    "는 법",
    "원리",
    "종류",
    "특징",
    "역사",
    "개념",
    "기초",
    "문법",
    "사용법",
    "활용법",
    "요령",
    "원인",
    "효과",
    "효능",
    "절차",
    "규칙",
    "유래",
    "용어",
    "공식",
    "명령어",
    "단축키",
    "준비물",
];
/// Beginnings of words in such a topic that point to existing text.
const MATERIALS: &[&str] = &[
    "내용",
    "답변",
    "대답",
    "대화",
    "코드",
    "결과",
    "회의",
    "텍스트",
    "이야기",
    "얘기",
    "메일",
    "문서",
    "기사",
    "영상",
    "파일",
    "사진",
    "목록",
    "강의",
    "수업",
    "논문",
    "첨부",
    "교재",
    "책",
    "링크",
    "자료",
    "우리",
    "오늘",
    "어제",
    "여기",
    "위의",
    "아래",
    "다음",
    "앞",
];
/// Verbs that refer to statements in the conversation.
const SAID: &[&str] = &[
    "말한",
    "설명한",
    "알려준",
    "이야기한",
    "얘기한",
    "말해준",
    "나온",
    "나눈",
    "했던",
];
/// Introduces the topic after a request for a note.
const TOPIC_INTRODUCTIONS: &[&str] = &[
    "주제는 ",
    "주제: ",
    "주제 : ",
    "제목은 ",
    "제목: ",
    "제목 : ",
];
/// Ends of a topic after [`TOPIC_INTRODUCTIONS`].
const COPULAS: &[&str] = &["입니다", "이에요", "예요", "으로 해줘", "로 해줘"];

/// The folder of notes may be named as the place of a new note; another place is left to the model.
pub(super) fn create_in_notes(sentence: &str) -> Option<NoteIntent> {
    let place = DESTINATIONS
        .iter()
        .find_map(|place| sentence.strip_prefix(place)?.strip_prefix(' '));
    let Styled { text, style } = strip_leading_style(place.unwrap_or(sentence).trim_start());
    let intent = with_leading_style(create(text)?, &style);
    let is_elsewhere = matches!(&intent, NoteIntent::Create { topic, .. }
        if OTHER_DESTINATIONS.iter().any(|place| topic.contains(place)));
    (!is_elsewhere).then_some(intent)
}

fn create(sentence: &str) -> Option<NoteIntent> {
    if let Some((request, text)) = sentence.split_once(':') {
        let style = strip_style(strip_request(request.trim_end(), &CREATE)?);
        let before_notes = strip_any(style.text, NOTES)?;
        let has_no_topic = SIZES.contains(&before_notes) || before_notes.is_empty();
        let topic = topic(text.trim()).filter(|_| has_no_topic)?;
        let style = style.style_text();
        return Some(NoteIntent::Create { topic, style });
    }
    if let Some(intent) = create_with_topic_after(sentence) {
        return Some(intent);
    }
    if let Some(text) = strip_request(sentence, &SUMMARIZE) {
        let about = strip_any(text, AS_NOTE).map(strip_style);
        return match about.and_then(note_about) {
            Some(intent) => Some(intent),
            None => organize_as_note(strip_request(sentence, &ORGANIZE)?),
        };
    }
    if let Some(text) = strip_request(sentence, &NOTE_DOWN) {
        return note_about(strip_style(text));
    }
    let text = strip_request(sentence, &CREATE);
    if let Some(intent) = text.and_then(write_as_note) {
        return Some(intent);
    }
    let text = text.or_else(|| strip_order(sentence));
    let needs_about = text.is_none();
    let text = text.or_else(|| strip_request(sentence, &KEEP));
    let text = text.or_else(|| strip_any(sentence, REQUEST_VERBS))?;
    let Styled { text, style } = strip_style(text);
    let object = strip_any(text, NOTES)?;
    let object = strip_any(object, SIZES).unwrap_or(object);
    let note_style = NOTE_STYLES
        .iter()
        .find(|style| strip_any(object, &[style]).is_some());
    let object = note_style.map_or(object, |style| object.strip_suffix(style).unwrap_or(object));
    let object = strip_any(object.trim_end(), SIZES).unwrap_or(object.trim_end());
    let before_notes = strip_style(object);
    let topic = topic_before_notes(before_notes.text, needs_about)?;
    let styles = before_notes.style.into_iter();
    let styles = styles.chain(note_style.copied()).chain(style);
    let style = styles.collect::<Vec<_>>().join(", ");
    Some(NoteIntent::Create { topic, style })
}

/// A note whose topic follows the request: `노트 만들어줘, 주제는 홍차`.
fn create_with_topic_after(sentence: &str) -> Option<NoteIntent> {
    let (request, text) = TOPIC_INTRODUCTIONS
        .iter()
        .find_map(|introduction| sentence.split_once(introduction))?;
    let request = request.trim_end().trim_end_matches([',', '.', '!']);
    let request = strip_request(request, &CREATE).or_else(|| strip_order(request))?;
    let style = strip_style(request);
    let before_notes = strip_any(style.text, NOTES)?;
    let has_no_topic = SIZES.contains(&before_notes) || before_notes.is_empty();
    let text = COPULAS
        .iter()
        .find_map(|end| text.strip_suffix(end))
        .or_else(|| without_connection(text, "이야", "야"))
        .unwrap_or(text);
    let topic = topic(text.trim()).filter(|_| has_no_topic)?;
    let style = style.style_text();
    Some(NoteIntent::Create { topic, style })
}

/// A request to write about a topic as a note: `홍차 끓이는 법을 노트로 작성해줘`. Existing text, such as the
/// conversation, is not a topic.
fn write_as_note(text: &str) -> Option<NoteIntent> {
    as_note(text, |topic| {
        !TEXTS.iter().any(|noun| topic.ends_with(noun))
    })
}

/// Like [`write_as_note`], for `정리해줘`. That usually refers to existing text, so the topic must end
/// with one of [`SUBJECT_ENDS`], as in `재택근무 장단점 노트로 정리해줘`.
fn organize_as_note(text: &str) -> Option<NoteIntent> {
    as_note(text, |topic| {
        let is_about_subject = SUBJECT_ENDS.iter().any(|end| topic.ends_with(end));
        let mut words = topic.split(' ');
        let names_material = words.any(|word| MATERIALS.iter().any(|noun| word.starts_with(noun)));
        is_about_subject && !names_material && !SAID.iter().any(|verb| topic.contains(verb))
    })
}

fn as_note(text: &str, accepts: impl Fn(&str) -> bool) -> Option<NoteIntent> {
    let style = strip_style(text);
    let before_notes = strip_style(strip_any(style.text, AS_NOTE)?);
    let text = before_notes.text;
    let text = strip_about(text).unwrap_or_else(|| without_object_particle(text));
    let topic = topic(text).filter(|_| accepts(text))?;
    let styles = before_notes.style.into_iter().chain(style.style);
    let style = styles.collect::<Vec<_>>().join(", ");
    Some(NoteIntent::Create { topic, style })
}

/// The text before `하나 부탁해`.
fn strip_order(sentence: &str) -> Option<&str> {
    let text = strip_any(sentence, REQUEST_VERBS)?;
    strip_any(text, MODIFIERS)
}

/// A note whose topic is followed by `에 대해`.
fn note_about(request: Styled<'_>) -> Option<NoteIntent> {
    let topic = topic(strip_about(request.text)?)?;
    let style = request.style_text();
    Some(NoteIntent::Create { topic, style })
}

/// Puts `leading`, the style found at the beginning of a request, before the other style of the
/// request. A search has no style.
pub(super) fn with_leading_style(mut intent: NoteIntent, leading: &[&str]) -> NoteIntent {
    if let NoteIntent::Create { style, .. }
    | NoteIntent::SummarizeOpenNote { style }
    | NoteIntent::SummarizeTopic { style, .. } = &mut intent
    {
        let parts = leading.iter().copied().chain([style.as_str()]);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        *style = parts.join(", ");
    }
    intent
}
