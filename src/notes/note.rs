//! A note as it is indexed: its title, and its text cut into chunks.

use crate::search::Chunk;

/// Maximum characters of a chunk: about 300 English words. In Korean, about the input limit of small
/// embedding models.
const CHUNK_CHARS_MAX: usize = 2_000;
/// Maximum number of chunks of a note. The rest of the note is not indexed.
const CHUNKS_MAX: usize = 2_000;
const TITLE_CHARS_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedNote {
    pub title: String,
    pub chunks: Vec<Chunk>,
}

/// Parses Markdown. The title comes from the front matter, else from the first heading of level 1, else
/// from `file_stem`. Never fails: any text is a note.
pub fn parse(text: &str, file_stem: &str) -> ParsedNote {
    let (front_matter, body) = split_front_matter(text);
    let mut sections = sections(body);
    let heading = sections
        .iter()
        .find(|section| section.headings.len() == 1 && section.level == 1);
    let title = front_matter_title(front_matter)
        .or_else(|| heading.map(|section| section.headings[0].to_owned()))
        .unwrap_or_else(|| file_stem.to_owned());
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    if let Some(tags) = front_matter_value(front_matter, "tags") {
        sections.insert(0, Section::new(&[], tags));
    }
    let mut chunks = Vec::new();
    for section in &sections {
        // The title is indexed with every chunk.
        let headings = section.headings.iter().filter(|heading| **heading != title);
        let heading = headings.copied().collect::<Vec<_>>().join(" › ");
        let parts = split_long(section.text.trim());
        chunks.extend(parts.into_iter().map(|body| Chunk {
            heading: heading.clone(),
            body: body.to_owned(),
        }));
        if chunks.len() >= CHUNKS_MAX {
            break;
        }
    }
    chunks.truncate(CHUNKS_MAX);
    if chunks.is_empty() {
        // A note that consists only of a title can still be found by it.
        chunks.push(Chunk {
            heading: String::new(),
            body: String::new(),
        });
    }
    ParsedNote { title, chunks }
}

/// The text between two headings.
struct Section<'a> {
    /// The headings above it, the outermost first.
    headings: Vec<&'a str>,
    /// The level of the last heading; 0 before the first heading.
    level: usize,
    text: &'a str,
}

impl<'a> Section<'a> {
    /// A section below `headings`, each with its level.
    fn new(headings: &[(usize, &'a str)], text: &'a str) -> Self {
        Self {
            headings: headings.iter().map(|(_, heading)| *heading).collect(),
            level: headings.last().map_or(0, |(level, _)| *level),
            text,
        }
    }
}

/// The text between the line `---` at the start and the next `---` or `...`, and the rest.
fn split_front_matter(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return ("", text);
    };
    let mut end = first.len();
    for line in lines {
        let start = end;
        end += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return (&text[first.len()..start], &text[end..]);
        }
    }
    ("", text)
}

fn front_matter_value<'a>(front_matter: &'a str, key: &str) -> Option<&'a str> {
    let value = front_matter.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then_some(value.trim())
    })?;
    Some(value).filter(|value| !value.is_empty())
}

fn front_matter_title(front_matter: &str) -> Option<String> {
    let title = front_matter_value(front_matter, "title")?;
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| title.strip_prefix(quote)?.strip_suffix(quote));
    Some(quoted.unwrap_or(title).to_owned()).filter(|title| !title.is_empty())
}

/// Splits at headings of the form `# Heading` outside code fences.
fn sections(body: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut start, mut offset) = (0, 0);
    for line in body.split_inclusive('\n') {
        let trimmed = line.trim_start();
        match fence {
            Some(mark) if trimmed.starts_with(mark) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"]
                    .into_iter()
                    .find(|mark| trimmed.starts_with(mark))
            }
        }
        if fence.is_none()
            && let Some((level, heading)) = atx_heading(line)
        {
            sections.push(Section::new(&headings, &body[start..offset]));
            headings.retain(|(above, _)| *above < level);
            headings.push((level, heading));
            start = offset + line.len();
        }
        offset += line.len();
    }
    sections.push(Section::new(&headings, &body[start..]));
    sections
}

fn atx_heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let heading = rest.trim().trim_end_matches('#').trim_end();
    (!heading.is_empty()).then_some((level, heading))
}

/// Splits text into parts of at most [`CHUNK_CHARS_MAX`] characters, preferably at a blank line, then
/// at a line break, then at a space, and only then anywhere. An empty text has no parts.
fn split_long(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((limit, _)) = rest.char_indices().nth(CHUNK_CHARS_MAX) {
        let window = &rest[..limit];
        // A split near the beginning would leave a tiny part.
        let split_at = |separator| window.rfind(separator).filter(|at| at * 3 > limit);
        let end = split_at("\n\n")
            .or_else(|| split_at("\n"))
            .or_else(|| split_at(" "))
            .unwrap_or(limit);
        parts.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> (String, Vec<(String, String)>) {
        let note = parse(text, "my-file");
        let chunks = note
            .chunks
            .into_iter()
            .map(|chunk| (chunk.heading, chunk.body));
        (note.title, chunks.collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn a_note_is_split_into_chunks_at_its_headings() {
        let text =
            "# Router\nintro\n## Setup\n```\n# not a heading\n```\n### Wi-Fi ##\nkey\n## Costs\n9";
        let (title, chunks) = outline(text);
        assert_eq!(title, "Router");
        let expected = [
            ("", "intro"),
            ("Setup", "```\n# not a heading\n```"),
            ("Setup › Wi-Fi", "key"),
            ("Costs", "9"),
        ];
        assert_eq!(chunks, pairs(&expected));
    }

    #[test]
    fn a_title_comes_from_the_front_matter_first_and_the_file_name_last() {
        let text = "---\ntitle: \"내 노트\"\ntags: [a, b]\n---\n# Other\nx";
        assert_eq!(
            outline(text),
            (
                "내 노트".to_owned(),
                pairs(&[("", "[a, b]"), ("Other", "x")])
            )
        );
        assert_eq!(
            outline("text"),
            ("my-file".to_owned(), pairs(&[("", "text")]))
        );
        assert_eq!(outline("").1, pairs(&[("", "")]));
        assert_eq!(outline("---\nno end").1, pairs(&[("", "---\nno end")]));
    }

    #[test]
    fn long_sections_are_split_at_paragraphs_and_lose_nothing() {
        let paragraph = "word ".repeat(150);
        let text = [paragraph.trim_end(); 10].join("\n\n");
        let chunks = outline(&text).1;
        assert_eq!(chunks.len(), 5);
        assert!(
            chunks
                .iter()
                .all(|chunk| chunk.1.chars().count() <= CHUNK_CHARS_MAX)
        );
        let joined = chunks
            .iter()
            .map(|chunk| chunk.1.as_str())
            .collect::<Vec<_>>()
            .join("\n\n");
        assert_eq!(joined, text);
        let unbroken = "가".repeat(4_500);
        let lengths: Vec<usize> = outline(&unbroken)
            .1
            .iter()
            .map(|c| c.1.chars().count())
            .collect();
        assert_eq!(lengths, [2_000, 2_000, 500]);
    }
}
