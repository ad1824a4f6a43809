//! Invisible characters: their classification, and a filter that drops or escapes the deceptive
//! ones (such as bidirectional controls and tags) and keeps those that a visible cluster needs.

use super::grapheme::is_standalone;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// Maximum number of combining marks in a cluster. Pointed and accented Hebrew needs four, Tibetan
/// stacks six.
const MARKS_MAX: u8 = 8;
/// Maximum number of joiners in a cluster; the largest emoji families need three.
const JOINERS_MAX: u8 = 6;
/// The tracked cluster restarts beyond this length, which keeps each step O(1).
const CLUSTER_BYTES_MAX: usize = 64;
/// The subdivision flags recommended for interchange (RGI): England, Scotland, Wales.
const TAG_FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
const JOINER: char = '\u{200D}';
const NON_JOINER: char = '\u{200C}';
const EMOJI_STYLE: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';
const BLACK_FLAG: &str = "🏴";

/// Why a character has no visible shape of its own. This is the only table of such characters in
/// the crate; every module that filters text derives its rule from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invisible {
    /// C0 and C1 controls.
    Control,
    /// Changes the direction of surrounding text (Unicode's Bidi_Control).
    Bidi,
    /// U+200C and U+200D, which emoji and some scripts need between two characters.
    Joiner,
    /// U+FE00 to U+FE0F, the last two of which select text or emoji presentation.
    StyleSelector,
    MongolianSelector,
    /// U+E0100 to U+E01EF, the variation selectors of Han: 240 values, enough to smuggle bytes.
    HanSelector,
    /// The rest of U+E0000 to U+E0FFF: tags, which can spell out invisible ASCII.
    Tag,
    /// Line and paragraph separators.
    Separator,
    /// Other zero-width, blank and format characters, and noncharacters.
    Blank,
}

impl Invisible {
    /// `None` for a visible character. Whitespace other than controls and separators counts as
    /// visible.
    pub fn classify(c: char) -> Option<Self> {
        Some(match c {
            _ if c.is_control() => Self::Control,
            '\u{61C}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}' => Self::Bidi,
            NON_JOINER | JOINER => Self::Joiner,
            '\u{FE00}'..='\u{FE0F}' => Self::StyleSelector,
            '\u{180B}'..='\u{180D}' | '\u{180F}' => Self::MongolianSelector,
            '\u{E0100}'..='\u{E01EF}' => Self::HanSelector,
            '\u{E0000}'..='\u{E0FFF}' => Self::Tag,
            '\u{2028}' | '\u{2029}' => Self::Separator,
            '\u{AD}'
            | '\u{34F}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180E}'
            | '\u{200B}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FDD0}'..='\u{FDEF}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' => Self::Blank,
            _ if u32::from(c) & 0xFFFE == 0xFFFE => Self::Blank,
            _ => return None,
        })
    }
}

pub fn is_invisible(c: char) -> bool {
    Invisible::classify(c).is_some()
}

fn is_variation_selector(c: char) -> bool {
    use Invisible::{HanSelector, MongolianSelector, StyleSelector};
    let kind = Invisible::classify(c);
    matches!(kind, Some(StyleSelector | MongolianSelector | HanSelector))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenCharPolicy {
    Drop,
    Escape,
}

#[derive(Debug)]
pub(super) struct FilterOutput {
    pub(super) text: String,
    pub(super) policy: HiddenCharPolicy,
}

/// Filters one character at a time. Only a joiner, a keycap selector or tags wait in `pending` for
/// the next character.
#[derive(Debug, Clone, Default)]
pub(super) struct InvisibleFilter {
    cluster: String,
    marks: u8,
    joiners: u8,
    pending: PendingChars,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum PendingChars {
    #[default]
    Nothing,
    /// ZWJ or ZWNJ, kept if the next character joins the cluster.
    Joiner(char),
    /// U+FE0F after a digit, `#` or `*`, kept if a keycap follows.
    Keycap,
    /// Tags after a black flag, kept if they spell a flag.
    Tags(String),
}

impl InvisibleFilter {
    /// Whether runs of printable ASCII may bypass [`Self::push`]: they cannot join the cluster.
    pub(super) fn accepts_ascii_runs(&self) -> bool {
        self.pending == PendingChars::Nothing
            && (self.cluster.is_empty() || self.cluster.chars().all(is_standalone))
    }

    /// Sets the cluster after an ASCII run ending in `last` bypassed [`Self::push`].
    pub(super) fn record_ascii_run(&mut self, last: char) {
        self.start_cluster(last);
    }

    pub(super) fn push(&mut self, c: char, output: &mut FilterOutput) {
        if self.pending != PendingChars::Nothing && self.resolve_pending(c, output) {
            return;
        }
        match c {
            '\n' => {
                self.cluster.clear();
                self.marks = 0;
                self.joiners = 0;
                output.text.push(c);
            }
            JOINER | NON_JOINER if self.joiners < JOINERS_MAX && !self.cluster.is_empty() => {
                self.pending = PendingChars::Joiner(c);
            }
            EMOJI_STYLE if matches!(self.last_char(), Some('0'..='9' | '#' | '*')) => {
                self.pending = PendingChars::Keycap;
            }
            '\u{E0020}'..='\u{E007E}' if self.cluster == BLACK_FLAG => {
                self.pending = PendingChars::Tags(String::from(c));
            }
            _ if is_variation_selector(c)
                && self
                    .last_char()
                    .is_some_and(|base| is_selector_meaningful(base, c)) =>
            {
                self.extend_cluster(c, output);
            }
            _ if is_invisible(c)
                || (output.policy == HiddenCharPolicy::Escape && is_unusual(c)) =>
            {
                self.reject(c, output);
            }
            _ => self.push_visible(c, output),
        }
    }

    /// Ends the text. Pending characters have nothing to join, so they are rejected.
    pub(super) fn finish(mut self, output: &mut FilterOutput) {
        self.reject_pending(output);
    }

    /// Keeps or rejects the pending characters. Returns whether `c`, the next one, was consumed.
    fn resolve_pending(&mut self, c: char, output: &mut FilterOutput) -> bool {
        match &mut self.pending {
            PendingChars::Joiner(joiner) => {
                let joiner = *joiner;
                if is_joiner_needed(&self.cluster, joiner, c) {
                    self.pending = PendingChars::Nothing;
                    self.joiners += 1;
                    self.extend_cluster(joiner, output);
                } else {
                    self.reject_pending(output);
                }
                false
            }
            PendingChars::Keycap => {
                if c == KEYCAP {
                    self.pending = PendingChars::Nothing;
                    self.extend_cluster(EMOJI_STYLE, output);
                } else {
                    self.reject_pending(output);
                }
                false
            }
            PendingChars::Tags(tags)
                if matches!(c, '\u{E0020}'..='\u{E007E}') && tags.len() < 24 =>
            {
                tags.push(c);
                true
            }
            PendingChars::Tags(tags) => {
                let flag: String = tags.chars().filter_map(tag_letter).collect();
                if c == '\u{E007F}' && TAG_FLAGS.contains(&flag.as_str()) {
                    let tags = std::mem::take(tags);
                    self.pending = PendingChars::Nothing;
                    tags.chars()
                        .for_each(|tag| self.extend_cluster(tag, output));
                    self.extend_cluster(c, output);
                    return true;
                }
                self.reject_pending(output);
                false
            }
            PendingChars::Nothing => false,
        }
    }

    fn reject_pending(&mut self, output: &mut FilterOutput) {
        match std::mem::take(&mut self.pending) {
            PendingChars::Nothing => {}
            PendingChars::Joiner(joiner) => self.reject(joiner, output),
            PendingChars::Keycap => self.reject(EMOJI_STYLE, output),
            PendingChars::Tags(tags) => tags.chars().for_each(|tag| self.reject(tag, output)),
        }
    }

    /// Pushes a visible character, or a combining mark on the previous one.
    fn push_visible(&mut self, c: char, output: &mut FilterOutput) {
        let is_mark = c.width() == Some(0);
        let is_cluster_standalone = self.cluster.chars().all(is_standalone);
        if is_standalone(c) && is_cluster_standalone || self.cluster.is_empty() && !is_mark {
            self.start_cluster(c);
            output.text.push(c);
            return;
        }
        let joins_cluster = !self.cluster.is_empty() && is_one_cluster(&self.cluster, &[c]);
        match (joins_cluster, is_mark) {
            // A mark without a base would be drawn onto an unrelated character.
            (false, true) => self.reject(c, output),
            (true, true) if self.marks == MARKS_MAX => self.reject(c, output),
            (true, true) => {
                self.marks += 1;
                self.extend_cluster(c, output);
            }
            (true, false) => self.extend_cluster(c, output),
            (false, false) => {
                self.start_cluster(c);
                output.text.push(c);
            }
        }
    }

    fn start_cluster(&mut self, c: char) {
        self.cluster.clear();
        self.cluster.push(c);
        self.marks = 0;
        self.joiners = 0;
    }

    fn extend_cluster(&mut self, c: char, output: &mut FilterOutput) {
        if self.cluster.len() > CLUSTER_BYTES_MAX {
            self.cluster.clear();
        }
        self.cluster.push(c);
        output.text.push(c);
    }

    fn reject(&mut self, c: char, output: &mut FilterOutput) {
        if output.policy == HiddenCharPolicy::Escape {
            output.text.push_str(&escape_char(c));
            // Without a base, a combining mark that follows is escaped as well, not drawn on the
            // bracket.
            self.cluster.clear();
            self.marks = 0;
            self.joiners = 0;
        }
    }

    fn last_char(&self) -> Option<char> {
        self.cluster.chars().next_back()
    }
}

/// The visible escape of `c`, such as `⟨ESC⟩` or `⟨U+202E⟩`.
pub(super) fn escape_char(c: char) -> String {
    const C0: [&str; 32] = [
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF",
        "CR", "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM",
        "SUB", "ESC", "FS", "GS", "RS", "US",
    ];
    match (C0.get(c as usize), c) {
        (Some(name), _) => format!("⟨{name}⟩"),
        (None, '\u{7F}') => "⟨DEL⟩".to_owned(),
        (None, c) => format!("⟨U+{:04X}⟩", u32::from(c)),
    }
}

fn is_one_cluster(prefix: &str, suffix: &[char]) -> bool {
    let mut joined = String::with_capacity(prefix.len() + 12);
    joined.push_str(prefix);
    joined.extend(suffix);
    joined.graphemes(true).nth(1).is_none()
}

/// Whether a joiner between `cluster` and `c` changes the drawing of emoji or of shaped scripts.
fn is_joiner_needed(cluster: &str, joiner: char, c: char) -> bool {
    let is_shaped = |c: char| {
        matches!(c,
            '\u{620}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{1000}'..='\u{109F}'
            | '\u{1780}'..='\u{17B3}' | '\u{17B6}'..='\u{180A}' | '\u{1820}'..='\u{18AA}'
            | '\u{A8E0}'..='\u{A8FF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
    };
    let last = cluster.chars().next_back();
    last.is_some_and(is_shaped) && is_shaped(c)
        || joiner == JOINER && !is_invisible(c) && c.width() != Some(0) && {
            is_pictograph(c) && is_one_cluster(cluster, &[JOINER, c])
        }
}

/// Whether `c` is Extended_Pictographic, inferred from its segmentation (UAX #29, rule GB11).
fn is_pictograph(c: char) -> bool {
    is_one_cluster("", &[c, JOINER, '😀'])
}

fn tag_letter(tag: char) -> Option<char> {
    char::from_u32(u32::from(tag).checked_sub(0xE0000)?)
}

fn is_selector_meaningful(base: char, c: char) -> bool {
    let is_han = matches!(base, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    match c {
        '\u{FE0E}' | EMOJI_STYLE => is_pictograph(base),
        '\u{180B}'..='\u{180F}' => matches!(base, '\u{1820}'..='\u{18AA}'),
        _ => is_han,
    }
}

/// Whether `c` is blank like the ASCII space, except the ideographic space, which is ordinary in
/// Japanese; or private use, which some fonts draw as check marks and arrows, like those of a screen.
pub(super) fn is_unusual(c: char) -> bool {
    matches!(
        c,
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{2800}'
            | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}'
    )
}

/// Whether a run of these bytes may bypass [`InvisibleFilter::push`].
pub(super) fn is_printable_ascii_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_invisible_character_is_classified() {
        for (kind, characters) in [
            (Invisible::Control, "\0\t\n\u{1b}\u{7f}\u{85}\u{9f}"),
            (
                Invisible::Bidi,
                "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}",
            ),
            (Invisible::Joiner, "\u{200c}\u{200d}"),
            (Invisible::StyleSelector, "\u{fe00}\u{fe0f}"),
            (Invisible::MongolianSelector, "\u{180b}\u{180f}"),
            (Invisible::HanSelector, "\u{e0100}\u{e01ef}"),
            (
                Invisible::Tag,
                "\u{e0000}\u{e0041}\u{e00ff}\u{e01f0}\u{e0fff}",
            ),
            (Invisible::Separator, "\u{2028}\u{2029}"),
            (
                Invisible::Blank,
                "\u{ad}\u{34f}\u{115f}\u{180e}\u{200b}\u{2060}\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff9}\u{1ffff}",
            ),
        ] {
            for c in characters.chars() {
                assert_eq!(Invisible::classify(c), Some(kind), "{c:?}");
            }
        }
        for c in "a 가é\u{301}\u{a0}\u{3000}👩🏴\u{2800}\u{fffd}".chars() {
            assert_eq!(Invisible::classify(c), None, "{c:?}");
        }
    }
}
