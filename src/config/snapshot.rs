//! All that the files of settings say, read at once: at the start, and again
//! whenever one of them was edited while the program runs (S1.4).

use super::personas::read_personas;
use super::{
    Home, Settings, permissions_check, read_servers, read_settings, read_system_prompt, read_trust,
};
use crate::domain::{Banner, Persona, ServerConfig, Trust};
use std::sync::Arc;

/// What the files say, or what is in force of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigSnapshot {
    pub settings: Settings,
    pub servers: Vec<ServerConfig>,
    pub system_prompt: String,
    /// Those of the folder `personas`, by name; the built-in ones are not among them.
    pub personas: Vec<Persona>,
    pub trust: Arc<Trust>,
}

/// One reading of all files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigLoad {
    pub snapshot: ConfigSnapshot,
    pub banners: Vec<Banner>,
    /// Files that could not be used at all: their part of `known` means nothing.
    settings_failed: bool,
    servers_failed: bool,
    prompt_failed: bool,
    personas_failed: bool,
    trust_failed: bool,
}

impl ConfigLoad {
    /// Reads all files. Blocks.
    pub fn from_files(home: &Home) -> Self {
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
        let exposed = permissions_check::readable_secrets_banner(home.root(), &exposed);
        let banners = [
            exposed.into_iter().collect(),
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
        }
    }

    /// What the files say; of one that could not be used, what is in force: nobody
    /// loses settings while a file is being mended.
    pub fn with_fallback(self, current: &ConfigSnapshot) -> ConfigSnapshot {
        let mut known = self.snapshot;
        if self.settings_failed {
            known.settings = current.settings.clone();
        }
        if self.servers_failed {
            known.servers = current.servers.clone();
        }
        if self.prompt_failed {
            known.system_prompt = current.system_prompt.clone();
        }
        if self.personas_failed {
            known.personas = current.personas.clone();
        }
        if self.trust_failed {
            known.trust = Arc::clone(&current.trust);
        }
        known
    }
}
