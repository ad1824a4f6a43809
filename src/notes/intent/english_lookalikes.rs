//! Topics of English prompts that only sound like requests for notes: messages to people, notes in
//! music, proofreading, and statements.

use super::topic::RequestTopic;

/// A note about something *to* one of these is a message.
const RECIPIENTS: &[&str] = &[
    "teacher",
    "teachers",
    "professor",
    "school",
    "principal",
    "editor",
    "author",
    "publisher",
    "reviewer",
    "tutor",
    "coach",
    "boss",
    "manager",
    "supervisor",
    "team",
    "colleague",
    "colleagues",
    "coworker",
    "coworkers",
    "staff",
    "employees",
    "students",
    "hr",
    "client",
    "clients",
    "customer",
    "customers",
    "landlord",
    "landlady",
    "tenant",
    "tenants",
    "neighbor",
    "neighbors",
    "neighbour",
    "neighbours",
    "roommate",
    "roommates",
    "guests",
    "mother",
    "mom",
    "mum",
    "father",
    "dad",
    "parents",
    "wife",
    "husband",
    "partner",
    "girlfriend",
    "boyfriend",
    "fiancé",
    "son",
    "daughter",
    "kids",
    "children",
    "sister",
    "brother",
    "grandma",
    "grandpa",
    "grandmother",
    "grandfather",
    "aunt",
    "uncle",
    "friend",
    "friends",
    "babysitter",
    "nanny",
    "doctor",
    "dentist",
    "him",
    "her",
    "them",
    "everyone",
    "everybody",
];
/// Words between `how` and `I` in a message about one's feelings.
const FEELINGS: &[&str] = &[
    "sorry", "much", "grateful", "thankful", "proud", "happy", "sad", "glad",
];
const TITLES: &[&str] = &["mr", "mrs", "ms", "miss", "dr", "prof", "professor"];
pub(super) const DETERMINERS: &[&str] = &[
    "my", "our", "his", "her", "their", "your", "the", "a", "an", "all",
];

/// Words that suggest musical notes.
const MUSIC: &[&str] = &[
    "string",
    "strings",
    "fret",
    "octave",
    "scale",
    "chord",
    "piano",
    "guitar",
    "violin",
    "staff",
    "clef",
    "stave",
    "arpeggio",
    "melody",
    "fretboard",
    "beat",
    "treble",
];
/// A TOPIC of only these words makes `find TOPIC in my notes` a request to proofread.
const FLAWS: &[&str] = &[
    "typo",
    "typos",
    "error",
    "errors",
    "mistake",
    "mistakes",
    "misspelling",
    "misspellings",
    "spelling",
    "grammar",
    "grammatical",
    "duplicate",
    "duplicates",
    "inconsistencies",
    "contradictions",
    "gaps",
    "broken",
    "dead",
    "links",
    "any",
    "and",
    "all",
    "the",
    "or",
];
/// Words after `where did I write` that begin a place or a mistake instead of a topic.
const PLACE_WORDS: &[&str] = &["in", "on", "inside", "under", "at", "the wrong", "a wrong"];
/// Prepositions that make a place at the end of a topic the destination of the note.
const PUT_PREPOSITIONS: &[&str] = &["to", "in", "into", "inside", "under", "at", "onto"];
/// Maximum number of words of a place, such as `the top of my shopping list`.
const PLACE_WORDS_MAX: usize = 6;
/// Extensions of files to which text may be added. `js` is missing because of `Node.js`.
const FILE_EXTENSIONS: &[&str] = &[
    "md", "markdown", "mdx", "txt", "org", "rst", "adoc", "tex", "html", "csv", "json", "toml",
    "yaml", "yml", "doc", "docx", "odt", "pdf", "rs", "py", "go", "c", "h", "cpp", "java", "ts",
    "sh",
];
/// Things to which a note can be added.
pub(super) const CONTAINERS: &[&str] = &[
    "note",
    "notes",
    "list",
    "file",
    "doc",
    "docs",
    "document",
    "page",
    "journal",
    "diary",
    "log",
    "readme",
    "changelog",
    "wiki",
    "spreadsheet",
    "sheet",
    "folder",
    "subfolder",
    "directory",
    "calendar",
    "planner",
    "notebook",
    "readme.md",
];
/// Verbs that turn `my notes on TOPIC` into a statement.
const STATEMENT_VERBS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "isn't", "aren't", "should", "must", "need",
    "needs", "do", "does", "don't", "can", "can't", "will", "would", "say", "seem", "look", "got",
];

/// Whether the note is addressed to a person, as in `my absence to my teacher`.
pub(super) fn is_message(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    // `how much I love her`
    if let ["how", feeling, "i", ..] = words[..]
        && FEELINGS.contains(&feeling)
    {
        return true;
    }
    words.iter().enumerate().any(|(at, word)| {
        let rest = &words[at + 1..];
        let rest = match rest {
            [first, rest @ ..] if DETERMINERS.contains(first) => rest,
            rest => rest,
        };
        let person = rest.first().map(|word| word.trim_end_matches(['.', ',']));
        let is_person = |person: &str| {
            TITLES.contains(&person) || rest.len() == 1 && RECIPIENTS.contains(&person)
        };
        at > 0 && *word == "to" && person.is_some_and(is_person)
    })
}

/// Whether the note is to be put elsewhere than in the folder of notes, as in `tea to green-tea.md`,
/// `milk to my shopping list` and `the price in cell B4`.
pub(super) fn is_put_elsewhere(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_place = |at: usize| {
        let [preposition, place @ ..] = &words[at..] else {
            return false;
        };
        // `my note on green tea`
        let about = place
            .iter()
            .position(|word| ["on", "about", "for", "called", "named"].contains(word));
        let place = &place[..about.unwrap_or(place.len())];
        let last = place.last().unwrap_or(preposition);
        let is_file = place.len() <= PLACE_WORDS_MAX && is_file_name(last);
        let is_container = place.len() > 1
            && place.len() <= PLACE_WORDS_MAX
            && DETERMINERS.contains(&place[0])
            && CONTAINERS.contains(last);
        at > 0 && PUT_PREPOSITIONS.contains(preposition) && (is_file || is_container)
    };
    // `the price in cell B4`
    let is_cell = |words: &[&str]| matches!(words, ["in" | "to" | "into", "cell" | "column" | "row", name] if name.len() <= 4);
    (0..words.len()).any(is_place) || words.windows(3).any(is_cell)
}

/// Whether the topic of `where did I write TOPIC` is a place or a mistake, as in `the wrong variable`.
pub(super) fn is_place_or_mistake(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let is_start = |place: &&str| {
        let rest = lower.strip_prefix(*place);
        rest.is_some_and(|rest| rest.starts_with(' '))
    };
    !topic.is_quoted && PLACE_WORDS.iter().any(is_start)
}

/// Whether a word is a file name such as `tea.md`, perhaps in quotation marks.
fn is_file_name(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'', '`']);
    let extension = word.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    extension.is_some_and(|(_, extension)| FILE_EXTENSIONS.contains(&extension))
}

pub(super) fn is_music(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    lower.split_whitespace().any(|word| MUSIC.contains(&word))
}

/// Whether `find TOPIC in my notes` asks for a judgment of the notes instead of a search: `spelling
/// errors`, `recipes that are not`, or `out what is missing`.
pub(super) fn is_judgment(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let asks_what_is_absent = matches!(words[..], ["out", ..] | [.., "not" | "missing"]);
    asks_what_is_absent || words.iter().all(|word| FLAWS.contains(word))
}

/// Whether `my notes on TOPIC` is a sentence, as in `tea are gone`.
pub(super) fn is_statement(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let mut words = lower.split_whitespace();
    words.any(|word| STATEMENT_VERBS.contains(&word))
}
