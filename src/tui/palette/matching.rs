//! The commands that the palette lists for a filter, and their order.

use crate::commands::CommandRow;
use crate::domain::{PromptTemplate, RecentCommands};
use crate::text::Clean;
use crate::tui::keymap::{Action, Binding, BindingGroup, BindingScope, TABLE};
use crate::tui::layer::SharedUiState;
use crate::tui::templates;
use crate::tui::widgets::editor::Edit;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;

#[derive(Clone, Copy)]
pub enum PaletteEntry<'a> {
    Binding(&'static Binding),
    Template(&'a PromptTemplate),
}

/// How well an entry matches one word of the filter, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchRank {
    WordStart,
    Inside,
    SearchWord,
    /// The letters appear in this order with others between them; a higher score is better.
    Scattered(Reverse<u32>),
}

impl<'a> PaletteEntry<'a> {
    pub(super) fn description(self) -> Clean {
        match self {
            Self::Binding(binding) => Clean::from_static(binding.description),
            Self::Template(template) => templates::description(template),
        }
    }

    /// The command with its slash; empty if there is none.
    pub(super) fn command(self) -> Clean {
        match self {
            Self::Binding(binding) => {
                Clean::from_static(binding.command().map_or("", |row| row.name))
            }
            Self::Template(template) => Clean::single_line(&templates::command(template)),
        }
    }

    /// The name that identifies the entry among the recent ones.
    pub(super) fn recent_name(self) -> String {
        match self {
            Self::Binding(binding) => binding.name.to_owned(),
            Self::Template(template) => templates::command(template),
        }
    }

    /// The description, and the commands of the entry with their aliases, in lower case.
    fn shown_text(self) -> String {
        let commands = match self {
            Self::Binding(binding) => {
                let rows = rows_of(binding).filter_map(Binding::command);
                let names: Vec<&str> = rows.flat_map(CommandRow::names).collect();
                names.join(" ")
            }
            Self::Template(template) => templates::command(template),
        };
        format!("{} {commands}", self.description().as_str()).to_lowercase()
    }

    fn has_search_word(self, wanted: &str) -> bool {
        match self {
            Self::Binding(binding) => {
                rows_of(binding).any(|row| has_word_start(row.search_words, wanted))
            }
            Self::Template(_) => has_word_start("template prompt", wanted),
        }
    }
}

/// The action whose entry stands for this one: `/set-model` and `/models` open the same list.
fn entry_action(action: Action) -> Action {
    match action == Action::SET_MODEL {
        true => Action::MODELS,
        false => action,
    }
}

/// The rows of the table that an entry stands for.
fn rows_of(entry: &Binding) -> impl Iterator<Item = &'static Binding> {
    let rows = TABLE.iter();
    rows.filter(|row| entry_action(row.action) == entry.action)
}

/// All entries: one for each action, in the order of `TABLE`, and then the templates.
fn entries<'a>(shared: SharedUiState<'a>) -> impl Iterator<Item = PaletteEntry<'a>> {
    let mut seen: Vec<Action> = Vec::new();
    let bindings = TABLE.iter().filter(move |binding| {
        let has_entry = entry_action(binding.action) == binding.action;
        let is_new = has_entry && is_offered(binding) && !seen.contains(&binding.action);
        if is_new {
            seen.push(binding.action);
        }
        is_new
    });
    bindings
        .map(PaletteEntry::Binding)
        .chain(templates::listed_templates(shared).map(PaletteEntry::Template))
}

fn is_offered(binding: &Binding) -> bool {
    let is_global_task = binding.scope == BindingScope::Always
        && binding.group != BindingGroup::Moving
        && !matches!(binding.action, Action::Interrupt | Action::Commands);
    let folds = matches!(
        binding.action,
        Action::ToggleFold | Action::Edit(Edit::Unfold)
    );
    binding.command().is_some() || is_global_task || folds
}

pub(super) fn entry_count(shared: SharedUiState) -> usize {
    entries(shared).count()
}

/// The entries that match all words, which are lower case. Entries in which each word starts a word come
/// first, then those that contain each word, then those found only by their search words, and last
/// those that contain the letters with gaps. Equal ones keep their order, but recently used ones
/// come first.
pub(super) fn matching_entries<'a>(
    words: &[&str],
    shared: SharedUiState<'a>,
) -> Vec<PaletteEntry<'a>> {
    let mut words: Vec<FilterWord> = words.iter().copied().map(FilterWord::new).collect();
    let mut matcher = None;
    let recent: &RecentCommands = shared.recent_commands;
    let mut matches: Vec<_> = entries(shared)
        .filter_map(|entry| {
            let shown = entry.shown_text();
            let ranks = words
                .iter_mut()
                .map(|word| word.rank(entry, &shown, &mut matcher));
            let worst = ranks.collect::<Option<Vec<_>>>()?.into_iter().max();
            Some((worst, recent.age(&entry.recent_name()), entry))
        })
        .collect();
    matches.sort_by_key(|(rank, age, _)| (*rank, *age));
    matches.into_iter().map(|(_, _, entry)| entry).collect()
}

/// One word of the filter, in lower case.
struct FilterWord<'a> {
    text: &'a str,
    /// Compiled once it is needed.
    pattern: Option<Pattern>,
}

impl<'a> FilterWord<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            pattern: None,
        }
    }

    fn rank(
        &mut self,
        entry: PaletteEntry,
        shown: &str,
        matcher: &mut Option<Matcher>,
    ) -> Option<MatchRank> {
        if has_word_start(shown, self.text) {
            Some(MatchRank::WordStart)
        } else if shown.contains(self.text) {
            Some(MatchRank::Inside)
        } else if entry.has_search_word(self.text) {
            Some(MatchRank::SearchWord)
        } else {
            let score = self.scattered_score(shown, matcher)?;
            Some(MatchRank::Scattered(Reverse(score)))
        }
    }

    /// The score of a match with gaps; `None` if there is no match, or if it is so weak that the
    /// entry has nothing to do with the word.
    fn scattered_score(&mut self, shown: &str, matcher: &mut Option<Matcher>) -> Option<u32> {
        /// Letters that start words or follow each other score more than this, letters scattered
        /// over several words less.
        const SCORE_PER_LETTER_MIN: u32 = 20;
        let letters = u32::try_from(self.text.chars().count()).ok()?;
        let pattern = self.pattern.get_or_insert_with(|| {
            Pattern::new(
                self.text,
                CaseMatching::Ignore,
                Normalization::Smart,
                AtomKind::Fuzzy,
            )
        });
        let matcher = matcher.get_or_insert_with(|| Matcher::new(Config::DEFAULT));
        let mut buffer = Vec::new();
        let score = pattern.score(Utf32Str::new(shown, &mut buffer), matcher)?;
        (letters > 1 && score >= SCORE_PER_LETTER_MIN * letters).then_some(score)
    }
}

fn has_word_start(text: &str, wanted: &str) -> bool {
    let is_separator = |letter: char| !letter.is_alphanumeric() && letter != '/';
    let mut words = text.split(is_separator);
    words.any(|word| word.starts_with(wanted) || word.trim_start_matches('/').starts_with(wanted))
}
