//! Korean words that only sound like a topic of notes: references, messages to people, release notes,
//! products, music, paper, and proofreading.

/// Words that refer to something outside the prompt, so they are not a topic.
pub(super) const REFERENCES: &[&str] = &[
    "이",
    "그",
    "저",
    "내",
    "제",
    "너",
    "네",
    "나",
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
    "무슨",
];
/// Words before `노트` that select notes by something other than their topic.
pub(super) const NOT_TOPICS: &[&str] = &[
    "마지막",
    "최근",
    "가장 최근",
    "최신",
    "첫",
    "첫 번째",
    "두 번째",
    "지난",
    "오래된",
    "가장 오래된",
    "기존",
    "다른",
    "삭제된",
    "삭제한",
    "손글씨",
    "종이",
];
/// Beginnings that point to something outside the prompt.
pub(super) const DEMONSTRATIVES: &[&str] = &[
    "이 ",
    "그 ",
    "저 ",
    "위 ",
    "아래 ",
    "위에서",
    "앞에서",
    "방금",
    "아까",
    "지금까지",
    "우리가",
    "네가 ",
    "니가 ",
    "당신이 ",
    "이번 버전",
    "대화 내용",
];
/// Words for the conversation with the model, alone or after one of [`CONVERSATION_TIMES`].
pub(super) const CONVERSATIONS: &[&str] = &["대화", "대화 내용", "대화한 내용"];
pub(super) const CONVERSATION_TIMES: &[&str] = &[
    "어제", "오늘", "이번", "우리", "지난", "방금", "지금", "아까", "이전",
];
/// With the word for note, these name something else: release notes, products, games, music, paper.
pub(super) const COMPOUNDS: &[&str] = &[
    "릴리스",
    "릴리즈",
    "패치",
    "업데이트",
    "데스",
    "갤럭시",
    "맥북",
    "삼성",
    "포스트잇",
    "포스트 잇",
    "리듬게임",
    "리듬 게임",
    "음악",
    "악보",
    "피아노 악보",
    "도레미",
    "오선지",
    "건반",
    "향수",
    "탑",
    "미들",
    "베이스",
    "스티키",
    "접착",
    "기타 코드",
    "장조",
    "단조",
];
/// Words that suggest musical or paper notes anywhere in a topic.
pub(super) const LOOKALIKES: &[&str] = &[
    "도레미",
    "오선지",
    "포스트잇",
    "리듬게임",
    "리듬 게임",
    "음자리표",
];
/// Signs that the prompt refers to its own text, that the note is a message to a person, or that nothing
/// is to be saved.
pub(super) const TEXT_SIGNS: &[&str] = &[
    "이 글",
    "다음 글",
    "아래 글",
    "위 글",
    "텍스트에서",
    "글에서",
    "에게 ",
    "한테 ",
    "께 ",
    "지 말고",
    "저장하지",
    "저장 없이",
    ":",
];
/// Ends of a topic that describe a message on paper, not a note in the folder.
pub(super) const MESSAGE_ENDINGS: &[&str] = &[
    "붙일", "남길", "보낼", "전할", "드릴", "위한", "쓸", "쓰는", "줄", "적을",
];
/// Particles at the end of a bare topic that make it a place, a recipient or a companion.
pub(super) const NON_TOPIC_PARTICLES: &[&str] = &[
    "에",
    "에서",
    "에게",
    "한테",
    "께",
    "에다",
    "에다가",
    "와",
    "하고",
];
/// Beginnings of TOPIC in `노트에서 TOPIC 찾아줘` that ask for proofreading, not for a word.
pub(super) const FLAWS: &[&str] = &[
    "오타",
    "맞춤법",
    "오류",
    "틀린",
    "잘못된",
    "중복",
    "문법",
    "띄어쓰기",
    "비문",
    "반복되는",
];
/// Ends of a bare topic that only describe a note in general: `추천할 만한 노트 있어?`.
pub(super) const DESCRIPTIONS: &[&str] = &[
    "좋은",
    "예쁜",
    "싼",
    "만한",
    "추천할",
    "괜찮은",
    "쓸",
    "적을",
    "남는",
    "빈",
    "다른",
    "비싼",
];
/// Ends of a topic that are the first of two requests: `홍차 찾아서 번역해줘`.
pub(super) const STEPS: &[&str] = &["찾아서", "검색해서", "모아서", "골라서", "읽고", "보고"];
/// Ends of nouns whose last syllable is not the particle `이`: `고양이라는` is `고양이` and `라는`.
pub(super) const NOUNS_IN_I: &[&str] = &[
    "고양이",
    "어린이",
    "호랑이",
    "볶이",
    "팡이",
    "팽이",
    "원숭이",
    "거북이",
    "걸이",
    "놀이",
    "종이",
    "풀이",
    "맞이",
    "벌이",
    "꽂이",
    "둥이",
    "쟁이",
    "구이",
    "튀김이",
    "사이",
    "차이",
    "아이",
    "나이",
    "오이",
    "먹이",
    "길이",
    "높이",
    "넓이",
    "깊이",
    "파이",
];
/// Places in a topic that mean another folder or an existing file.
pub(super) const OTHER_DESTINATIONS: &[&str] = &[
    "폴더에 ",
    "폴더 안에 ",
    "파일에 ",
    "문서에 ",
    "노트에 ",
    "메모에 ",
    "목록에 ",
    "일기에 ",
    "일지에 ",
    "리드미에 ",
    ".md에 ",
    ".markdown에 ",
    ".txt에 ",
];
/// Ends of a topic without spaces that refers to a text or describes the note.
const UNSPACED_ENDS: &[&str] = &[
    "내용",
    "답변",
    "대답",
    "대화",
    "글",
    "코드",
    "결과",
    "회의록",
    "텍스트",
    "요약",
    "설명",
    "는",
    "던",
    "된",
    "한",
    "쓴",
    "모든",
    "전체",
    "앱",
];
/// Beginnings of such a topic that point to something outside the prompt.
const UNSPACED_BEGINNINGS: &[&str] = &[
    "이거",
    "이것",
    "이내용",
    "이글",
    "그거",
    "그것",
    "그내용",
    "위의",
    "위에",
    "위내용",
    "아래",
    "방금",
    "아까",
    "지금까지",
    "우리가",
    "네가",
    "니가",
    "내가",
    "새로",
    "어제",
    "오늘",
    "너의",
    "당신",
    "나의",
    "그사람",
    "이사람",
    "저사람",
];

/// Whether nothing in a topic that is written without spaces rules it out.
pub(super) fn is_plain_topic(topic: &str) -> bool {
    let ends = [
        UNSPACED_ENDS,
        COMPOUNDS,
        MESSAGE_ENDINGS,
        DESCRIPTIONS,
        NOT_TOPICS,
    ];
    let has_excluded_ending = ends
        .iter()
        .any(|ends| ends.iter().any(|end| topic.ends_with(end)));
    let points_outside = UNSPACED_BEGINNINGS
        .iter()
        .any(|start| topic.starts_with(start));
    let is_message = ["에게", "한테"]
        .iter()
        .any(|particle| topic.contains(particle));
    !(has_excluded_ending || points_outside || is_message)
}
