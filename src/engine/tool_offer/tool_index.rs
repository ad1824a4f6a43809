//! Finds tools by keywords: BM25 over names, servers, titles, descriptions and parameter names.
//! Needs no model. Korean is indexed as pairs of syllables, so particles do not hide a word, and common
//! Korean words are also searched for in English, because most servers describe their tools in English.

use super::korean_terms;
use crate::domain::{OfferedTool, ServerId, Tool, Toolset};
use serde_json::Value;
use std::collections::HashMap;

/// Parameters of BM25: how quickly repeated terms saturate, and the influence of a text's length.
const SATURATION: f64 = 1.2;
const LENGTH_INFLUENCE: f64 = 0.5;
/// How often the terms of a name and of a title count.
const NAME_WEIGHT: f64 = 3.0;
const TITLE_WEIGHT: f64 = 2.0;
/// Terms that are only a translation count less than those that the user wrote.
const TRANSLATION_WEIGHT: f64 = 0.8;
/// Maximum indexed size of a description, and number of parameters.
const DESCRIPTION_BYTES_MAX: usize = 1_000;
const PARAMETERS_MAX: usize = 30;
/// Only this much of a query is searched for.
const QUERY_BYTES_MAX: usize = 4_000;
/// Maximum number of terms of a query, and of its Korean words that are translated.
const QUERY_TERMS_MAX: usize = 100;
const STOP_WORDS: [&str; 62] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do",
    "does", "for", "from", "give", "have", "how", "i", "if", "in", "into", "is", "it", "its",
    "let", "me", "my", "need", "of", "on", "or", "our", "please", "should", "so", "some", "tell",
    "that", "the", "their", "them", "there", "these", "this", "to", "tool", "use", "using", "want",
    "was", "we", "what", "when", "which", "will", "with", "would", "you", "your",
];

#[derive(Debug, Default)]
pub(super) struct ToolIndex {
    /// For each term, the tools with their weighted number of occurrences.
    postings: HashMap<String, Vec<(usize, f64)>>,
    /// The weighted number of terms of each tool.
    lengths: Vec<f64>,
    keys: Vec<(ServerId, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolMatch {
    pub key: (ServerId, String),
    pub score: f64,
}

impl ToolIndex {
    pub(super) fn new(toolset: &Toolset) -> Self {
        let mut index = Self::default();
        for offered in toolset.tools() {
            index.add(offered);
        }
        index
    }

    fn add(&mut self, offered: &OfferedTool) {
        let position = self.keys.len();
        self.keys
            .push((offered.server.clone(), offered.tool.name.clone()));
        let counts = term_counts(offered);
        self.lengths.push(counts.values().sum());
        for (term, count) in counts {
            self.postings
                .entry(term)
                .or_default()
                .push((position, count));
        }
    }

    /// Best first; ties in the order of the toolset.
    pub(super) fn search(&self, query: &str, matches_max: usize) -> Vec<ToolMatch> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        let mean_length = self.lengths.iter().sum::<f64>() / self.lengths.len().max(1) as f64;
        for (term, weight) in query_terms(query) {
            let Some(postings) = self.postings.get(&term) else {
                continue;
            };
            let (all, with_term) = (self.keys.len() as f64, postings.len() as f64);
            let rarity = (1.0 + (all - with_term + 0.5) / (with_term + 0.5)).ln();
            for (position, count) in postings {
                let relative_length = self.lengths[*position] / mean_length.max(1.0);
                let length_factor = 1.0 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * relative_length;
                let saturated = count * (SATURATION + 1.0) / (count + SATURATION * length_factor);
                *scores.entry(*position).or_default() += weight * rarity * saturated;
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(a, a_score), (b, b_score)| b_score.total_cmp(a_score).then(a.cmp(b)));
        ranked.truncate(matches_max);
        let to_match = |(position, score): (usize, f64)| ToolMatch {
            key: self.keys[position].clone(),
            score,
        };
        ranked.into_iter().map(to_match).collect()
    }
}

fn term_counts(offered: &OfferedTool) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    let mut add = |text: &str, weight: f64| {
        for term in terms(text) {
            *counts.entry(term).or_default() += weight;
        }
    };
    let tool: &Tool = &offered.tool;
    add(&tool.name, NAME_WEIGHT);
    add(offered.server.as_str(), 1.0);
    add(tool.title.as_deref().unwrap_or_default(), TITLE_WEIGHT);
    let description = tool.description.as_deref().unwrap_or_default();
    let end = description.floor_char_boundary(DESCRIPTION_BYTES_MAX);
    add(&description[..end], 1.0);
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    let names = properties.into_iter().flatten().map(|(name, _)| name);
    names.take(PARAMETERS_MAX).for_each(|name| add(name, 0.5));
    counts
}

fn query_terms(query: &str) -> HashMap<String, f64> {
    let query = &query[..query.floor_char_boundary(QUERY_BYTES_MAX)];
    let mut weights = HashMap::new();
    for term in terms(query).into_iter().take(QUERY_TERMS_MAX) {
        weights.insert(term, 1.0);
    }
    for word in korean_terms::translations(query).take(QUERY_TERMS_MAX) {
        for term in terms(word) {
            weights.entry(term).or_insert(TRANSLATION_WEIGHT);
        }
    }
    weights
}

/// The terms of a text: stemmed words of letters and digits, with `snake_case` and `camelCase`
/// split; runs of Hangul, Han and kana as pairs of characters.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut previous_is_lower = false;
    for c in text.chars() {
        let starts_hump = c.is_uppercase() && previous_is_lower;
        let changes_script = word
            .chars()
            .last()
            .is_some_and(|last| is_east_asian(last) != is_east_asian(c));
        if !c.is_alphanumeric() || starts_hump || changes_script {
            push_word(&mut terms, &word);
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        previous_is_lower = c.is_lowercase() || c.is_numeric();
    }
    push_word(&mut terms, &word);
    terms
}

fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn push_word(terms: &mut Vec<String>, word: &str) {
    if word.chars().next().is_some_and(is_east_asian) {
        let chars: Vec<char> = word.chars().collect();
        match chars.len() {
            1 => terms.push(word.to_owned()),
            _ => terms.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
    } else if !word.is_empty() && !STOP_WORDS.contains(&word) {
        terms.push(stem(word));
    }
}

/// Removes common English endings, so that `files`, `searching` and `created` match `file`,
/// `search` and `create`.
fn stem(word: &str) -> String {
    let strip = |ending: &str, rest_min: usize| {
        word.strip_suffix(ending)
            .filter(|rest| rest.len() >= rest_min && rest.is_ascii())
    };
    let base = if let Some(rest) = strip("ies", 3) {
        return format!("{rest}y");
    } else if let Some(rest) = strip("sses", 2) {
        return format!("{rest}ss");
    } else if let Some(rest) = strip("ing", 3).or_else(|| strip("ed", 3)) {
        undouble(rest)
    } else if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        word
    } else {
        strip("s", 3).unwrap_or(word)
    };
    // `create`, `creates` and `creating` all become `creat`.
    match base.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => base.to_owned(),
    }
}

/// `plann` becomes `plan`, but `add` stays as it is.
fn undouble(word: &str) -> &str {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] if a == b && word.len() > 3 && !matches!(b, b'l' | b's') => {
            &word[..word.len() - 1]
        }
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{described_tool, server};

    #[test]
    fn words_are_split_and_stemmed() {
        assert_eq!(
            terms("listDirectoryEntries, read_file; HTTP2 planning the FILES created"),
            [
                "list",
                "directory",
                "entry",
                "read",
                "fil",
                "http2",
                "plan",
                "fil",
                "creat"
            ]
        );
        assert_eq!(
            terms("creates creating create adding"),
            ["creat", "creat", "creat", "add"]
        );
        assert_eq!(
            terms("서울의 날씨 v2를"),
            ["서울", "울의", "날씨", "v2", "를"]
        );
    }

    #[test]
    fn rare_words_and_names_determine_the_best_match() {
        let tools = vec![
            described_tool("read_file", "Reads a file."),
            described_tool("write_file", "Writes a file."),
            described_tool("get_weather", "The forecast of a city."),
        ];
        let index = ToolIndex::new(&Toolset::from_servers([&server("x", tools)]));
        let best = |query: &str| {
            let found = index.search(query, 1);
            found.first().map(|found| found.key.1.clone())
        };
        assert_eq!(
            best("Please write this into a file").as_deref(),
            Some("write_file")
        );
        assert_eq!(best("서울 날씨 알려줘").as_deref(), Some("get_weather"));
        assert_eq!(best("xyzzy"), None);
        assert_eq!(best(""), None);
    }
}
