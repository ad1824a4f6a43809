//! The tools that requests of the open conversation offer to the model, in a stable order.
//!
//! Model servers cache the beginning of a prompt, and tool definitions are part of it. So the offer
//! changes as rarely as possible, a tool keeps its place until the end of the conversation, and
//! tools that join are added at the end.
//!
//! If the definitions would take too much of the context (`toolDiet`), requests offer only the
//! tools in `toolsPinned`, tools that were used recently, and those that match the prompt. The
//! model finds the others with `find_tools`.

mod find_tools;
mod korean_terms;
mod tool_index;

use super::context::raw_estimate_definitions;
use crate::domain::{Arguments, OfferedTool, ServerId, Toolset};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use tool_index::ToolIndex;

/// Maximum number of tools that the first prompt of a conversation adds because they match it.
const MATCHES_MAX: usize = 8;
/// Maximum number that a later prompt adds. Each addition invalidates the server's cache.
const LATER_MATCHES_MAX: usize = 3;
/// A later match must have at least this share of the best score.
const LATER_SCORE_SHARE: f64 = 0.7;
/// Maximum number of recently used tools that a new conversation offers.
const RECENT_MAX: usize = 4;

pub type ToolKey = (ServerId, String);

#[derive(Debug, Default)]
pub struct ToolOffer {
    /// Every tool that was offered in this conversation. A tool that is missing now gets its place
    /// back when it returns.
    order: Vec<ToolKey>,
    /// The last offer. The same one is returned while nothing changes, because its rewritten
    /// schemas are cached.
    last: Arc<Toolset>,
    /// Tools are held back, and `find_tools` is offered.
    is_diet_on: bool,
    /// The held-back tools may have changed since the last call of [`Self::take_diet_change`].
    has_diet_changed: bool,
    /// The tools used last, in any conversation of this run, newest first.
    recent: VecDeque<ToolKey>,
    /// The keyword index, with the tools that it was built from.
    index: Option<(Arc<Toolset>, ToolIndex)>,
}

/// The inputs that decide which tools a turn offers.
#[derive(Debug, Clone, Copy)]
pub struct OfferRequest<'a> {
    pub prompt: &'a str,
    /// Above this size of all definitions, tools are held back; `None` never holds any back.
    pub tokens_max: Option<u64>,
    pub always_offered: &'a BTreeSet<ToolKey>,
}

impl ToolOffer {
    /// Begins the offer of another conversation.
    pub fn reset(&mut self) {
        *self = Self {
            recent: std::mem::take(&mut self.recent),
            index: self.index.take(),
            has_diet_changed: self.is_diet_on,
            ..Self::default()
        };
    }

    /// The offer for a new turn, from the tools of all servers that can be called now.
    pub fn for_turn(&mut self, toolset: &Arc<Toolset>, request: OfferRequest<'_>) -> Arc<Toolset> {
        let is_first_turn = self.order.is_empty();
        let was_diet_on = self.is_diet_on;
        let all_tokens: u64 = toolset.tools().iter().map(tokens).sum();
        self.is_diet_on = request.tokens_max.is_some_and(|max| all_tokens > max);
        match request.tokens_max.filter(|_| self.is_diet_on) {
            Some(tokens_max) => {
                self.add(&search_key());
                self.add_selected(toolset, request, tokens_max, is_first_turn);
            }
            None => self.add_all(toolset.tools().iter().map(key)),
        }
        self.has_diet_changed |= was_diet_on != self.is_diet_on;
        self.update(toolset)
    }

    /// The tools that can be called: those of servers, and `find_tools` while tools are held back.
    pub fn callable(&self, toolset: &Arc<Toolset>) -> Arc<Toolset> {
        match self.is_diet_on {
            true => {
                let search = OfferedTool::tool_search(find_tools::definition());
                Arc::new(toolset.with_first(search))
            }
            false => Arc::clone(toolset),
        }
    }

    /// The offer of the last turn, for estimates between turns; all tools before the first turn.
    pub fn current(&self, toolset: &Arc<Toolset>) -> Arc<Toolset> {
        match self.order.is_empty() {
            true => Arc::clone(toolset),
            false => Arc::clone(&self.last),
        }
    }

    /// Whether requests leave this tool out.
    pub fn holds_back(&self, server: &ServerId, tool: &str) -> bool {
        self.is_diet_on && self.last.get(server, tool).is_none()
    }

    /// Whether the set of held-back tools may have changed since the last call.
    pub fn take_diet_change(&mut self) -> bool {
        std::mem::take(&mut self.has_diet_changed)
    }

    /// Whether this tool is `find_tools`; always false while no tools are held back.
    pub fn is_search(&self, server: &ServerId, tool: &str) -> bool {
        self.is_diet_on && (server, tool) == (&search_key().0, OfferedTool::TOOL_SEARCH_NAME)
    }

    /// Answers a call to `find_tools`, and adds the found tools to the offer. Returns the answer and
    /// the new offer.
    pub fn find_tools(
        &mut self,
        toolset: &Arc<Toolset>,
        arguments: &Arguments,
    ) -> (String, Arc<Toolset>) {
        let query = find_tools::query(arguments);
        let found = self.index(toolset).search(query, find_tools::FOUND_MAX);
        let keys: Vec<ToolKey> = found.into_iter().map(|found| found.key).collect();
        self.add_all(keys.iter().cloned());
        (find_tools::answer(toolset, &keys), self.update(toolset))
    }

    /// Records that a tool is used. Returns the new offer if the tool was held back.
    pub fn record_use(
        &mut self,
        toolset: &Arc<Toolset>,
        server: &ServerId,
        tool: &str,
    ) -> Option<Arc<Toolset>> {
        let key = (server.clone(), tool.to_owned());
        self.recent.retain(|recent| *recent != key);
        self.recent.push_front(key.clone());
        self.recent.truncate(RECENT_MAX);
        let is_new = !self.order.contains(&key);
        (is_new && self.add(&key)).then(|| self.update(toolset))
    }

    /// Adds the tools that are always offered, matches for the prompt and, in the first turn,
    /// recently used tools. The always offered tools and, in the first turn, the best match are
    /// added even if they exceed `tokens_max`.
    fn add_selected(
        &mut self,
        toolset: &Arc<Toolset>,
        request: OfferRequest<'_>,
        tokens_max: u64,
        is_first_turn: bool,
    ) {
        let known: HashSet<ToolKey> = self.order.iter().cloned().collect();
        let offered = toolset.tools().iter();
        let used: u64 = offered
            .filter(|tool| known.contains(&key(tool)))
            .map(tokens)
            .sum();
        let mut tokens_left = tokens_max.saturating_sub(used);
        let mut selected: BTreeSet<ToolKey> = BTreeSet::new();
        let mut candidates: Vec<(ToolKey, bool)> = Vec::new();
        candidates.extend(request.always_offered.iter().map(|key| (key.clone(), true)));
        let matches = self.matches(toolset, request.prompt, is_first_turn);
        // The best match is worth more than tools of earlier conversations.
        let best = usize::from(is_first_turn);
        candidates.extend(matches.iter().take(best).map(|key| (key.clone(), true)));
        if is_first_turn {
            candidates.extend(self.recent.iter().map(|key| (key.clone(), false)));
        }
        candidates.extend(matches.iter().skip(best).map(|key| (key.clone(), false)));
        for (candidate, is_required) in candidates {
            let Some(tool) = toolset.get(&candidate.0, &candidate.1) else {
                continue;
            };
            let is_new = !known.contains(&candidate) && !selected.contains(&candidate);
            if is_new && (is_required || tokens(tool) <= tokens_left) {
                tokens_left = tokens_left.saturating_sub(tokens(tool));
                selected.insert(candidate);
            }
        }
        // In the order of the servers, so that tools of one server stay together.
        let keys = toolset.tools().iter().map(key);
        self.add_all(keys.filter(|key| selected.contains(key)));
    }

    /// The tools that match a prompt, best first. In later turns, none if the best one is already
    /// offered, and otherwise only those with a score close to the best.
    fn matches(
        &mut self,
        toolset: &Arc<Toolset>,
        prompt: &str,
        is_first_turn: bool,
    ) -> Vec<ToolKey> {
        let found = self.index(toolset).search(prompt, MATCHES_MAX);
        if is_first_turn {
            return found.into_iter().map(|found| found.key).collect();
        }
        let best_score = found.first().map_or(0.0, |found| found.score);
        let is_offered_best = found
            .first()
            .is_some_and(|found| self.order.contains(&found.key));
        let is_close = |score: f64| score >= best_score * LATER_SCORE_SHARE;
        let matches = found.into_iter().filter(|found| is_close(found.score));
        match is_offered_best {
            true => Vec::new(),
            false => matches
                .take(LATER_MATCHES_MAX)
                .map(|found| found.key)
                .collect(),
        }
    }

    fn index(&mut self, toolset: &Arc<Toolset>) -> &ToolIndex {
        let is_current = |(indexed, _): &(Arc<Toolset>, ToolIndex)| Arc::ptr_eq(indexed, toolset);
        if !self.index.as_ref().is_some_and(is_current) {
            self.index = None;
        }
        let build = || (Arc::clone(toolset), ToolIndex::new(toolset));
        &self.index.get_or_insert_with(build).1
    }

    /// Returns false if it was added before.
    fn add(&mut self, key: &ToolKey) -> bool {
        let is_new = !self.order.contains(key);
        if is_new {
            self.order.push(key.clone());
        }
        is_new
    }

    fn add_all(&mut self, keys: impl Iterator<Item = ToolKey>) {
        let known: HashSet<ToolKey> = self.order.iter().cloned().collect();
        self.order.extend(keys.filter(|key| !known.contains(key)));
    }

    fn update(&mut self, toolset: &Arc<Toolset>) -> Arc<Toolset> {
        let offered = self.callable(toolset).in_order(&self.order);
        if offered != *self.last {
            self.last = Arc::new(offered);
            self.has_diet_changed |= self.is_diet_on;
        }
        Arc::clone(&self.last)
    }
}

fn key(offered: &OfferedTool) -> ToolKey {
    (offered.server.clone(), offered.tool.name.clone())
}

fn search_key() -> ToolKey {
    let name = OfferedTool::TOOL_SEARCH_NAME.to_owned();
    (OfferedTool::tool_search_server(), name)
}

fn tokens(offered: &OfferedTool) -> u64 {
    raw_estimate_definitions(offered.tool.bytes)
}

#[cfg(test)]
mod tests;
