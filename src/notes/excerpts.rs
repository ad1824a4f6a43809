//! Excerpts of notes for an ordinary prompt: the chunks that match it best.

use super::notebook::{Notebook, open_vault};
use super::vault_index::UpdateLimits;
use crate::domain::{Notice, VaultStatus};
use crate::ports::{NoteExcerpt, NoteExcerpts, NoteRequest};
use crate::search::{Hit, SearchTerms};

/// Maximum number of excerpts for a prompt.
const EXCERPTS_MAX: usize = 4;
/// Maximum total characters of a prompt's excerpts. Small models have contexts of 4,096 tokens.
const CHARS_MAX: usize = 4_000;
/// Chunks among which the excerpts are chosen.
const CANDIDATES: usize = 24;
/// Hits with a lower score than this share of the best one are left out.
const SCORE_SHARE_MIN: f32 = 0.4;
/// With vectors, hits of at least this score match by meaning, even if they share few words.
const HYBRID_SCORE_MIN: f32 = 0.3;
/// Characters of a prompt that are compared with notes.
const QUERY_CHARS_MAX: usize = 2_000;

impl Notebook {
    /// The excerpts for a prompt, the best first; empty if no note matches.
    pub(super) async fn find_excerpts(
        &self,
        request: NoteRequest,
        prompt: String,
    ) -> Result<NoteExcerpts, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        let query: String = prompt.chars().take(QUERY_CHARS_MAX).collect();
        let mut remarks = Vec::new();
        let limits = UpdateLimits::BEFORE_PROMPT;
        self.update(&vault, limits, &request, &mut remarks).await?;
        // `query_vector` would remark on a missing embedding model under every answer; `refresh_index`
        // does so once.
        let vector = match request.settings.embedding_model {
            Some(_) => {
                self.query_vector(&vault, &request, &query, limits, &mut remarks)
                    .await?
            }
            None => None,
        };
        let has_vector = vector.is_some();
        let hits = self.find(&vault, &query, vector, CANDIDATES, false).await?;
        let terms = SearchTerms::parse(&query);
        Ok(NoteExcerpts {
            excerpts: choose(hits, &terms, has_vector),
            remarks,
        })
    }

    /// Brings the index up to date, with vectors if an embedding model is configured.
    pub(super) async fn refresh_index(&self, request: NoteRequest) -> Result<VaultStatus, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        let mut remarks = Vec::new();
        let limits = UpdateLimits::REFRESH;
        let notes = self.update(&vault, limits, &request, &mut remarks).await?;
        // Also computes the vectors, and adds a remark if that fails. The query's text does not matter.
        self.query_vector(&vault, &request, "notes", limits, &mut remarks)
            .await?;
        Ok(VaultStatus {
            vault: vault.root().to_path_buf(),
            notes,
            remarks,
        })
    }
}

fn choose(hits: Vec<Hit>, terms: &SearchTerms, has_vector: bool) -> Vec<NoteExcerpt> {
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let matching = hits.into_iter().filter(|hit| {
        let has_close_meaning = has_vector && hit.score >= HYBRID_SCORE_MIN;
        let texts = [&hit.title, &hit.heading, &hit.body];
        hit.score >= best * SCORE_SHARE_MIN && (has_close_meaning || terms.match_enough(texts))
    });
    let mut excerpts = Vec::new();
    let mut chars_left = CHARS_MAX;
    for hit in matching.take(EXCERPTS_MAX) {
        let text: String = hit.body.trim().chars().take(chars_left).collect();
        chars_left -= text.chars().count();
        excerpts.push(NoteExcerpt {
            note: hit.key,
            title: hit.title,
            heading: hit.heading,
            text,
        });
        if chars_left == 0 {
            break;
        }
    }
    excerpts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(body: &str, score: f32) -> Hit {
        Hit {
            key: "a.md".to_owned(),
            title: "Title".to_owned(),
            heading: String::new(),
            body: body.to_owned(),
            score,
        }
    }

    fn chosen(hits: Vec<Hit>, prompt: &str, has_vector: bool) -> Vec<String> {
        let terms = SearchTerms::parse(prompt);
        let excerpts = choose(hits, &terms, has_vector);
        excerpts.into_iter().map(|excerpt| excerpt.text).collect()
    }

    #[test]
    fn excerpts_share_words_or_meaning_with_the_prompt() {
        let hits = || {
            vec![
                hit("The router password", 1.0),
                hit("A password", 0.9),
                hit("The router", 0.3),
            ]
        };
        let prompt = "What is the password of the router?";
        assert_eq!(chosen(hits(), prompt, false), ["The router password"]);
        let both = ["The router password", "A password"];
        assert_eq!(chosen(hits(), prompt, true), both);
        assert_eq!(chosen(hits(), "router", false), ["The router password"]);
        assert_eq!(
            chosen(vec![hit("How are you?", 1.0)], "How are you?", false),
            [""; 0]
        );
        let korean = vec![hit("공유기의 비밀번호", 1.0)];
        assert_eq!(chosen(korean, "공유기 비밀번호가 뭐야?", false).len(), 1);
    }

    #[test]
    fn all_excerpts_together_stay_within_their_limit() {
        let hits = (0..5).map(|_| hit(&"word ".repeat(500), 1.0)).collect();
        let lengths: Vec<usize> = chosen(hits, "word", false)
            .iter()
            .map(String::len)
            .collect();
        assert_eq!(lengths, [2_499, 1_501]);
    }
}
