//! `humble sessions search`: updates the index, searches it, and reads the matching part of each
//! conversation found.

use super::Sessions;
use crate::app::output::print;
use crate::domain::{SessionQuery, SessionSummary};
use crate::headless::lines::clean_line;
use crate::headless::output::PrintedOutput;
use crate::headless::sessions::{FoundSession, search_json, search_text};
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use crate::store::ReadLimits;
use crate::text::term_matches::case_fold;
use anyhow::{Context, Result};
use jiff::Zoned;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Maximum time spent indexing new and changed conversations before the search.
const INDEXING_TIME_MAX: Duration = Duration::from_secs(60);
/// The delay before the next attempt while another program is indexing.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// One slice of indexing, after which progress is shown.
const INDEXING_SLICE: Duration = Duration::from_millis(500);
/// Maximum number of conversations whose matching part is shown, because each must be read.
const EXCERPTS_MAX: usize = 200;

pub(super) fn run(sessions: &Sessions, text: &str, json: bool) -> Result<u8> {
    let now = Zoned::now();
    let query = match SessionQuery::parse(text, &now) {
        Ok(query) => query,
        Err(error) => {
            eprintln!("{}", clean_line(&error.to_string()));
            return Ok(EXIT_USAGE);
        }
    };
    let words = query.text();
    if !words.is_empty() {
        update_index(sessions);
    }
    let found = match sessions.index.search(&words) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("Only titles could be searched, not the messages: {error}.");
            eprintln!("{}", clean_line(&message));
            Default::default()
        }
    };
    let (summaries, _) = sessions.index.list(ReadLimits::UNLIMITED);
    let is_found = |summary: &SessionSummary| {
        let has_text = || !words.is_empty() && found.sessions.contains(&summary.id);
        let title = case_fold(summary.title_or_file_name());
        query.admits(summary) && (query.matches_title(&title) || has_text())
    };
    let summaries = summaries.into_iter().filter(is_found).enumerate();
    let terms = match found.terms.is_empty() {
        true => query.words(),
        false => &found.terms,
    };
    let rows = summaries.map(|(at, summary)| {
        let excerpt = (at < EXCERPTS_MAX && !terms.is_empty())
            .then(|| sessions.store.excerpt(&summary.id, terms))
            .flatten();
        FoundSession { summary, excerpt }
    });
    let rows: Vec<FoundSession> = rows.collect();
    let output: PrintedOutput = match json {
        true => search_json(&rows).into(),
        false => search_text(&rows, now.timestamp()).into(),
    };
    print(output).context("could not write the list")?;
    Ok(if rows.is_empty() {
        EXIT_FAILED
    } else {
        EXIT_SUCCESS
    })
}

/// Conversations not indexed in time are found only by their titles.
fn update_index(sessions: &Sessions) {
    let deadline = Instant::now() + INDEXING_TIME_MAX;
    let shows_progress = io::stderr().is_terminal();
    let mut last_indexed = 0;
    let mut has_shown = false;
    let progress = loop {
        let progress = sessions.index.update(INDEXING_SLICE);
        if progress.is_complete() || progress.error.is_some() || Instant::now() > deadline {
            break progress;
        }
        if progress.indexed <= last_indexed {
            std::thread::sleep(RETRY_DELAY);
        }
        last_indexed = progress.indexed;
        if shows_progress {
            has_shown = true;
            let (indexed, total) = (progress.indexed, progress.total);
            eprint!("\rindexing {indexed} of {total}\x1b[K");
        }
    };
    if has_shown {
        eprint!("\r\x1b[K");
    }
    if !progress.is_complete() {
        let (indexed, total) = (progress.indexed, progress.total);
        let reason = match progress.error {
            Some(why) => format!(": {why}."),
            None => " so far. Search again to continue indexing.".to_owned(),
        };
        let message = format!("Indexed only {indexed} of {total} conversations{reason}");
        eprintln!("{}", clean_line(&message));
    }
}
