//! The documented phrases with many topics, and prompts that are none of them.

use super::phrases::PHRASE_FILES;
use super::*;
use std::collections::BTreeSet;

const DOCS: &str = include_str!("../../../docs/notes.md");
/// Prompts that users write, one a line, none of which is a documented phrase.
const ORDINARY: &str = include_str!("ordinary_prompts.txt");

const TOPICS: &[&str] = &[
    "tea",
    "my absence to my teacher",
    "C++",
    "the door saying back in 5",
    "Machine Learning: Basics",
    "릴리스",
    "양자 역학",
    "가을",
    "홍차를",
    "친구에게 준 선물",
    "학교에서의 하루",
];
const FILE_NAMES: &[&str] = &["list", "trip/rome", "2027-plan", "장보기"];

/// The lines of a file of phrases, without comments and empty lines.
fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    let is_content = |line: &&str| !line.is_empty() && !line.starts_with('#');
    file.lines().filter(is_content)
}

/// Each section with its phrases.
fn sections() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in PHRASE_FILES.into_iter().flat_map(lines) {
        match line.strip_prefix('[') {
            Some(name) => sections.push((name.trim_end_matches(']'), Vec::new())),
            None => sections.last_mut().expect("a section").1.push(line),
        }
    }
    sections
}

fn intent(section: &str, phrase: &str, topic: &str) -> NoteIntent {
    let (agent, style) = section.split_once(": ").unwrap_or((section, ""));
    let (topic, style) = (topic.to_owned(), style.to_owned());
    match agent {
        "create" => NoteIntent::Create { topic, style },
        "find" => NoteIntent::Find { query: topic },
        "summarize topic" => NoteIntent::SummarizeTopic { topic, style },
        "summarize open note" if phrase.contains("TOPIC") => {
            NoteIntent::SummarizeOpenNote { style: topic }
        }
        "summarize open note" => NoteIntent::SummarizeOpenNote { style },
        "summarize file" => {
            let is_long = phrase.contains(".markdown");
            let extension = if is_long { ".markdown" } else { ".md" };
            NoteIntent::SummarizeFile {
                name: topic + extension,
            }
        }
        other => panic!("{other}"),
    }
}

#[test]
fn every_documented_phrase_is_taken_with_any_topic() {
    for (section, phrases) in sections() {
        let topics = match section {
            "summarize file" => FILE_NAMES,
            _ => TOPICS,
        };
        for (phrase, topic) in phrases
            .iter()
            .flat_map(|phrase| topics.iter().map(move |topic| (*phrase, *topic)))
        {
            let expected = Some(intent(section, phrase, topic));
            let prompt = phrase.replace("TOPIC", topic);
            assert_eq!(NoteIntent::of_prompt(&prompt), expected, "{prompt}");
            let shouted = phrase.to_uppercase().replace("TOPIC", topic);
            let spaced = phrase.replace(' ', "   ").replace("TOPIC", topic);
            for variant in [
                format!("  {prompt}?  "),
                format!("{spaced}."),
                shouted + "!",
            ] {
                let found = NoteIntent::of_prompt(&variant);
                let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
                // The extension of a file keeps its case.
                assert_eq!(found.to_lowercase(), expected.to_lowercase(), "{variant}");
            }
        }
    }
}

#[test]
fn no_prompt_without_a_documented_phrase_is_taken() {
    let prompts: Vec<&str> = lines(ORDINARY).collect();
    let distinct: BTreeSet<&&str> = prompts.iter().collect();
    assert!(distinct.len() >= 300 && distinct.len() == prompts.len());
    let taken: Vec<&&str> = prompts
        .iter()
        .filter(|prompt| NoteIntent::of_prompt(prompt).is_some())
        .collect();
    assert_eq!(taken, [&""; 0]);
}

#[test]
fn a_phrase_within_a_longer_prompt_is_not_taken() {
    for (_, phrases) in sections() {
        for phrase in phrases {
            let prompt = phrase.replace("TOPIC", "tea");
            for longer in [
                format!("{prompt}. Then translate it"),
                format!("{prompt}? I lost it!"),
                format!("{prompt}\nIt has a red lid"),
                format!("{prompt}\r\nIt has a red lid"),
                format!("How would I say \"{prompt}\" in French?"),
                format!("could you {prompt}, please"),
                format!("don't {prompt}"),
            ] {
                // A phrase that begins with its topic takes whatever comes before as its topic.
                let is_open = phrase.starts_with("TOPIC") && longer.ends_with(&prompt);
                if !is_open {
                    assert_eq!(NoteIntent::of_prompt(&longer), None, "{longer}");
                }
            }
        }
    }
}

#[test]
fn a_prompt_of_more_than_200_characters_is_not_taken() {
    for phrase in ["create a note on TOPIC", "TOPIC에 대한 노트 써줘"] {
        let fixed = phrase.replace("TOPIC", "").chars().count();
        let of_topic = |length| {
            let topic = "차".repeat(length);
            NoteIntent::of_prompt(&phrase.replace("TOPIC", &topic))
        };
        assert!(of_topic(200 - fixed).is_some());
        assert_eq!(of_topic(201 - fixed), None);
    }
}

#[test]
fn fixed_words_need_a_topic_with_a_letter_or_digit() {
    for prompt in [
        "",
        "create a note on",
        "create a note on ...",
        "make a note about \"\"",
        "summarize my notes",
        "summarize my  notes",
        "summarize .md",
        "에 대한 노트 만들어줘",
        "노트 찾아줘",
        "create a note ontology",
        "create a note on a.b. No more",
        "summarize a list.md",
        "맥북노트 찾아줘",
    ] {
        assert_eq!(NoteIntent::of_prompt(prompt), None, "{prompt}");
    }
}

#[test]
fn the_phrase_with_the_most_fixed_words_counts() {
    let topic = |topic: &str| {
        let (topic, style) = (topic.to_owned(), String::new());
        Some(NoteIntent::SummarizeTopic { topic, style })
    };
    for (prompt, expected) in [
        ("summarize my notes on tea notes", topic("tea notes")),
        ("summarize my notes on list.md", topic("list.md")),
        ("커피에 대한 내 노트 요약해줘", topic("커피")),
    ] {
        assert_eq!(NoteIntent::of_prompt(prompt), expected, "{prompt}");
    }
    let find = |prompt| match NoteIntent::of_prompt(prompt) {
        Some(NoteIntent::Find { query }) => query,
        other => panic!("{prompt}: {other:?}"),
    };
    assert_eq!(find("커피에 대한 노트 있어?"), "커피");
    assert_eq!(find("커피 관련 노트 찾아줘"), "커피");
}

#[test]
fn spaces_within_fixed_words_and_composition_of_letters_do_not_matter() {
    let create = NoteIntent::Create {
        topic: "차".to_owned(),
        style: String::new(),
    };
    for prompt in [
        "차에 대한 노트 만들어줘",
        "차에 대한 노트 만들어 줘",
        "차에대한노트만들어줘",
        // Decomposed, as some systems type it.
        "\u{110e}\u{1161}\u{110b}\u{1166} 대한 노트 만들어줘",
    ] {
        let found = NoteIntent::of_prompt(prompt);
        assert_eq!(found.as_ref(), Some(&create), "{prompt}");
    }
}

#[test]
fn files_of_phrases_are_sorted_without_doubles_and_all_of_their_lines_are_read() {
    let mut all = BTreeSet::new();
    for (section, phrases) in sections() {
        assert!(phrases.is_sorted(), "{section}");
        for phrase in phrases {
            assert!(
                all.insert(phrase.to_lowercase()),
                "{phrase} is listed twice"
            );
            assert!(phrase.matches("TOPIC").count() <= 1, "{phrase}");
            assert_eq!(phrase.trim(), phrase);
            assert!(!phrase.contains("  ") && !phrase.ends_with(SENTENCE_ENDS));
        }
    }
    assert_eq!(PHRASES.len(), all.len());
    for line in PHRASE_FILES.into_iter().flat_map(str::lines) {
        assert_eq!(line.trim_end(), line);
    }
}

#[test]
fn the_documentation_lists_exactly_the_phrases() {
    let (_, list) = DOCS
        .split_once("### The phrases\n")
        .expect("the section of the phrases");
    let (list, _) = list.split_once("\n##").expect("a section after it");
    let blocks = list.split("```").skip(1).step_by(2);
    let documented: Vec<Vec<&str>> = blocks
        .map(|block| block.lines().skip(1).filter(|l| !l.is_empty()).collect())
        .collect();
    let listed = PHRASE_FILES.map(|file| lines(file).collect::<Vec<_>>());
    assert_eq!(documented, listed);
}
