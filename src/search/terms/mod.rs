//! Prepares text for the full-text index, and converts queries to match expressions.
//!
//! The tokenizer of the database separates words at spaces and punctuation. That does not separate
//! Korean, Chinese and Japanese words from their particles or from each other, so runs of such
//! letters are also stored as overlapping pairs (bigrams): two letters find every place that
//! contains them.

use super::filler_words::is_filler;
use super::word_forms::{base, completions, stem};
use crate::text::{WordList, word_list};
use icu_normalizer::ComposingNormalizerBorrowed;

/// Per query. Further terms are ignored.
const TERMS_MAX: usize = 32;
/// Further letters are ignored.
const RUN_CHARS_MAX: usize = 32;
/// Shorter words match only whole words in [`SearchTerms::prefix_expressions`]: very many words
/// begin with the same two letters, so merging their occurrences takes long.
const PREFIX_CHARS_MIN: usize = 3;

/// Words that are ignored unless the query has no others.
static STOP_WORDS: WordList = word_list!("search_terms", "stop words");

/// Particles at the end of a Korean word, the longest first.
static PARTICLES: WordList = word_list!("search_terms", "particles");

/// Which terms must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Each term; the last may be the start of a word.
    Every,
    /// At least one term. Chunks with more of the terms, or rarer ones, rank higher.
    Any,
}

/// The terms of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerms {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// Lowercase. Several words with spaces between them are a phrase: they must follow each other.
    Word(String),
    /// A run of Korean, Chinese or Japanese letters, without particle.
    Run(String),
}

/// Whether words of this letter's script are written without spaces or with particles attached.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The composed form, so that decomposed Hangul (as in file names on macOS) is found.
pub fn composed(text: &str) -> std::borrow::Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// The pairs of letters in the Korean, Chinese and Japanese runs of `text`, separated by spaces. The
/// last letter of each run also stands alone, so that a prefix query finds any single letter.
pub fn letter_pairs(text: &str) -> String {
    let mut out = String::new();
    let mut previous: Option<char> = None;
    // A space ends the last run.
    for c in text.chars().chain([' ']) {
        let current = Some(c).filter(|c| is_cjk(*c));
        if let Some(first) = previous {
            out.push(first);
            out.extend(current);
            out.push(' ');
        }
        previous = current;
    }
    out
}

impl SearchTerms {
    /// The terms of a query in ordinary language.
    pub fn parse(query: &str) -> Self {
        let mut terms = Vec::new();
        add_terms(query, &mut terms);
        if !terms.iter().all(Term::is_stop_word) {
            terms.retain(|term| !term.is_stop_word());
        }
        Self { terms }
    }

    /// Like [`Self::parse`], but words in double quotes must follow each other. Korean, Chinese and
    /// Japanese ones are terms as usual.
    pub fn parse_with_phrases(query: &str) -> Self {
        let parts: Vec<&str> = query.split('"').collect();
        let unquoted: Vec<&str> = parts.iter().copied().step_by(2).collect();
        let mut terms = Self::parse(&unquoted.join(" ")).terms;
        for quoted in parts.iter().skip(1).step_by(2) {
            let mut quoted_terms = Vec::new();
            add_terms(quoted, &mut quoted_terms);
            let is_word = |term: &Term| matches!(term, Term::Word(_));
            match quoted_terms.len() > 1 && quoted_terms.iter().all(is_word) {
                true => terms.push(Term::Word(phrase(quoted))),
                false => terms.extend(quoted_terms),
            }
        }
        terms.truncate(TERMS_MAX);
        Self { terms }
    }

    pub(super) fn split(&self) -> Vec<Self> {
        let alone = |term: &Term| Self {
            terms: vec![term.clone()],
        };
        self.terms.iter().map(alone).collect()
    }

    /// The rarest terms that together occur in at most `rows_max` rows, at least one. `counts` has
    /// the number of rows of each term.
    pub(super) fn rarest(&self, counts: &[i64], rows_max: i64) -> Self {
        let mut by_count: Vec<(i64, &Term)> = counts.iter().copied().zip(&self.terms).collect();
        by_count.sort_by_key(|(count, _)| *count);
        let mut rows = 0;
        let kept = by_count
            .into_iter()
            .enumerate()
            .take_while(|(at, (count, _))| {
                rows += count;
                *at == 0 || rows <= rows_max
            });
        let terms = kept.map(|(_, (_, term))| term.clone()).collect();
        Self { terms }
    }

    /// Long terms tend to be the most specific.
    pub(super) fn longest(&self, count: usize) -> Self {
        let mut terms = self.terms.clone();
        terms.sort_by_key(|term| std::cmp::Reverse(term.text().len()));
        terms.truncate(count);
        Self { terms }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms as lowercase text, for marking them in a result.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(Term::text)
    }

    /// Whether any of the terms occurs in `text`. English words may have different endings, and
    /// Korean, Chinese and Japanese ones may be separated by spaces in the text.
    pub fn any_in(&self, text: &str) -> bool {
        let text = composed(text).to_lowercase();
        let unspaced: String = text.split_whitespace().collect();
        self.terms.iter().any(|term| match term {
            Term::Word(_) => text.contains(term.stem()),
            Term::Run(run) => unspaced.contains(run),
        })
    }

    /// The terms that indicate the topic of a prompt, without words such as `please` and `tell`.
    pub(super) fn topic_terms(&self) -> Self {
        let is_topical = |term: &&Term| !term.is_stop_word() && !is_filler(term.text());
        let terms = self.terms.iter().filter(is_topical).cloned();
        Self {
            terms: terms.collect(),
        }
    }

    /// Whether a term is Korean, Chinese or Japanese.
    pub(super) fn has_runs(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Run(_)))
    }

    /// Whether any of the terms is a word of `texts`. English words may have different endings, and
    /// Korean, Chinese and Japanese ones may be part of a word.
    pub(super) fn any_word_in(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| {
            let text = composed(text).to_lowercase();
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            let unspaced: String = text.split_whitespace().collect();
            self.terms.iter().any(|term| match term {
                Term::Word(word) => words.iter().any(|other| base(other) == base(word)),
                Term::Run(run) => unspaced.contains(run),
            })
        })
    }

    /// A match expression for chunks that contain every term, each run as a whole.
    pub(super) fn all_terms_expression(&self) -> String {
        let expressions = self.terms.iter().map(|term| match term {
            Term::Word(word) => format!("{{title body}} : \"{word}\""),
            Term::Run(run) => run_expression(run, Matching::Every),
        });
        expressions.collect::<Vec<_>>().join(" AND ")
    }

    /// A match expression for each term. Words of at least [`PREFIX_CHARS_MIN`] letters also match
    /// longer words that begin with them, whatever their stems.
    pub(super) fn prefix_expressions(&self) -> impl Iterator<Item = String> {
        self.terms.iter().map(|term| match term {
            Term::Word(word) if word.chars().nth(PREFIX_CHARS_MIN - 1).is_none() => {
                format!("{{title body}} : \"{word}\"")
            }
            Term::Word(word) => {
                let completions = completions(word).into_iter();
                let completions: String =
                    completions.map(|word| format!(" OR \"{word}\"")).collect();
                format!("{{title body}} : (\"{word}\" OR \"{word}\" *{completions})")
            }
            Term::Run(run) => run_expression(run, Matching::Every),
        })
    }

    /// A match expression for chunks whose title or heading contains at least one term.
    pub(super) fn title_expression(&self) -> Option<String> {
        let expression = self.expression(Matching::Any)?;
        Some(format!("{{title title_pairs}} : ({expression})"))
    }

    /// A match expression for chunks with all words as whole words, and at least one pair of each run.
    pub(super) fn whole_words_expression(&self) -> Option<String> {
        let terms = self.split().into_iter();
        let terms: Vec<String> = terms
            .filter_map(|term| term.expression(Matching::Any))
            .collect();
        (!terms.is_empty()).then(|| terms.join(" AND "))
    }

    /// A match expression of the full-text index; `None` without terms.
    pub(super) fn expression(&self, matching: Matching) -> Option<String> {
        let count = self.terms.len();
        let expressions = self.terms.iter().enumerate().map(|(at, term)| match term {
            Term::Word(word) if matching == Matching::Every && at + 1 == count => {
                // The stemmed word as well: `running` matches `run`.
                format!("({{title body}} : \"{word}\" OR {{title body}} : \"{word}\" *)")
            }
            Term::Word(word) => format!("{{title body}} : \"{word}\""),
            Term::Run(run) => run_expression(run, matching),
        });
        let operator = match matching {
            Matching::Every => " AND ",
            Matching::Any => " OR ",
        };
        let joined = expressions.collect::<Vec<_>>().join(operator);
        (!joined.is_empty()).then_some(joined)
    }
}

impl Term {
    fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Run(text) => text,
        }
    }

    fn is_stop_word(&self) -> bool {
        matches!(self, Self::Word(word) if STOP_WORDS.contains(&word.as_str()))
    }

    fn stem(&self) -> &str {
        match self {
            Self::Run(run) => run,
            Self::Word(word) => stem(word),
        }
    }
}

/// Adds the words and the runs of a text, each once.
fn add_terms(text: &str, terms: &mut Vec<Term>) {
    for word in words(&composed(text).to_lowercase()) {
        for (at, part) in split_scripts(word).enumerate() {
            let is_run = part.starts_with(is_cjk);
            if at > 0 && is_run && PARTICLES.contains(&part) {
                continue;
            }
            let term = if is_run {
                let run: String = part.chars().take(RUN_CHARS_MAX).collect();
                Term::Run(without_particle(&run).to_owned())
            } else {
                Term::Word(part.to_owned())
            };
            if terms.len() < TERMS_MAX && !terms.contains(&term) {
                terms.push(term);
            }
        }
    }
}

/// The words of a text with single spaces between them, lowercase.
fn phrase(text: &str) -> String {
    let text = composed(text).to_lowercase();
    let words: Vec<&str> = words(&text).filter(|word| !word.is_empty()).collect();
    words[..words.len().min(TERMS_MAX)].join(" ")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_combining(c))
}

fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Splits a word where CJK letters and others meet, as in `API를`.
fn split_scripts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let is_run = rest.starts_with(is_cjk);
        let end = rest.find(|c| is_cjk(c) != is_run).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Strips one particle, if at least two letters remain.
fn without_particle(run: &str) -> &str {
    let stripped = PARTICLES
        .iter()
        .find_map(|particle| run.strip_suffix(particle));
    match stripped {
        Some(word) if word.chars().count() >= 2 => word,
        _ => run,
    }
}

fn run_expression(run: &str, matching: Matching) -> String {
    let letters: Vec<char> = run.chars().collect();
    if let [letter] = letters[..] {
        return format!("{{title_pairs body_pairs}} : \"{letter}\" *");
    }
    let pairs: Vec<String> = letters.windows(2).map(String::from_iter).collect();
    let phrase = format!("{{title_pairs body_pairs}} : \"{}\"", pairs.join(" "));
    if matching == Matching::Every || pairs.len() == 1 {
        return phrase;
    }
    let any = pairs
        .iter()
        .map(|pair| format!("\"{pair}\""))
        .collect::<Vec<_>>();
    format!(
        "({phrase} OR {{title_pairs body_pairs}} : ({}))",
        any.join(" OR ")
    )
}

#[cfg(test)]
mod tests;
