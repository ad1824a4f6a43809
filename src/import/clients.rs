//! The supported clients and the locations of their settings files.

use directories::BaseDirs;
use std::path::{Path, PathBuf};

/// Another MCP client.
#[derive(Debug, PartialEq, Eq)]
pub struct Client {
    /// The name on the command line.
    pub id: &'static str,
    pub title: &'static str,
    files: &'static [(Base, &'static str)],
}

/// The folder that a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Home,
    /// `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    Settings,
    /// `~/.config`, also on macOS.
    Xdg,
    /// `%APPDATA%` on Windows; unused elsewhere.
    AppData,
    /// The folder in which `humble` was started.
    Current,
}

/// The folders that contain settings files.
#[derive(Debug, Clone)]
pub struct Folders {
    pub home: PathBuf,
    pub settings: PathBuf,
    pub current: PathBuf,
}

pub const CLIENTS: &[Client] = &[
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        files: &[(Base::Settings, "Claude/claude_desktop_config.json")],
    },
    Client {
        id: "claude-code",
        title: "Claude Code",
        files: &[(Base::Home, ".claude.json"), (Base::Current, ".mcp.json")],
    },
    Client {
        id: "cursor",
        title: "Cursor",
        files: &[
            (Base::Home, ".cursor/mcp.json"),
            (Base::Current, ".cursor/mcp.json"),
        ],
    },
    Client {
        id: "vscode",
        title: "VS Code",
        files: &[
            (Base::Settings, "Code/User/mcp.json"),
            (Base::Settings, "Code/User/settings.json"),
            (Base::Settings, "Code - Insiders/User/mcp.json"),
            (Base::Settings, "VSCodium/User/mcp.json"),
            (Base::Current, ".vscode/mcp.json"),
        ],
    },
    Client {
        id: "lm-studio",
        title: "LM Studio",
        files: &[
            (Base::Home, ".lmstudio/mcp.json"),
            (Base::Home, ".cache/lm-studio/mcp.json"),
        ],
    },
    Client {
        id: "gemini",
        title: "Gemini CLI",
        files: &[
            (Base::Home, ".gemini/settings.json"),
            (Base::Current, ".gemini/settings.json"),
        ],
    },
    Client {
        id: "codex",
        title: "Codex",
        files: &[
            (Base::Home, ".codex/config.toml"),
            (Base::Current, ".codex/config.toml"),
        ],
    },
    Client {
        id: "opencode",
        title: "opencode",
        files: &[
            (Base::Xdg, "opencode/opencode.json"),
            (Base::Xdg, "opencode/opencode.jsonc"),
            (Base::Current, "opencode.json"),
            (Base::Current, "opencode.jsonc"),
        ],
    },
    Client {
        id: "zed",
        title: "Zed",
        files: &[
            (Base::Xdg, "zed/settings.json"),
            (Base::AppData, "Zed/settings.json"),
            (Base::Current, ".zed/settings.json"),
        ],
    },
    Client {
        id: "goose",
        title: "goose",
        files: &[
            (Base::Xdg, "goose/config.yaml"),
            (Base::AppData, "Block/goose/config/config.yaml"),
        ],
    },
    Client {
        id: "windsurf",
        title: "Windsurf",
        files: &[(Base::Home, ".codeium/windsurf/mcp_config.json")],
    },
];

pub fn find_client(id: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.id == id)
}

impl Folders {
    /// The folders of this user. `None` if the home folder is not known.
    pub fn of_user() -> Option<Self> {
        let folders = BaseDirs::new()?;
        Some(Self {
            home: folders.home_dir().to_owned(),
            settings: folders.config_dir().to_owned(),
            current: std::env::current_dir().unwrap_or_default(),
        })
    }
}

impl Client {
    /// The paths of its settings files, each once, whether or not they exist.
    pub fn files(&self, folders: &Folders) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for (base, path) in self.files {
            let path = base.folder(folders).map(|folder| folder.join(path));
            if let Some(path) = path.filter(|path| !paths.contains(path)) {
                paths.push(path);
            }
        }
        paths
    }

    pub fn existing_files(&self, folders: &Folders) -> Vec<PathBuf> {
        let mut paths = self.files(folders);
        paths.retain(|path| path.exists());
        paths
    }
}

impl Base {
    fn folder(self, folders: &Folders) -> Option<PathBuf> {
        let is_windows = cfg!(windows);
        match self {
            Self::Home => Some(folders.home.clone()),
            Self::Current => Some(folders.current.clone()),
            Self::Settings => Some(folders.settings.clone()),
            Self::AppData => is_windows.then(|| folders.settings.clone()),
            Self::Xdg if cfg!(target_os = "linux") => Some(folders.settings.clone()),
            Self::Xdg => Some(Path::new(&folders.home).join(".config")),
        }
    }
}
