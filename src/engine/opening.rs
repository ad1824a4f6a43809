//! What the files say when the program starts.

use crate::config::{self, Home, Settings};
use crate::domain::{Banner, ServerConfig};

pub(super) struct Files {
    pub(super) settings: Settings,
    pub(super) servers: Vec<ServerConfig>,
    pub(super) system_prompt: String,
    pub(super) banners: Vec<Banner>,
}

pub(super) async fn read_files(home: Home) -> Files {
    let read = move || {
        let settings = config::read_settings(&home);
        let servers = config::read_servers(&home);
        let prompt = config::read_system_prompt(&home);
        let mut banners = settings.banners;
        banners.extend(servers.banners);
        banners.extend(prompt.banners);
        Files {
            settings: settings.value,
            servers: servers.value,
            system_prompt: prompt.value,
            banners,
        }
    };
    tokio::task::spawn_blocking(read)
        .await
        .expect("reading files does not panic, and nobody aborts it")
}
