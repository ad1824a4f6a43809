//! `humble sessions`: lists, shows, finds, exports and deletes saved conversations, without the
//! engine.

mod search;

use crate::app::output::{confirm, print};
use crate::app::process_secrets;
use crate::cli::GlobalArgs;
use crate::cli::sessions::{FormatArg, PartArgs, SessionsArgs, SessionsCommand};
use crate::config::{self, Home};
use crate::domain::session_export::export_file_name;
use crate::domain::{ExportFormat, ExportPart, SecretRegistry, Session, SessionId};
use crate::engine::InitialSession;
use crate::headless::lines::{clean_line, notice_line};
use crate::headless::output::PrintedOutput;
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE, sessions as cli_output};
use crate::store::{
    ExportError, LookupError, ReadLimits, SessionIndex, SessionStore, SessionTrash, StoreError,
    TRASH_DAYS, render_session, write_export,
};
use anyhow::{Context, Result};
use jiff::{Timestamp, Zoned};
use std::io::{self, IsTerminal};
use std::path::Path;

struct Sessions<'a> {
    home: &'a Home,
    store: SessionStore,
    index: SessionIndex,
}

/// Runs the command and returns the exit status.
///
/// # Errors
/// The result could not be written, or the user's answer could not be read.
pub fn run(home: &Home, global: &GlobalArgs, args: SessionsArgs) -> Result<u8> {
    if let Some(flag) = global.model_flag() {
        eprintln!("`humble sessions` uses no model: remove {flag}.");
        return Ok(EXIT_USAGE);
    }
    let sessions = Sessions::of(home);
    match args.command {
        SessionsCommand::List { json } => sessions.list(json),
        SessionsCommand::Show { name, part } => sessions.show(&name.name, &part),
        SessionsCommand::Search { words, json } => search::run(&sessions, &words.join(" "), json),
        SessionsCommand::Export {
            name,
            format,
            output,
            force,
            part,
        } => sessions.export(&name.name, format, output.as_deref(), force, part.part()),
        SessionsCommand::Restore => Ok(sessions.restore()),
        SessionsCommand::Rm { name, yes } => sessions.remove(&name.name, yes),
    }
}

/// Finds the session that `--session` names, if any. `None`, after printing the reason, if the name
/// is unknown or ambiguous.
#[expect(clippy::option_option, reason = "absent is not the same as unknown")]
pub fn find_initial(home: &Home, wanted: Option<&str>) -> Option<Option<InitialSession>> {
    let Some(wanted) = wanted else {
        return Some(None);
    };
    let id = Sessions::of(home).find(wanted, "--session")?;
    Some(Some(InitialSession::Named(id.to_string())))
}

impl<'a> Sessions<'a> {
    fn of(home: &'a Home) -> Self {
        let store = SessionStore::new(home.sessions());
        let index = SessionIndex::new(store.clone(), home.session_index());
        Self { home, store, index }
    }

    /// Prints the reason if none or several match. The hint shows `command`, which takes the
    /// name.
    fn find(&self, wanted: &str, command: &str) -> Option<SessionId> {
        match self.index.find(wanted) {
            Ok(id) => Some(id),
            Err(LookupError::Ambiguous { matches, .. }) => {
                let text =
                    cli_output::ambiguous_name_text(wanted, &matches, command, Timestamp::now());
                eprint!("{text}");
                None
            }
            Err(error) => {
                eprintln!("{}", notice_line(&error.notice()));
                None
            }
        }
    }

    fn open(&self, id: &SessionId) -> Option<Session> {
        let opened = self.store.open(id);
        opened.inspect_err(print_store_error).ok()
    }

    fn list(&self, json: bool) -> Result<u8> {
        let (summaries, _) = self.index.list(ReadLimits::UNLIMITED);
        let output: PrintedOutput = match json {
            true => cli_output::list_json(&summaries).into(),
            false => cli_output::list_text(&summaries, Timestamp::now()).into(),
        };
        print(output).context("could not write the list")?;
        Ok(EXIT_SUCCESS)
    }

    fn show(&self, name: &str, part: &PartArgs) -> Result<u8> {
        self.print_session(name, "sessions show", ExportFormat::Markdown, part.part())
    }

    fn print_session(
        &self,
        name: &str,
        command: &str,
        format: ExportFormat,
        part: ExportPart,
    ) -> Result<u8> {
        let Some(id) = self.find(name, command) else {
            return Ok(EXIT_USAGE);
        };
        let Some(session) = self.open(&id) else {
            return Ok(EXIT_FAILED);
        };
        let text = render_session(&session, format, part, &self.secrets());
        let output = match format {
            ExportFormat::Json => PrintedOutput::Json(text),
            ExportFormat::Markdown | ExportFormat::Html => PrintedOutput::Text(text),
        };
        print(output).context("could not write the conversation")?;
        Ok(EXIT_SUCCESS)
    }

    fn export(
        &self,
        name: &str,
        format: Option<FormatArg>,
        output: Option<&Path>,
        replaces: bool,
        part: ExportPart,
    ) -> Result<u8> {
        let output = output.map(|path| path.to_string_lossy().into_owned());
        let format = format.map(ExportFormat::from);
        let format = format.or_else(|| ExportFormat::of_path(output.as_deref()?));
        let format = format.unwrap_or_default();
        let Some(output) = output else {
            return self.print_session(name, "sessions export", format, part);
        };
        let Some(id) = self.find(name, "sessions export") else {
            return Ok(EXIT_USAGE);
        };
        let Some(session) = self.open(&id) else {
            return Ok(EXIT_FAILED);
        };
        let text = render_session(&session, format, part, &self.secrets());
        let default_name = export_file_name(session.title(), format);
        let mut written = write_export(&output, &default_name, &text, replaces);
        if let Err(ExportError::Exists(path)) = &written
            && io::stdin().is_terminal()
            && confirm(&format!("{} exists. Replace it?", path.display()))?
        {
            written = write_export(&output, &default_name, &text, true);
        }
        match written {
            Ok(path) => {
                println!("{}", clean_line(&format!("Exported to {}", path.display())));
                Ok(EXIT_SUCCESS)
            }
            Err(ExportError::Exists(path)) => {
                let message = format!("{} exists. Use --force to replace it.", path.display());
                eprintln!("{}", clean_line(&message));
                Ok(EXIT_FAILED)
            }
            Err(error) => {
                eprintln!("{}", clean_line(&format!("Not exported: {error}.")));
                Ok(EXIT_FAILED)
            }
        }
    }

    fn remove(&self, name: &str, yes: bool) -> Result<u8> {
        let Some(id) = self.find(name, "sessions rm") else {
            return Ok(EXIT_USAGE);
        };
        let title = self.index.title(&id);
        let title = title.unwrap_or_else(|_| id.to_string());
        if !yes {
            if !io::stdin().is_terminal() {
                eprintln!("There is no terminal to ask on. Use --yes to delete without asking.");
                return Ok(EXIT_USAGE);
            }
            if !confirm(&format!("Delete \"{title}\" ({id})?"))? {
                eprintln!("Nothing was deleted.");
                return Ok(EXIT_SUCCESS);
            }
        }
        let trash = SessionTrash::new(self.home.trash());
        match trash.delete(&self.store, &id, &Zoned::now()) {
            Ok(trashed) => {
                let path = trashed.path().display();
                let days = TRASH_DAYS;
                let message = format!("Deleted \"{title}\". For {days} days, it is kept in {path}");
                println!("{}", clean_line(&message));
                println!("`humble sessions restore` brings it back.");
                Ok(EXIT_SUCCESS)
            }
            Err(error) => {
                eprintln!("{}", notice_line(&error.notice_for("Not deleted")));
                Ok(EXIT_FAILED)
            }
        }
    }

    fn restore(&self) -> u8 {
        let trash = SessionTrash::new(self.home.trash());
        match trash.restore_newest(&self.store) {
            Ok(Some((id, title))) => {
                println!("{}", clean_line(&format!("Restored \"{title}\" ({id}).")));
                EXIT_SUCCESS
            }
            Ok(None) => {
                eprintln!("Nothing to restore: the trash is empty.");
                EXIT_FAILED
            }
            Err(error) => {
                eprintln!("{}", notice_line(&error.notice_for("Not restored")));
                EXIT_FAILED
            }
        }
    }

    /// With the secrets of the settings and the servers, which must not be exported.
    fn secrets(&self) -> SecretRegistry {
        let secrets = process_secrets::secrets();
        secrets.add(config::read_settings(self.home).value.config_secrets());
        for server in config::read_servers(self.home).value {
            secrets.add(server.config_secrets());
        }
        secrets
    }
}

fn print_store_error(error: &StoreError) {
    eprintln!("{}", notice_line(&error.notice()));
}
