//! Prompts that note agents recognize, and others that look like them.

use super::*;

fn create(topic: &str) -> Option<NoteIntent> {
    let (topic, style) = (topic.to_owned(), String::new());
    Some(NoteIntent::Create { topic, style })
}

fn find(query: &str) -> Option<NoteIntent> {
    let query = query.to_owned();
    Some(NoteIntent::Find { query })
}

fn topic(topic: &str) -> Option<NoteIntent> {
    let (topic, style) = (topic.to_owned(), String::new());
    Some(NoteIntent::SummarizeTopic { topic, style })
}

const OPEN: Option<NoteIntent> = Some(NoteIntent::SummarizeOpenNote {
    style: String::new(),
});

fn check(cases: impl IntoIterator<Item = (&'static str, Option<NoteIntent>)>) {
    for (prompt, expected) in cases {
        assert_eq!(NoteIntent::of_prompt(prompt), expected, "{prompt}");
    }
}

#[test]
fn prompts_that_create_notes_are_recognized() {
    check([
        ("create a note on routers", create("routers")),
        (
            "Create a short note on Machine Learning: Basics",
            create("Machine Learning: Basics"),
        ),
        ("make a note about X", create("X")),
        ("MAKE NOTE ABOUT tides.", create("tides")),
        ("Write a note on \"Dr. Who\".", create("Dr. Who")),
        ("write note on Dr. Who", create("Dr. Who")),
        (
            "Please write a brief note about the moon",
            create("the moon"),
        ),
        (
            "Could you create a new short note about C++?",
            create("C++"),
        ),
        (
            "can you make me a quick note on tea, please?",
            create("tea"),
        ),
        (
            "create a note on “quantum mechanics”",
            create("quantum mechanics"),
        ),
        ("양자 역학에 대한 노트 만들어줘", create("양자 역학")),
        (
            "양자 역학에 대한 짧은 노트를 하나 만들어 줘.",
            create("양자 역학"),
        ),
        ("커피에 대해서 노트 써줘", create("커피")),
        ("'커피'에 관한 노트를 작성해 주세요!", create("커피")),
        ("회의 노트 만들어줘", create("회의")),
        ("Rust에 대해 메모 적어줘", create("Rust")),
        // Decomposed, as some systems type it.
        (
            "\u{110e}\u{1161}\u{110b}\u{1166} \u{1103}\u{1162}\u{1112}\u{1161}\u{11ab} 노트 만들어줘",
            create("차"),
        ),
    ]);
}

#[test]
fn prompts_that_find_notes_are_recognized() {
    check([
        ("find notes about routers", find("routers")),
        ("Find my notes on routers?", find("routers")),
        (
            "find me all notes about 'the old router'",
            find("the old router"),
        ),
        ("search my notes for Wi-Fi password", find("Wi-Fi password")),
        ("Search notes for tea", find("tea")),
        ("search through my notes for tea", find("tea")),
        ("search for notes about tea", find("tea")),
        ("show me notes on X", find("X")),
        ("show me the notes about X.", find("X")),
        ("which notes talk about X?", find("X")),
        ("Which of my notes mention the router?", find("the router")),
        ("what notes do I have about taxes?", find("taxes")),
        ("do I have any notes on taxes", find("taxes")),
        ("공유기 노트 찾아줘", find("공유기")),
        ("공유기에 대한 노트 찾아줘", find("공유기")),
        ("공유기 관련 노트 검색해줘", find("공유기")),
        ("내 노트에서 비밀번호를 찾아줘", find("비밀번호")),
        ("노트에서 가을 검색해 주세요", find("가을")),
        ("세금에 대한 노트 있어?", find("세금")),
    ]);
}

#[test]
fn prompts_that_summarize_notes_are_recognized() {
    check([
        ("summarize this note", OPEN),
        ("Summarise the current note.", OPEN),
        ("summarize current note", OPEN),
        ("give me a summary of this note", OPEN),
        ("Give me summary of the current note?", OPEN),
        ("what is this note about", OPEN),
        ("What’s this note about?", OPEN),
        ("이 노트 요약해줘", OPEN),
        ("이 노트를 요약해 주세요.", OPEN),
        ("현재 노트 좀 요약해줘", OPEN),
        ("이 노트는 무슨 내용이야?", OPEN),
        ("summarize my notes on X", topic("X")),
        ("summarize notes about X", topic("X")),
        (
            "Summarise all my notes about 'router setup'.",
            topic("router setup"),
        ),
        ("give me a summary of my notes on X", topic("X")),
        ("what do my notes say about X?", topic("X")),
        ("What do the notes say about the moon", topic("the moon")),
        ("공유기에 대한 노트 요약해줘", topic("공유기")),
        ("커피에 대한 내 노트들을 요약해줘", topic("커피")),
        ("내 노트에서 커피를 요약해줘", topic("커피")),
    ]);
}

#[test]
fn prompts_that_are_no_request_about_notes_go_to_the_model() {
    let long = format!("create a note on {}", "tea ".repeat(80));
    assert_eq!(NoteIntent::of_prompt(&long), None);
    for prompt in [
        "How would I make a note about X in Emacs?",
        "find notes about X in this text: the notes are A and B",
        "find notes about X: A, B",
        "Find notes about cats in the following list",
        "create a note on X\nIt should say that Y.",
        "Create a note on tea. Then translate it.",
        "I want to create a note on tea",
        "Why does create a note on X fail?",
        "make a note about this",
        "make a note about it",
        "create a note",
        "create a note on",
        "create a note on ...",
        "create a notebook about tea",
        "write a note to Bob about tea",
        "write a function that can create a note on X",
        "find notes",
        "search my notes",
        "which notes are in a C major chord?",
        "show me notes of the C major scale",
        "summarize this note: milk, eggs and bread are missing",
        "summarize the following notes about X: A, B",
        "summarize this note and translate it",
        "summarize my notes",
        "what is this notebook about",
        "what do my neighbors say about X",
        "Take note on how summarize this note works",
        "노트 만들어줘",
        "노트북 찾아줘",
        "노트 앱 만들어줘",
        "이맥스에서 노트 만드는 법 알려줘",
        "커피에 대한 노트를 어떻게 만들어?",
        "노트를 만들어 주는 프로그램을 만들어줘",
        "이거 노트 만들어줘",
        "내 노트 요약해줘",
        "아래 글에서 커피에 대한 노트 찾아줘",
        "이 노트 요약해줘: 우유, 달걀",
        "맥북노트 찾아줘",
        "이 글 요약해줘",
        "add a note about error handling to the README",
        "add a note on line 5",
        "write a note on behalf of my mother to the school",
        "create a note about what we discussed",
        "create a note about the above code",
        "make a note about this function in the docs",
        "list the notes on page 3 of the attached pdf",
        "find the note about retries in src/main.rs and fix it",
        "이 함수에 대한 메모 써줘",
        "위에서 말한 내용 노트 만들어줘",
        "릴리스 노트 작성해줘",
        "릴리스 노트 요약해줘",
        "갤럭시 노트 찾아줘",
        "커피에 대한 노트 만들어줘. 그리고 번역해줘",
        "",
    ] {
        assert_eq!(NoteIntent::of_prompt(prompt), None, "{prompt}");
    }
}

/// Lines of the form `intent | topic | prompt`, where the topic may be followed by `; style`; the
/// intent `-` stands for none.
const PROMPTS: &str = include_str!("prompts.txt");

fn expected(intent: &str, argument: &str) -> Option<NoteIntent> {
    let (topic, style) = argument.split_once(';').unwrap_or((argument, ""));
    let (topic, style) = (topic.trim().to_owned(), style.trim().to_owned());
    match intent {
        "create" => Some(NoteIntent::Create { topic, style }),
        "find" => Some(NoteIntent::Find { query: topic }),
        "summary" => Some(NoteIntent::SummarizeTopic { topic, style }),
        "open" => Some(NoteIntent::SummarizeOpenNote { style }),
        "file" => Some(NoteIntent::SummarizeFile { name: topic, style }),
        "-" => None,
        other => panic!("{other}"),
    }
}

#[test]
fn prompts_in_the_table_have_the_listed_intent() {
    let rows = PROMPTS.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows
        .map(|line| line.splitn(3, '|').map(str::trim).collect())
        .collect();
    let ordinary = rows.iter().filter(|row| row[0] == "-").count();
    assert!(ordinary >= 300 && rows.len() - ordinary >= 300);
    let wrong = rows.iter().filter_map(|row| {
        let [intent, argument, prompt] = row[..] else {
            panic!("{row:?}");
        };
        let found = NoteIntent::of_prompt(prompt);
        (found != expected(intent, argument)).then(|| format!("{prompt}: {found:?}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_word_class_used_in_an_english_phrase_is_defined() {
    assert_eq!(english::undefined_classes(), [""; 0]);
}
