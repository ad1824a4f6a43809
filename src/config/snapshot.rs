//! A snapshot of all settings files, taken at start and again whenever one of them is edited
//! while the program runs.

use super::personas::read_personas;
use super::{
    Home, Settings, permissions_check, read_servers, read_settings, read_system_prompt, read_trust,
};
use crate::domain::{Banner, Persona, ServerConfig, Trust};
use std::sync::Arc;

/// The contents of all settings files, or the configuration in use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Known {
    pub settings: Settings,
    pub servers: Vec<ServerConfig>,
    pub system_prompt: String,
    /// The files of the folder `personas`, sorted by name, without the built-in personas.
    pub personas: Vec<Persona>,
    pub trust: Arc<Trust>,
}

/// The result of reading all files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    pub known: Known,
    pub banners: Vec<Banner>,
    /// Files that could not be used at all; their part of the snapshot is a default.
    settings_failed: bool,
    servers_failed: bool,
    prompt_failed: bool,
    personas_failed: bool,
    trust_failed: bool,
}

impl Read {
    /// Reads all files. Blocks.
    pub fn files(home: &Home) -> Self {
        let settings = read_settings(home);
        let servers = read_servers(home);
        let prompt = read_system_prompt(home);
        let personas = read_personas(home);
        let trust = read_trust(home);
        let credentials = servers.value.iter().flat_map(ServerConfig::credentials);
        let exposed = [
            (home.config(), settings.value.secrets()),
            (home.servers(), credentials.collect()),
        ];
        let exposed = permissions_check::warning(home.root(), &exposed);
        let banners = [
            exposed.into_iter().collect(),
            settings.banners,
            servers.banners,
            prompt.banners,
            personas.banners,
            trust.banners,
        ];
        Self {
            known: Known {
                settings: settings.value,
                servers: servers.value,
                system_prompt: prompt.value,
                personas: personas.value,
                trust: Arc::new(trust.value),
            },
            banners: banners.concat(),
            settings_failed: settings.failed,
            servers_failed: servers.failed,
            prompt_failed: prompt.failed,
            personas_failed: personas.failed,
            trust_failed: trust.failed,
        }
    }

    /// The snapshot, with `current` in place of unusable files, so that no settings are lost
    /// while a file is being repaired.
    pub fn or_else(self, in_force: &Known) -> Known {
        let mut known = self.known;
        if self.settings_failed {
            known.settings = in_force.settings.clone();
        }
        if self.servers_failed {
            known.servers = in_force.servers.clone();
        }
        if self.prompt_failed {
            known.system_prompt = in_force.system_prompt.clone();
        }
        if self.personas_failed {
            known.personas = in_force.personas.clone();
        }
        if self.trust_failed {
            known.trust = Arc::clone(&in_force.trust);
        }
        known
    }
}
