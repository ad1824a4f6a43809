//! Replies of the engine to commands: lists of conversations and branches, exports, prompts of
//! servers and logs.

use super::pending::PendingReply;
use super::state::Linear;
use crate::domain::Notice;
use crate::protocol::{BranchSummary, Command, Event, ExportFailure, SavedSessionEvent};
use crate::protocol::{ServerContentEvent, SessionExport, SignInEvent};

impl Linear {
    pub fn reply_to_command(&mut self, event: Event) {
        match event {
            Event::SessionsListed {
                query, sessions, ..
            } => self.sessions_listed(query, sessions),
            Event::SavedSession(event) => self.saved_session_event(event),
            Event::SessionDeleted { title, .. } => {
                self.notify(
                    Notice::info(format!("Deleted \"{title}\"."))
                        .with_advice("/delete undo restores it."),
                );
            }
            Event::BranchesListed(branches) => {
                if let PendingReply::Branches(argument) = std::mem::take(&mut self.pending) {
                    self.branches_listed(branches, &argument);
                }
            }
            Event::ServerContent(ServerContentEvent::PromptLoaded { query, result }) => {
                self.prompt_loaded(query, result);
            }
            Event::ServerLogRead(log) => {
                if matches!(self.pending, PendingReply::ServerLog) {
                    self.pending = PendingReply::None;
                    self.print_server_log(&log);
                }
            }
            Event::SignIn(event) => self.sign_in_event(event),
            _ => {}
        }
    }

    fn saved_session_event(&mut self, event: SavedSessionEvent) {
        match event {
            SavedSessionEvent::Found {
                query, sessions, ..
            } => self.sessions_found(query, &sessions),
            SavedSessionEvent::Renamed { title, .. } => {
                self.say(&format!("Renamed to \"{title}\"."));
            }
            SavedSessionEvent::Copied {
                original_title,
                title,
                ..
            } => self.say(&format!("Forked \"{original_title}\" as \"{title}\".")),
            SavedSessionEvent::Restored { title, .. } => {
                self.say(&format!("Restored \"{title}\"."));
            }
            SavedSessionEvent::Exported { title, result, .. } => {
                let pending = std::mem::take(&mut self.pending);
                match result {
                    Ok(path) => self.say(&format!("Exported \"{title}\" to {}", path.display())),
                    Err(ExportFailure::Failed(notice)) => self.notify(notice),
                    Err(ExportFailure::Exists(path)) => {
                        let PendingReply::Export(export) = pending else {
                            return;
                        };
                        let question = format!("{} exists. Replace it?", path.display());
                        self.confirm(&question, move |linear| {
                            let query = linear.next_query();
                            linear.export(SessionExport {
                                query,
                                replaces: true,
                                ..export
                            });
                        });
                    }
                }
            }
            SavedSessionEvent::Indexed(_) | SavedSessionEvent::Forked { .. } => {}
        }
    }

    fn branches_listed(&mut self, branches: Vec<BranchSummary>, argument: &str) {
        if branches.is_empty() {
            return self.notify(
                Notice::info("There are no other branches.").with_advice(
                    "/retry, /edit and /undo keep the answered turn that they replace.",
                ),
            );
        }
        if let Some(branch) = picked(&branches, argument) {
            return self.send(Command::SwitchBranch(branch.clone()));
        }
        let row = |branch: &BranchSummary| {
            let answer = &branch.first_answer_line;
            (branch.first_prompt_line.clone(), answer.clone())
        };
        let rows: Vec<(String, String)> = branches.iter().map(row).collect();
        self.pick(
            "Other branches, with prompt and answer",
            "Keep the current branch",
            &rows,
            move |linear, index| {
                linear.send(Command::SwitchBranch(branches[index].clone()));
            },
        );
    }

    fn sign_in_event(&mut self, event: SignInEvent) {
        match event {
            SignInEvent::Opened(request) => self.ask_for_sign_in(&request),
            SignInEvent::AddressRejected(why) => self.say(&why),
            SignInEvent::ExchangingCode => self.say("Signing in."),
            // A notice reports the result.
            SignInEvent::Ended(_) => {}
        }
    }
}

/// The item that an argument names by its number.
pub fn picked<'a, T>(items: &'a [T], argument: &str) -> Option<&'a T> {
    let number: usize = argument.trim().parse().ok()?;
    items.get(number.checked_sub(1)?)
}
