//! File names of sessions (S9.2): when the first answer ended, and how the first
//! prompt begins.

use crate::domain::SessionId;
use crate::text::grapheme;
use crate::text::invisible::Invisible;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Grapheme clusters of the prompt that stand in the name.
const PROMPT_CLUSTERS_MAX: usize = 10;
/// Bytes of the prompt that stand in the name: with the time before, `_99999` and
/// `.json` behind, the whole stays under the 255 that file systems allow.
const PROMPT_BYTES_MAX: usize = 220;
const EXTENSION: &str = ".json";
const NAME_BYTES_MAX: usize = 255;
const TIME_FORMAT: &str = "%Y%m%d_%H%M%S";

/// The name of a conversation that began with `first_prompt` and whose first
/// answer ended at `ended`, such as `20251016_162030_대화_제목_이다.json`.
pub fn session_file_name(first_prompt: &str, ended: &Zoned) -> String {
    format!("{}{EXTENSION}", stem(first_prompt, ended))
}

/// The names to try one after the other: `NAME.json`, `NAME_2.json` …
pub(super) fn candidates(first_prompt: &str, ended: &Zoned) -> impl Iterator<Item = String> {
    let stem = stem(first_prompt, ended);
    (1..=99_999).map(move |number| match number {
        1 => format!("{stem}{EXTENSION}"),
        _ => format!("{stem}_{number}{EXTENSION}"),
    })
}

/// Is `id` the plain name of a file in the folder of the sessions?
pub(super) fn is_valid(id: &SessionId) -> bool {
    let name = id.as_str();
    name.ends_with(EXTENSION)
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
        && (cfg!(unix) || !name.contains(':'))
}

/// The time that a name begins with, which is local.
pub(super) fn time_in_name(id: &SessionId) -> Option<Timestamp> {
    let (time, rest) = id.as_str().split_at_checked("YYYYMMDD_HHMMSS".len())?;
    let has_shape = time.bytes().enumerate().all(|(at, byte)| match at {
        8 => byte == b'_',
        _ => byte.is_ascii_digit(),
    });
    if !has_shape || !rest.starts_with(['_', '.']) {
        return None;
    }
    let local = DateTime::strptime(TIME_FORMAT, time).ok()?;
    Some(local.to_zoned(TimeZone::system()).ok()?.timestamp())
}

fn stem(first_prompt: &str, ended: &Zoned) -> String {
    let time = ended.strftime(TIME_FORMAT);
    let mut words = String::new();
    for cluster in grapheme::clusters(first_prompt).take(PROMPT_CLUSTERS_MAX) {
        let kept = portable_cluster(cluster);
        if words.len() + kept.len() > PROMPT_BYTES_MAX {
            // A single cluster can be of any length: its start says enough.
            let room = PROMPT_BYTES_MAX - words.len();
            let fits = (0..=room)
                .rev()
                .find(|end| kept.is_char_boundary(*end))
                .unwrap_or(0);
            words.push_str(&kept[..fits]);
            break;
        }
        words.push_str(&kept);
    }
    let dots = words.len() - words.trim_start_matches('.').len();
    format!("{time}_{}{}", "_".repeat(dots), &words[dots..])
}

/// A cluster as every file system takes it and every person can read it.
fn portable_cluster(cluster: &str) -> String {
    if cluster == "\r\n" {
        return "_".to_owned();
    }
    let is_flag = cluster.starts_with('\u{1F3F4}');
    let mut letters = cluster.chars().peekable();
    let mut kept = String::with_capacity(cluster.len());
    while let Some(letter) = letters.next() {
        let keeps = match letter {
            // The joiner within an emoji or a letter is part of it; a last one is
            // invisible.
            '\u{200C}' | '\u{200D}' => !kept.is_empty() && letters.peek().is_some(),
            '\u{E0020}'..='\u{E007F}' => is_flag,
            _ => is_portable(letter),
        };
        kept.push(if keeps { letter } else { '_' });
    }
    kept
}

fn is_portable(letter: char) -> bool {
    // Emoji keep their style selector; U+FE0F alone changes nothing that could deceive.
    let is_seen = matches!(
        Invisible::classify(letter),
        None | Some(Invisible::StyleSelector)
    );
    let is_reserved = matches!(letter, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    is_seen && !is_reserved && !letter.is_whitespace()
}
