//! Excerpts of notes for an ordinary prompt: the chunks that match it best.

use super::notebook::{Notebook, open_vault};
use super::vault_index::UpdateLimits;
use crate::domain::{Notice, VaultStatus};
use crate::ports::{NoteExcerpt, NoteExcerpts, NoteRequest};
use crate::search::{Hit, Relevance, SearchTerms};

/// Maximum number of excerpts for a prompt.
const EXCERPTS_MAX: usize = 4;
/// Maximum total characters of a prompt's excerpts. Small models have contexts of 4,096 tokens.
const CHARS_MAX: usize = 4_000;
/// Number of best hits from which the excerpts are chosen.
const CANDIDATES: usize = 24;
/// Hits with a lower score than this share of the best one are left out.
const SCORE_SHARE_MIN: f32 = 0.4;
/// Hits with at least this similarity match by meaning, even if they share no word. In the corpus of
/// `tests/it/search/quality/` with all-MiniLM-L6-v2, every answer has over 0.30, and 99 % of the other
/// notes have under 0.24.
const SIMILARITY_MIN: f32 = 0.3;
/// Characters of a prompt that are compared with notes.
const QUERY_CHARS_MAX: usize = 2_000;

impl Notebook {
    /// Best first; empty if no note matches.
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
        let hits = self
            .find(&vault, &query, vector, CANDIDATES, false, &mut remarks)
            .await?;
        let relevance = self
            .with_index(&vault, move |index| {
                index.relevance(&SearchTerms::parse(&query))
            })
            .await?;
        Ok(NoteExcerpts {
            excerpts: choose(hits, &relevance),
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

fn choose(hits: Vec<Hit>, relevance: &Relevance) -> Vec<NoteExcerpt> {
    if relevance.is_empty() {
        return Vec::new();
    }
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let matching = hits.into_iter().filter(|hit| {
        let has_close_meaning = hit.similarity >= SIMILARITY_MIN;
        let texts = [&*hit.title, &*hit.heading, &*hit.body];
        hit.score >= best * SCORE_SHARE_MIN && (has_close_meaning || relevance.covers(&texts))
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
            similarity: 0.0,
        }
    }

    fn chosen(hits: Vec<Hit>, prompt: &str) -> Vec<String> {
        let relevance = Relevance::uniform(&SearchTerms::parse(prompt));
        let excerpts = choose(hits, &relevance);
        excerpts.into_iter().map(|excerpt| excerpt.text).collect()
    }

    #[test]
    fn excerpts_share_words_or_meaning_with_the_prompt() {
        let hits = |similarity| {
            vec![
                hit("The router password", 1.0),
                Hit {
                    similarity,
                    ..hit("A secret", 0.9)
                },
                hit("The router password", 0.3),
            ]
        };
        let prompt = "What is the password of the router?";
        assert_eq!(chosen(hits(0.1), prompt), ["The router password"]);
        let both = ["The router password", "A secret"];
        assert_eq!(chosen(hits(0.5), prompt), both);
        // A question about one thing needs one word.
        assert_eq!(
            chosen(hits(0.1), "Tell me about routers"),
            ["The router password"]
        );
        let korean = || vec![hit("공유기의 비밀번호", 1.0)];
        assert_eq!(chosen(korean(), "공유기 비밀번호가 뭐야?").len(), 1);
        assert_eq!(chosen(korean(), "공유기 알려줘").len(), 1);
        let pork = || vec![hit("김치와 돼지고기.", 1.0)];
        assert_eq!(chosen(pork(), "돼지고기로 뭘 만들지?").len(), 1);
    }

    #[test]
    fn a_prompt_of_only_common_words_gets_no_excerpts() {
        let hits = || {
            vec![Hit {
                similarity: 0.9,
                ..hit("What time is it today? Hello, tell me. 지금 몇 시야?", 1.0)
            }]
        };
        for prompt in [
            "What time is it?",
            "hello",
            "Tell me more, please",
            "지금 몇 시야?",
        ] {
            assert_eq!(chosen(hits(), prompt), [""; 0], "{prompt}");
        }
    }

    #[test]
    fn all_excerpts_together_stay_within_their_limit() {
        let hits = (0..5).map(|_| hit(&"cheese ".repeat(400), 1.0)).collect();
        let lengths: Vec<usize> = chosen(hits, "cheese").iter().map(String::len).collect();
        assert_eq!(lengths, [2_799, 1_201]);
    }
}
