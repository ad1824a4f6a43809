//! The word lists of the Korean phrases. To add a verb, add its stem; to add a way to connect a topic
//! with its notes, add it to [`ABOUT`] or [`PARTICLE_CONNECTIONS`].

/// Endings of a request. A bare stem is a request, too, so one ending is empty.
pub(super) const REQUEST_ENDINGS: &[&str] = &[
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
    "봐줄 수 있을까요",
    "봐줄 수 있어요",
    "봐줄 수 있어",
    "봐 주실래요",
    "봐주실래요",
    "봐 줄래요",
    "봐줄래요",
    "봐 줄래",
    "봐줄래",
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
/// The ways to ask for one action.
pub(super) struct Verb {
    /// Verb stems, which precede a request ending.
    pub(super) stems: &'static [&'static str],
    /// Nouns for `NOUN 부탁해`.
    pub(super) nouns: &'static [&'static str],
    /// Nouns that are a request even without a verb.
    pub(super) bare_nouns: &'static [&'static str],
}
pub(super) const FIND: Verb = Verb {
    stems: &["찾아", "검색해", "검색 해", "검색 좀 해", "보여"],
    nouns: &["검색을", "검색"],
    bare_nouns: &["검색", "찾기"],
};
/// For `홍차 노트 있는지 알려줘`.
pub(super) const FIND_WHETHER: Verb = Verb {
    stems: &["찾아", "검색해", "알려", "확인해"],
    nouns: &["확인"],
    bare_nouns: &[],
};
pub(super) const WHETHER: &[&str] = &["있는지"];
pub(super) const SUMMARIZE: Verb = Verb {
    stems: &[
        "요약해",
        "요약 해",
        "요약 좀 해",
        "정리해",
        "정리 해",
        "정리 좀 해",
    ],
    nouns: &["요약을", "요약", "정리를", "정리"],
    bare_nouns: &["요약"],
};
/// Asks for the content of notes.
pub(super) const TELL: Verb = Verb {
    stems: &["알려"],
    nouns: &[],
    bare_nouns: &[],
};
/// Requests with a noun, as in `요약 부탁해`.
pub(super) const REQUEST_VERBS: &[&str] = &[
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
/// Polite beginnings, which do not change the request.
pub(super) const POLITE: &[&str] = &["혹시 ", "저기 ", "그럼 ", "저기, ", "혹시, "];
/// Words between the note and the verb that give an amount or soften the request.
pub(super) const MODIFIERS: &[&str] = &[
    "하나만",
    "하나",
    "한번",
    "한 번",
    "한 개",
    "한개",
    "좀",
    "전부",
    "모두",
    "다",
];
/// Words that may follow a request without a verb, as in `이 노트 요약 좀`.
pub(super) const SOFTENERS: &[&str] = &["좀요", "좀"];
/// Words before `노트` that describe a new note and are dropped, because notes are short anyway.
pub(super) const SIZES: &[&str] = &["짧은", "간단한", "간략한", "새로운", "새"];
pub(super) const NOTES: &[&str] = &[
    "노트들을",
    "노트들",
    "노트를",
    "노트",
    "메모들을",
    "메모들",
    "메모를",
    "메모",
];
/// Words after `노트`, as in `노트 내용을 요약해줘` and `노트 목록 보여줘`.
pub(super) const CONTENT: &[&str] = &["의 내용을", "의 내용", "내용을", "내용", "목록을", "목록"];
pub(super) const IN_NOTES: &[&str] = &[
    "노트들 중에서",
    "노트들 중에",
    "노트 중에서",
    "노트 중에",
    "노트들에서",
    "노트에서는",
    "노트에서",
    "노트 안에서",
    "메모 중에서",
    "메모 중에",
    "메모에서는",
    "메모에서",
];
/// The notes as a place in a question: `노트에 홍차 내용 있어?`.
pub(super) const AT_NOTES: &[&str] = &[
    "노트들에는",
    "노트들에",
    "노트에는",
    "노트에",
    "메모에는",
    "메모에",
];
pub(super) const OWN: &[&str] = &[
    "내가 쓴",
    "제가 쓴",
    "내가 적은",
    "제가 적은",
    "내",
    "나의",
    "제",
    "모든",
    "전체",
];
pub(super) const ME: &[&str] = &["내가", "제가"];
/// Nouns for the user's writing, as in `내가 홍차에 대해 쓴 거`.
pub(super) const WRITINGS: &[&str] = &["거", "것", "것들", "거를", "걸", "내용", "글"];
/// Connects the topic to the note. An entry that ends with another one precedes it.
pub(super) const ABOUT: &[&str] = &[
    "에 대해서",
    "에 대한",
    "에 대해",
    "에 대하여",
    "에 관해서",
    "에 관하여",
    "에 관한",
    "에 관해",
    "에대해서",
    "에대한",
    "에대해",
    "에관한",
    "주제로",
    "주제의",
    "와 관련된",
    "과 관련된",
    "와 관련한",
    "과 관련한",
    "와 관련해서",
    "과 관련해서",
    "관련해서",
    "관련된",
    "관련한",
    "관련",
    "라는 제목의",
    "제목의",
    "제목으로",
];
/// Participles that may stand between [`ABOUT`] and the note, as in `홍차에 대해 쓴 노트`.
pub(super) const WRITTEN: &[&str] = &[
    "쓴",
    "적은",
    "적어둔",
    "적어 둔",
    "써둔",
    "써 둔",
    "적어놓은",
    "적어 놓은",
    "써놓은",
    "써 놓은",
    "기록해둔",
    "정리해둔",
    "작성한",
    "정리한",
    "기록한",
    "다룬",
    "다루는",
];
/// Connects the topic to the note: the particle after a consonant, the particle after a vowel, and the
/// words that may follow it.
pub(super) const PARTICLE_CONNECTIONS: &[(&str, &str, &[&str])] = &[
    (
        "이라는",
        "라는",
        &[
            "",
            "제목의",
            "제목으로",
            "이름의",
            "이름으로",
            "단어가 들어간",
            "단어가 있는",
            "말이 들어간",
            "단어",
            "말",
        ],
    ),
    ("이란", "란", &["제목의", "제목으로", "이름의", "이름으로"]),
    (
        "이",
        "가",
        &["언급된", "들어간", "포함된", "나오는", "적힌", "들어 있는"],
    ),
    (
        "을",
        "를",
        &[
            "주제로",
            "주제로 한",
            "주제로 해서",
            "언급한",
            "포함한",
            "다룬",
            "다루는",
        ],
    ),
];
/// Nouns for the passages to find, as in `노트에서 홍차에 대한 내용 찾아줘`.
pub(super) const PASSAGES: &[&str] = &[
    "내용",
    "이야기",
    "얘기",
    "부분",
    "글",
    "것",
    "거",
    "게",
    "메모",
    "정보",
];
/// Words before `노트` that refer to the open note.
pub(super) const OPEN: &[&str] = &[
    "이",
    "현재",
    "지금",
    "열린",
    "현재 열린",
    "지금 열린",
    "열려 있는",
    "지금 열려 있는",
    "현재 열려 있는",
    "열어둔",
    "보고 있는",
    "지금 보고 있는",
];
/// Endings of questions about whether a note exists.
pub(super) const EXISTENCE_QUESTIONS: &[&str] = &[
    "있을까요",
    "있을까",
    "있습니까",
    "있는지",
    "있었나",
    "있어요",
    "있나요",
    "있지",
    "있나",
    "있니",
    "있어",
    "어딨어요",
    "어딨어",
    "어딨지",
    "어딨나요",
];
pub(super) const WHERE: &[&str] = &["어디에", "어디"];
/// Words for notes before [`EXISTENCE_QUESTIONS`].
pub(super) const NOTES_AS_SUBJECT: &[&str] = &[
    "노트가",
    "노트는",
    "노트들",
    "노트",
    "메모가",
    "메모는",
    "메모",
];
/// Questions about the content of the open note, or of the notes on a topic.
pub(super) const CONTENT_QUESTIONS: &[&str] = &[
    "무슨 내용이야",
    "무슨 내용인가요",
    "무슨 내용이에요",
    "어떤 내용이야",
    "어떤 내용이에요",
    "뭐에 대한 거야",
    "뭐에 관한 거야",
    "뭐라고 써 있어",
    "뭐라고 써있어",
    "뭐라고 쓰여 있어",
    "뭐라고 적혀 있어",
    "뭐라고 적혀있어",
    "뭐라고 적혀 있지",
    "뭐라고 써 있지",
    "뭐라고 적었지",
    "뭐라고 썼지",
    "뭐라고 되어 있어",
    "뭐라고 나와 있어",
    "뭐라고 나와",
    "뭐라고 하지",
    "뭐라고 해",
];
pub(super) const OPEN_NOTE_AS_TOPIC: &[&str] = &[
    "노트에는",
    "노트에",
    "노트는",
    "노트",
    "메모에는",
    "메모에",
    "메모는",
    "메모",
];
/// Questions about the user's own writing, with [`ME`] before them or at the beginning.
pub(super) const WRITING_QUESTIONS: &[&str] = &[
    "뭐라고 썼지",
    "뭐라고 썼어",
    "뭐라고 썼더라",
    "뭐라고 적었지",
    "뭐라고 적었어",
    "뭐라고 적었더라",
    "뭐라고 적어놨지",
    "뭐라고 적어 놨지",
    "뭐라고 써놨지",
    "뭐라고 써 놨지",
    "뭐라고 적어뒀지",
    "뭐라고 적어 뒀지",
    "뭐라고 메모했지",
    "뭐라고 기록했지",
    "뭐라고 정리했지",
];
/// Beginnings and ends of a title before the note: `제목이 '홍차'인 노트`.
pub(super) const TITLE_BEGINNINGS: &[&str] = &["제목이 ", "제목을 ", "제목은 ", "이름이 "];
pub(super) const TITLE_ENDINGS: &[&str] = &["인", "로 해서", "로 하고", "로 하는", "로 한", "로"];
