//! A snapshot of all settings files, taken at startup and again whenever one of them is edited
//! while the program runs.

use super::json_document::JsonDocument;
use super::personas::{read_personas, withhold_personas};
use super::rejected_edits::{FileEntries, RejectedEdits, RejectedEntry};
use super::servers::parse_servers;
use super::settings::parse_settings;
use super::variables::environment_variable;
use super::{Home, Settings, permissions_check, read_trust, system_prompt};
use crate::domain::{Banner, ConfigSecrets, Persona, ServerConfig, Trust};
use std::sync::Arc;

/// The contents of all settings files, or the configuration in use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigSnapshot {
    pub settings: Settings,
    pub servers: Vec<ServerConfig>,
    pub system_prompt: String,
    /// The files of the folder `personas`, sorted by name, without the built-in personas.
    pub personas: Vec<Persona>,
    pub trust: Arc<Trust>,
}

/// The result of reading all files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigLoad {
    pub snapshot: ConfigSnapshot,
    pub banners: Vec<Banner>,
    /// What the files contain.
    pub entries: FileEntries,
    /// What the files contain although the user rejected it.
    pub rejected: Vec<RejectedEntry>,
    /// Each of these flags marks a file that is unusable, so that no value comes from it.
    settings_failed: bool,
    servers_failed: bool,
    prompt_failed: bool,
    personas_failed: bool,
    trust_failed: bool,
}

impl ConfigLoad {
    /// Reads all files, without the changes that the user rejected. Blocks.
    pub fn from_files(home: &Home) -> Self {
        let rejected = RejectedEdits::read(home);
        Self::read(home, &rejected, &rejected)
    }

    /// Reads all files as they are written. Blocks.
    pub fn as_written(home: &Home) -> Self {
        Self::read(home, &RejectedEdits::read(home), &RejectedEdits::default())
    }

    fn read(home: &Home, rejected: &RejectedEdits, withheld: &RejectedEdits) -> Self {
        let mut entries = FileEntries::default();
        let config = JsonDocument::read(&home.config());
        entries.add_config(&config);
        let settings = parse_settings(home, config, &environment_variable, withheld);
        let servers = JsonDocument::read(&home.servers());
        entries.add_servers(&servers);
        let servers = parse_servers(servers, &environment_variable, withheld);
        let prompt = system_prompt::read_written_prompt(home);
        entries.add_prompt(&prompt.value);
        let prompt = system_prompt::without_rejected(prompt, withheld);
        let mut personas = read_personas(home);
        personas
            .value
            .iter()
            .for_each(|persona| entries.add_persona(persona));
        withhold_personas(&mut personas, withheld);
        let trust = read_trust(home);
        let server_secrets = servers.value.iter().map(ServerConfig::config_secrets);
        let server_secrets = server_secrets.fold(ConfigSecrets::default(), ConfigSecrets::and);
        let secrets_by_file = [
            (
                home.config(),
                settings.value.config_secrets().into_credentials(),
            ),
            (home.servers(), server_secrets.into_credentials()),
        ];
        let readable_secrets =
            permissions_check::readable_secrets_banner(home.root(), &secrets_by_file);
        let banners = [
            readable_secrets.into_iter().collect(),
            settings.banners,
            servers.banners,
            prompt.banners,
            personas.banners,
            trust.banners,
        ];
        Self {
            snapshot: ConfigSnapshot {
                settings: settings.value,
                servers: servers.value,
                system_prompt: prompt.value,
                personas: personas.value,
                trust: Arc::new(trust.value),
            },
            banners: banners.concat(),
            settings_failed: settings.is_unusable,
            servers_failed: servers.is_unusable,
            prompt_failed: prompt.is_unusable,
            personas_failed: personas.is_unusable,
            trust_failed: trust.is_unusable,
            rejected: entries.rejected_by(rejected),
            entries,
        }
    }

    /// Ignores `trust.json`, which lacks decisions that could not be written yet.
    pub fn ignore_trust(&mut self) {
        self.trust_failed = true;
    }

    /// Whether a file is unusable, such as while another program is writing it.
    pub fn has_unusable_file(&self) -> bool {
        self.settings_failed
            || self.servers_failed
            || self.prompt_failed
            || self.personas_failed
            || self.trust_failed
    }

    /// The snapshot, with `current` in place of unusable files, so that no settings are lost
    /// while a file is being repaired.
    pub fn with_fallback(self, current: &ConfigSnapshot) -> ConfigSnapshot {
        let mut snapshot = self.snapshot;
        if self.settings_failed {
            snapshot.settings = current.settings.clone();
        }
        if self.servers_failed {
            snapshot.servers = current.servers.clone();
        }
        if self.prompt_failed {
            snapshot.system_prompt = current.system_prompt.clone();
        }
        if self.personas_failed {
            snapshot.personas = current.personas.clone();
        }
        if self.trust_failed {
            snapshot.trust = Arc::clone(&current.trust);
        }
        snapshot
    }
}
