//! The format, the part and the file name of an exported conversation.

use super::{SavedMessage, Session};
use crate::domain::session::{CancelledTurn, MessageRole};
use crate::text::grapheme;
use crate::text::invisible::Invisible;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportFormat {
    #[default]
    Markdown,
    Json,
    Html,
}

impl ExportFormat {
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Json, Self::Html];

    /// The name in commands, which is also the extension of the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Html => "html",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that the path's extension stands for.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next()?;
        let (_, extension) = name.rsplit_once('.')?;
        Self::from_name(extension)
    }
}

/// The part of a conversation that is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportPart {
    /// Only this many of the last turns; `None` exports all.
    pub last: Option<usize>,
    /// Leave out the prompts.
    pub answers_only: bool,
}

impl ExportPart {
    /// The index of the first message of the part. Turns are counted by their prompts or, in an
    /// export of answers, by their answers.
    pub fn first_message(self, session: &Session) -> usize {
        let is_start = move |message: &SavedMessage| match self.answers_only {
            true => message.role == MessageRole::Assistant,
            false => message.role == MessageRole::User,
        };
        let starts = session.messages.iter().enumerate().rev();
        let mut starts = starts.filter(move |(_, message)| is_start(message));
        match self.last {
            None => 0,
            Some(0) => session.messages.len(),
            Some(count) => starts.nth(count - 1).map_or(0, |(index, _)| index),
        }
    }

    /// The messages of the part, with their indices in the conversation.
    pub fn messages(self, session: &Session) -> impl Iterator<Item = (usize, &SavedMessage)> {
        let messages = session.messages.iter().enumerate();
        let part = messages.skip(self.first_message(session));
        part.filter(move |(_, message)| {
            !self.answers_only || message.role == MessageRole::Assistant
        })
    }

    /// The turns of the part that were cancelled after some of the answer had arrived. An export of
    /// answers has none, because their text is not an answer.
    pub fn cancelled_turns(self, session: &Session) -> impl Iterator<Item = &CancelledTurn> {
        let first = self.first_message(session);
        let is_part = move |turn: &&CancelledTurn| {
            // A turn at the first message ended before the part begins.
            let is_after_start = first == 0 || turn.messages_before > first;
            let has_text = !turn.partial_answer.trim().is_empty();
            !self.answers_only && self.last != Some(0) && is_after_start && has_text
        };
        session.metadata.cancelled.iter().filter(is_part)
    }
}

/// The arguments of `/export`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportArguments {
    pub format: Option<ExportFormat>,
    /// May contain spaces.
    pub path: Option<String>,
    pub part: ExportPart,
}

impl ExportArguments {
    /// Parses `[md|json|html] [PATH] [--last N] [--answers]`.
    ///
    /// # Errors
    /// The problem with an argument, as a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut arguments = Self::default();
        let mut path: Vec<&str> = Vec::new();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--answers" => arguments.part.answers_only = true,
                "--last" => {
                    let count = words.next().and_then(|count| count.parse().ok());
                    let count = count.filter(|count| *count > 0);
                    arguments.part.last =
                        Some(count.ok_or("--last needs a number, such as --last 3.")?);
                }
                flag if flag.starts_with("--") => {
                    return Err(format!(
                        "There is no option {flag}. Use --last N or --answers."
                    ));
                }
                word => path.push(word),
            }
        }
        if let Some(format) = path.first().copied().and_then(ExportFormat::from_name) {
            arguments.format = Some(format);
            path.remove(0);
        }
        // A lone number is a number of turns, not a file name.
        if let [count] = path[..]
            && let Some(count) = count.parse().ok().filter(|count| *count > 0)
        {
            arguments.part.last = Some(count);
            path.clear();
        }
        arguments.path = (!path.is_empty()).then(|| path.join(" "));
        if let Some(path) = &arguments.path
            && arguments.format.is_none()
        {
            arguments.format = ExportFormat::of_path(path);
        }
        Ok(arguments)
    }
}

/// Maximum length of the title in a file name, in grapheme clusters.
const NAME_CLUSTERS_MAX: usize = 60;
const NAME_BYTES_MAX: usize = 200;

/// The default name of an exported file, such as `Trip to Busan.md`.
pub fn export_file_name(title: &str, format: ExportFormat) -> String {
    let portable = |c: char| match c {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
        c if c.is_control() || Invisible::classify(c).is_some() => '_',
        c if c.is_whitespace() => ' ',
        c => c,
    };
    let name: String = title.chars().map(portable).collect();
    let name = grapheme::bounded_prefix(name.trim(), NAME_CLUSTERS_MAX, NAME_BYTES_MAX);
    // A leading dot hides the file, and a leading hyphen looks like an option.
    let name = name.trim_start_matches(['.', '-', ' ', '~']);
    let name = name.trim_end_matches(['.', ' ']);
    let name = if name.is_empty() {
        "conversation"
    } else {
        name
    };
    format!("{name}.{}", format.name())
}

/// The title of a copy: the first of `TITLE (2)`, `TITLE (3)` … that is not taken. If the
/// title already ends with a number, counting continues from it.
pub fn copy_title(title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = title.strip_suffix(')').and_then(|rest| {
        let (stem, number) = rest.rsplit_once(" (")?;
        let number: u32 = number.parse().ok().filter(|number| *number < 10_000)?;
        (!stem.is_empty()).then_some((stem, number))
    });
    let (stem, number) = numbered.unwrap_or((title, 1));
    let mut candidates = (number + 1..).map(|number| format!("{stem} ({number})"));
    let free = candidates.find(|candidate| !is_taken(candidate));
    free.expect("only finitely many titles are taken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_contains_the_last_turns_or_only_the_last_answers() {
        let session = Session {
            messages: vec![
                SavedMessage::user("q1"),
                SavedMessage::assistant("a1"),
                SavedMessage::user("q2"),
                SavedMessage::assistant("a2"),
                SavedMessage::user("q3"),
                SavedMessage::assistant("a3"),
            ],
            ..Session::new("m")
        };
        let texts = |last, answers_only| {
            let part = ExportPart { last, answers_only };
            let messages = part.messages(&session);
            messages
                .map(|(_, message)| &*message.content)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(texts(None, false), "q1 a1 q2 a2 q3 a3");
        assert_eq!(texts(Some(2), false), "q2 a2 q3 a3");
        assert_eq!(texts(Some(9), false), "q1 a1 q2 a2 q3 a3");
        assert_eq!(texts(None, true), "a1 a2 a3");
        assert_eq!(texts(Some(2), true), "a2 a3");
        assert_eq!(texts(Some(0), true), "");
    }

    #[test]
    fn export_options_may_come_in_any_order_and_paths_may_contain_spaces() {
        let parse = |text| ExportArguments::parse(text);
        let arguments = parse("html --last 3 /tmp/my trip.txt --answers").expect("valid");
        assert_eq!(arguments.format, Some(ExportFormat::Html));
        assert_eq!(arguments.path.as_deref(), Some("/tmp/my trip.txt"));
        let part = ExportPart {
            last: Some(3),
            answers_only: true,
        };
        assert_eq!(arguments.part, part);
        assert_eq!(
            parse("a.b/trip.JSON").expect("valid").format,
            Some(ExportFormat::Json)
        );
        assert_eq!(parse("a.md/trip").expect("valid").format, None);
        assert_eq!(parse("").expect("valid"), ExportArguments::default());
        assert_eq!(
            parse("--last"),
            Err("--last needs a number, such as --last 3.".to_owned())
        );
        assert_eq!(parse("html 3"), parse("html --last 3"));
        assert_eq!(parse("3"), parse("--last 3"));
        let file = parse("3 days.md").expect("valid");
        assert_eq!(
            (file.part.last, file.path.as_deref()),
            (None, Some("3 days.md"))
        );
        assert!(parse("--last 0").is_err() && parse("--lats 3").is_err());
    }

    #[test]
    fn file_names_of_exports_are_portable_and_never_empty() {
        let name = |title| export_file_name(title, ExportFormat::Markdown);
        assert_eq!(name("서울 날씨와 옷차림"), "서울 날씨와 옷차림.md");
        assert_eq!(name("a/b\\c: \"d\"\u{202e}\n?"), "a_b_c_ _d____.md");
        assert_eq!(name("../../etc/passwd"), "_.._etc_passwd.md");
        assert_eq!(name(" . "), "conversation.md");
        assert_eq!(name("--last"), "last.md");
        assert!(name(&"가".repeat(500)).len() <= NAME_BYTES_MAX + 3);
    }

    #[test]
    fn titles_of_copies_get_the_next_free_number() {
        let taken = ["Trip (2)", "Trip (3)"];
        let copy = |title| copy_title(title, |other| taken.contains(&other));
        assert_eq!(copy("Trip"), "Trip (4)");
        assert_eq!(copy("Trip (2)"), "Trip (4)");
        assert_eq!(copy("Trip (x)"), "Trip (x) (2)");
        assert_eq!(copy("(2)"), "(2) (2)");
        assert_eq!(copy("Trip (4294967295)"), "Trip (4294967295) (2)");
    }
}
