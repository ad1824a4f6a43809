//! `/sessions` and `/export`, and the question before a conversation is deleted.

use super::choice::numbered;
use super::lists::picked;
use super::pending::PendingReply;
use super::state::Linear;
use crate::domain::session_export::ExportArguments;
use crate::domain::{QueryId, SessionId, SessionQuery, SessionSummary};
use crate::protocol::{Command, SavedSessionCommand, SessionExport};
use crate::text::Clean;
use crate::text::term_matches::case_fold;
use jiff::Zoned;
use jiff::tz::TimeZone;
use std::collections::HashSet;
use std::sync::Arc;

const SESSIONS_SHOWN_MAX: usize = 20;
const SESSION_QUESTION: &str =
    "Number to open, or r, d, f or e and a number to rename, delete, fork or export (0: none): ";

impl Linear {
    pub fn list_sessions(&mut self, words: &str) {
        let query = self.next_query();
        self.pending = PendingReply::Sessions {
            query,
            words: words.to_owned(),
            listed: None,
        };
        self.send(Command::ListSessions(query));
    }

    pub fn sessions_listed(&mut self, query: QueryId, sessions: Arc<Vec<SessionSummary>>) {
        let words = match &self.pending {
            PendingReply::Sessions {
                query: wanted,
                words,
                ..
            } if *wanted == query => words.clone(),
            _ => return,
        };
        if words.trim().is_empty() {
            self.pending = PendingReply::None;
            return self.show_sessions(sessions.to_vec());
        }
        let query = self.next_query();
        self.send(Command::SavedSession(SavedSessionCommand::Search {
            query,
            words: words.clone(),
        }));
        self.pending = PendingReply::Sessions {
            query,
            words,
            listed: Some(sessions),
        };
    }

    pub fn sessions_found(&mut self, query: QueryId, found: &HashSet<SessionId>) {
        let (words, listed) = match std::mem::take(&mut self.pending) {
            PendingReply::Sessions {
                query: wanted,
                words,
                listed: Some(listed),
            } if wanted == query => (words, listed),
            other => {
                self.pending = other;
                return;
            }
        };
        let query = match SessionQuery::parse(&words, &Zoned::now()) {
            Ok(query) => query,
            Err(why) => return self.say(&why.to_string()),
        };
        let is_match = |session: &&SessionSummary| {
            let has_words = query.matches_title(&case_fold(&session.title));
            query.admits(session) && (has_words || found.contains(&session.id))
        };
        self.show_sessions(listed.iter().filter(is_match).cloned().collect());
    }

    fn show_sessions(&mut self, mut sessions: Vec<SessionSummary>) {
        if sessions.is_empty() {
            return self.say("No saved conversation was found.");
        }
        self.say("Conversations, newest first:");
        let more = sessions.len().saturating_sub(SESSIONS_SHOWN_MAX);
        sessions.truncate(SESSIONS_SHOWN_MAX);
        for (index, session) in sessions.iter().enumerate() {
            let changed_at = session.changed_at.to_zoned(TimeZone::system());
            let note = match &session.open_error {
                Some(why) => format!("broken: {why}"),
                None => format!(
                    "{}, {}, {} messages",
                    changed_at.strftime("%Y-%m-%d %H:%M"),
                    session.model,
                    session.message_count
                ),
            };
            let row = numbered(index + 1, session.title_or_file_name(), &note);
            self.output.clean_line(&Clean::single_line(&row));
        }
        if more > 0 {
            self.say(&format!("And {more} more. /sessions WORDS searches them."));
        }
        self.ask_for_session(sessions);
    }

    fn ask_for_session(&mut self, sessions: Vec<SessionSummary>) {
        self.ask_text(SESSION_QUESTION, move |linear, typed| {
            let typed = typed.trim().to_owned();
            if typed.is_empty() || typed == "0" {
                return linear.say("Nothing was changed.");
            }
            if typed.starts_with('/') {
                return linear.run_command(&typed);
            }
            let letter = typed.chars().next().filter(|c| !c.is_ascii_digit());
            let number = &typed[letter.map_or(0, char::len_utf8)..];
            let Some(session) = picked(&sessions, number).cloned() else {
                linear.say(&format!(
                    "Please enter a number from 0 to {}.",
                    sessions.len()
                ));
                return linear.ask_for_session(sessions);
            };
            linear.act_on_session(letter, session);
        });
    }

    fn act_on_session(&mut self, letter: Option<char>, session: SessionSummary) {
        let (id, title) = (session.id.clone(), session.title_or_file_name().to_owned());
        // A letter of the Korean two-set layout counts as the Latin letter on the same key.
        match letter {
            None if self.has_to_wait() => {}
            None => self.send(Command::OpenSession(id)),
            Some('r' | 'R' | 'ㄱ') => {
                let question = format!("New title instead of \"{title}\": ");
                self.ask_text(&question, |linear, title| match title.trim() {
                    "" => linear.say("Nothing was changed."),
                    title => linear.send(Command::SavedSession(SavedSessionCommand::Rename {
                        session: id,
                        title: title.to_owned(),
                    })),
                });
            }
            Some('d' | 'D' | 'ㅇ') => self.confirm_deletion(id, &title),
            Some('f' | 'F' | 'ㄹ') => {
                self.send(Command::SavedSession(SavedSessionCommand::Copy(id)));
            }
            Some('e' | 'E' | 'ㄷ') => {
                self.ask_text(
                    "Export as (md, json or html, and a path): ",
                    |linear, text| match ExportArguments::parse(text.trim()) {
                        Ok(arguments) => linear.export_session(Some(id), arguments),
                        Err(why) => linear.say(&why),
                    },
                );
            }
            Some(_) => self.say("Please enter a number, or r, d, f or e and a number."),
        }
    }

    pub fn confirm_deletion(&mut self, id: SessionId, title: &str) {
        self.confirm(&format!("Delete \"{title}\"?"), |linear| {
            linear.send(Command::DeleteSession(id));
        });
    }

    pub fn export_session(&mut self, session: Option<SessionId>, arguments: ExportArguments) {
        let query = self.next_query();
        self.export(SessionExport {
            query,
            session,
            format: arguments.format.unwrap_or_default(),
            part: arguments.part,
            // A folder: the file is named after the title.
            path: arguments.path.unwrap_or_else(|| ".".to_owned()),
            replaces: false,
        });
    }

    pub fn export(&mut self, export: SessionExport) {
        self.pending = PendingReply::Export(export.clone());
        self.send(Command::SavedSession(SavedSessionCommand::Export(export)));
    }
}
