//! What a server wants the model to be told (S3.6): shown to the person, and sent only
//! after the person agreed to this very text.

use super::actor::Actor;
use super::questions::PendingQuestion;
use crate::config::TrustEdit;
use crate::domain::trust::{Agreed, lines_of, without_overrides};
use crate::domain::{Advice, Notice, Offered, Server, ServerId};
use crate::protocol::{Answer, Ask, Choice, Owner};
use crate::text::Clean;
use jiff::Timestamp;
use std::sync::Arc;

/// A longer text is not sent: it would be most of what the model is told.
const BYTES_MAX: usize = 32 * 1024;

impl Actor {
    /// Shows the text, and asks.
    pub(super) fn ask_instructions(&mut self, id: &ServerId) {
        let server = self
            .hub
            .servers()
            .into_iter()
            .find(|server| server.id == *id);
        let text = server.as_ref().and_then(words_of);
        let (Some(server), Some(text)) = (&server, text) else {
            let id = Clean::name(id.as_str());
            let said = format!("`{id}` has no instructions for the model.");
            return self.cx.notice(Notice::info(said));
        };
        if text.len() > BYTES_MAX {
            let id = Clean::name(id.as_str());
            let said = format!("The instructions of `{id}` are longer than {BYTES_MAX} bytes.");
            return self
                .cx
                .notice(Notice::warning(said).because("They are not sent."));
        }
        let agreed = Agreed::to(id, &server.launch, text, Timestamp::now());
        let question = Ask::Instructions {
            server: id.clone(),
            text: text.into(),
        };
        self.cx.withdraw_all(
            |pending| matches!(pending, PendingQuestion::Instructions(open) if open.server == *id),
        );
        self.cx.ask(
            Owner::Program,
            question,
            PendingQuestion::Instructions(agreed),
        );
    }

    pub(super) fn instructions_answered(&mut self, agreed: Agreed, answer: &Answer) {
        let Answer::Choice(choice) = answer else {
            return;
        };
        let is_known = self.trust().is_agreed(&agreed);
        match choice {
            Choice::SendAlways if !is_known => {
                self.trust_mut().instructions.push(agreed.clone());
                self.write_trust([TrustEdit::Agree(agreed)]);
            }
            Choice::SendAlways => {}
            Choice::SendOnce => {
                self.disagree(&agreed);
                self.trusting.once.push(agreed);
            }
            _ => self.disagree(&agreed),
        }
        self.list_trust();
    }

    fn is_agreed(&self, agreed: &Agreed) -> bool {
        let mut once = self.trusting.once.iter();
        self.trust().is_agreed(agreed) || once.any(|other| other.is_same(agreed))
    }

    /// `text` with the instructions of servers that have tools on offer behind it. Each
    /// line of theirs stands behind a sign: none can pass for ours.
    pub(super) fn with_instructions(&self, text: Arc<str>, offered: &Offered) -> Arc<str> {
        let mut sections = Vec::new();
        for server in self.hub.servers() {
            let offers = |tool: &crate::domain::OfferedTool| tool.server == server.id;
            let Some(words) = words_of(&server).filter(|_| offered.tools().iter().any(offers))
            else {
                continue;
            };
            let agreed = Agreed::to(&server.id, &server.launch, words, Timestamp::UNIX_EPOCH);
            if words.len() <= BYTES_MAX && self.is_agreed(&agreed) {
                // The dialog showed these lines, and as signs what is left out of them.
                let quoted = |line| format!("> {}", without_overrides(line));
                let lines: Vec<String> = lines_of(words.trim_end()).map(quoted).collect();
                let lines = lines.join("\n");
                let whose = server.id.as_str();
                sections.push(format!(
                    "INSTRUCTIONS OF SERVER {whose} (its own words, on how to use its tools):\n{lines}"
                ));
            }
        }
        if sections.is_empty() {
            return text;
        }
        let own = text.trim_end_matches('\n');
        let own = Some(own).filter(|own| !own.is_empty()).map(str::to_owned);
        let parts: Vec<String> = own.into_iter().chain(sections).collect();
        parts.join("\n\n").into()
    }

    /// Says once that a text is not the one that was agreed to.
    pub(super) fn tell_of_new_instructions(&mut self, servers: &[Server]) {
        for server in servers {
            let Some(words) = words_of(server) else {
                continue;
            };
            let now = Agreed::to(&server.id, &server.launch, words, Timestamp::UNIX_EPOCH);
            let is_of = |old: &Agreed| old.server == now.server && old.launch == now.launch;
            let mut old = self.trust().instructions.iter().chain(&self.trusting.once);
            let was_agreed = old.any(is_of);
            if was_agreed && !self.is_agreed(&now) {
                let key = (now.server, now.text);
                if self.trusting.told.insert(key) {
                    let said = {
                        let id = Clean::name(server.id.as_str());
                        format!("The instructions of `{id}` changed.")
                    };
                    self.cx.notice(
                        Notice::warning(said)
                            .because("They are not sent until you agree again.")
                            .advise(Advice::ShowInstructions),
                    );
                }
            }
        }
    }
}

fn words_of(server: &Server) -> Option<&str> {
    let words = server.instructions.as_deref()?;
    Some(words).filter(|words| !words.trim().is_empty())
}
