//! Korean words that describe how to write, such as `짧게` and `세 줄로`. They are the style of a
//! request, wherever they appear in it: `짧게 홍차 노트 써줘`, `홍차 노트 짧게 써줘`.

use super::korean_parts::strip_any;
use super::korean_words::MODIFIERS;

const STYLES: &[&str] = &[
    "간단하게",
    "간단히",
    "간단명료하게",
    "간략하게",
    "간략히",
    "간결하게",
    "짧게",
    "너무 길지 않게",
    "길지 않게",
    "길게",
    "자세하게",
    "자세히",
    "상세하게",
    "상세히",
    "구체적으로",
    "꼼꼼하게",
    "꼼꼼히",
    "체계적으로",
    "깔끔하게",
    "알기 쉽게",
    "이해하기 쉽게",
    "보기 쉽게",
    "쉽게",
    "핵심만",
    "요점만",
    "중요한 것만",
    "영어로",
    "한국어로",
    "한글로",
    "일본어로",
    "중국어로",
    "프랑스어로",
    "독일어로",
    "스페인어로",
    "존댓말로",
    "반말로",
    "표로",
    "목록으로",
    "리스트로",
    "글머리표로",
    "글머리 기호로",
    "마크다운으로",
    "단계별로",
    "예시와 함께",
    "예제와 함께",
];
/// Words before a style that intensify it.
const DEGREES: &[&str] = &[
    "가능한 한",
    "최대한",
    "되도록",
    "조금 더",
    "좀 더",
    "아주",
    "매우",
    "더",
    "좀",
];
/// Units of a length, as in `세 줄로`.
const UNITS: &[&str] = &[
    "줄",
    "문장",
    "단어",
    "문단",
    "단락",
    "글자",
    "자",
    "가지",
    "마디",
    "페이지",
    "쪽",
];
const UNIT_ENDINGS: &[&str] = &["정도로", "이내로", "이하로", "으로", "로"];
const NUMBERS: &[&str] = &[
    "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "한두", "두세", "서너",
];
/// Maximum number of words of a style: a degree of up to two words, a number and its unit, as in
/// `가능한 한 세 줄로`.
const STYLE_WORDS_MAX: usize = 4;
/// Endings of a verb that describes the noun after it.
const VERB_ENDINGS: &[&str] = &[
    "는",
    "된",
    "쓴",
    "적은",
    "만든",
    "배운",
    "할",
    "정리한",
    "작성한",
    "요약한",
    "기록한",
    "설명한",
];
/// Activities in a language: `영어로 편지 쓰는 법` is a topic.
const LANGUAGE_ACTIVITIES: &[&str] = &[
    "말하",
    "대화",
    "인사",
    "소개",
    "일기",
    "이메일",
    "메일",
    "편지",
    "발표",
    "번역",
    "표현",
    "회화",
    "면접",
    "주문",
    "글쓰기",
    "에세이",
];

/// A text, and the style that was removed from it.
pub(super) struct Styled<'a> {
    pub(super) text: &'a str,
    pub(super) style: Vec<&'a str>,
}

impl Styled<'_> {
    pub(super) fn style_text(&self) -> String {
        self.style.join(", ")
    }
}

/// Removes styles and modifiers from the end.
pub(super) fn strip_style(mut text: &str) -> Styled<'_> {
    let mut style = Vec::new();
    loop {
        let shorter = strip_one_style(text).filter(|shorter| !shorter.is_empty());
        if let Some(shorter) = shorter {
            style.insert(0, text[shorter.len()..].trim());
            text = shorter;
        } else if let Some(shorter) = strip_any(text, MODIFIERS) {
            text = shorter;
        } else {
            return Styled { text, style };
        }
    }
}

/// Removes styles from the beginning, unless they describe a verb of the topic, as in
/// `쉽게 배우는 파이썬`.
pub(super) fn strip_leading_style(mut text: &str) -> Styled<'_> {
    let mut style = Vec::new();
    while let Some((first, rest)) = split_leading_style(text) {
        style.push(first);
        text = rest;
    }
    Styled { text, style }
}

fn split_leading_style(text: &str) -> Option<(&str, &str)> {
    let spaces = text.match_indices(' ').map(|(at, _)| at);
    let style_end = spaces
        .take(STYLE_WORDS_MAX)
        .find(|at| strip_one_style(&text[..*at]).is_some_and(str::is_empty))?;
    let (style, rest) = (&text[..style_end], text[style_end..].trim_start());
    let next = rest.split(' ').next().unwrap_or_default();
    let is_verb = VERB_ENDINGS.iter().any(|ending| next.ends_with(ending));
    let is_activity = style.ends_with("어로")
        && LANGUAGE_ACTIVITIES
            .iter()
            .any(|activity| rest.contains(activity));
    (!is_verb && !is_activity && !next.is_empty()).then_some((style, rest))
}

fn strip_one_style(text: &str) -> Option<&str> {
    let text = strip_any(text, STYLES).or_else(|| strip_length(text))?;
    Some(strip_any(text, DEGREES).unwrap_or(text))
}

/// Removes a length such as `세 줄로` and `200자 이내로`.
fn strip_length(text: &str) -> Option<&str> {
    let is_number = |c: char| c.is_ascii_digit();
    UNIT_ENDINGS.iter().find_map(|ending| {
        let text = text.strip_suffix(ending)?.trim_end();
        UNITS.iter().find_map(|unit| {
            let text = text.strip_suffix(unit)?.trim_end();
            let before = text.trim_end_matches(is_number);
            match before.len() < text.len() {
                true => Some(before.trim_end()),
                false => strip_any(text, NUMBERS),
            }
        })
    })
}
