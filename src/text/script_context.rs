//! The scripts in which a whole value is written. They decide whether a character in the value is a
//! look-alike, so that prose is not marked.

use super::ascii_twin::{ascii_letter_twin, ascii_punctuation_twin, is_latin_look_alike};
use super::script_words::{PartKind, is_east_asian, script_of, text_parts};
use icu_properties::props::Script;

/// Scripts that have letters that look the same.
pub(super) const CONFUSABLE: [Script; 7] = [
    Script::Latin,
    Script::Greek,
    Script::Cyrillic,
    Script::Armenian,
    Script::Cherokee,
    Script::Coptic,
    Script::Lisu,
];
/// Letters that, apart from `ı`, only Turkish and related languages have.
const TURKIC: &str = "ğşəİĞŞƏ";
/// Characters of phonetic transcriptions outside the IPA Extensions block.
const PHONETIC: &str = "ˈˌːŋ";
/// ASCII punctuation of paths, variables and assignments, which prose does not contain.
const CODE_PUNCTUATION: &str = "/\\_@~$=";

/// The scripts of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptContext {
    /// Whether it has ASCII letters, punctuation used only in code, or a leading `-`. Always true
    /// for ASCII text that is not empty.
    pub(super) has_ascii: bool,
    pub(super) has_east_asian: bool,
    pub(super) is_turkic: bool,
    pub(super) is_phonetic: bool,
    scripts: Vec<Script>,
    prose: Vec<Script>,
}

impl ScriptContext {
    /// O(len), fast for ASCII.
    pub fn of(value: &str) -> Self {
        let mut context = Self::default();
        if value.is_ascii() {
            context.has_ascii = !value.is_empty();
            return context;
        }
        for part in text_parts(value) {
            match part.kind {
                PartKind::Word => context.add_word(part.text),
                PartKind::Other => context.has_ascii |= CODE_PUNCTUATION.contains(part.text),
                PartKind::Escape => {}
            }
        }
        context.is_turkic = value.contains(|c| TURKIC.contains(c));
        // An option, such as `-c`, is code.
        context.has_ascii |= value.starts_with('-');
        context.is_phonetic = value.contains(is_phonetic) && !value.contains("//");
        context
    }

    /// Whether the value has letters of this script.
    pub(super) fn has(&self, script: Script) -> bool {
        self.scripts.contains(&script)
    }

    /// Whether the value has a word in this script that cannot pass for ASCII.
    pub(super) fn has_prose(&self, script: Script) -> bool {
        self.prose.contains(&script)
    }

    fn add_word(&mut self, word: &str) {
        let has_ascii_letters = word.contains(|c: char| c.is_ascii_alphabetic());
        self.has_ascii |= has_ascii_letters;
        let is_punctuation = |c| ascii_punctuation_twin(c).is_some();
        let mut letters = word.chars().filter(|c| !c.is_ascii());
        self.has_east_asian |= letters.any(|c| is_east_asian(c) && !is_punctuation(c));
        // The script of the last letters, their number, and whether one of them cannot pass for ASCII.
        let mut run = (Script::Common, 0, false);
        for c in word.chars().filter(|c| c.is_alphabetic()) {
            let script = script_of(c);
            if run.0 != script {
                run = (script, 0, false);
                add(&mut self.scripts, script);
            }
            run.1 += 1;
            run.2 |= !c.is_ascii() && ascii_letter_twin(c).is_none();
            // A mixed word is no evidence for scripts with look-alikes.
            let is_evidence = !(has_ascii_letters && CONFUSABLE.contains(&script));
            if is_evidence && run.1 > 1 && run.2 {
                add(&mut self.prose, script);
            }
        }
    }
}

fn add(scripts: &mut Vec<Script>, script: Script) {
    let is_shared = matches!(script, Script::Common | Script::Inherited);
    if !is_shared && !scripts.contains(&script) {
        scripts.push(script);
    }
}

fn is_phonetic(c: char) -> bool {
    let is_extension = matches!(c, '\u{250}'..='\u{2AF}');
    PHONETIC.contains(c) || is_extension && !is_latin_look_alike(c)
}
