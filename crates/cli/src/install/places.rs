//! The directories of the configurations of clients, by the operating system.

use std::path::{Path, PathBuf};

/// An operating system, by the layout of its directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Os {
    Linux,
    Mac,
    Windows,
}

impl Os {
    /// The system of this process.
    pub(super) const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };
}

/// The environment variables that determine the directories.
pub(super) struct Places<'a> {
    pub(super) variable: &'a dyn Fn(&str) -> Option<PathBuf>,
}

impl Places<'_> {
    /// Returns the home directory of the user.
    pub(super) fn home(&self, os: Os) -> Result<PathBuf, String> {
        self.required(if os == Os::Windows { "USERPROFILE" } else { "HOME" })
    }

    /// Returns the directory of the configurations of all programs.
    pub(super) fn configuration(&self, os: Os) -> Result<PathBuf, String> {
        match os {
            Os::Windows => self.required("APPDATA"),
            Os::Mac => Ok(self.home(os)?.join("Library/Application Support")),
            // The specification requires that a relative path is ignored.
            Os::Linux => match (self.variable)("XDG_CONFIG_HOME").filter(|path| path.is_absolute()) {
                Some(path) => Ok(path),
                None => Ok(self.home(os)?.join(".config")),
            },
        }
    }

    /// Returns the configuration files of Claude Desktop. On Windows, the edition of the store reads one of its own.
    pub(super) fn claude_desktop(&self, os: Os) -> Result<Vec<PathBuf>, String> {
        const FILE: &str = "Claude/claude_desktop_config.json";
        let mut files = vec![self.configuration(os)?.join(FILE)];
        if os == Os::Windows
            && let Some(local) = (self.variable)("LOCALAPPDATA")
        {
            files.extend(
                store_editions(&local).into_iter().map(|edition| edition.join("LocalCache/Roaming").join(FILE)),
            );
        }
        Ok(files)
    }

    fn required(&self, name: &str) -> Result<PathBuf, String> {
        let path = (self.variable)(name).filter(|path| path.is_absolute());
        path.ok_or_else(|| format!("the environment variable `{name}` must be the absolute path of a directory"))
    }
}

/// Returns the directories of the editions of Claude Desktop that are installed from the store.
fn store_editions(local: &Path) -> Vec<PathBuf> {
    let packages = std::fs::read_dir(local.join("Packages")).into_iter().flatten();
    let paths = packages.filter_map(|entry| Some(entry.ok()?.path()));
    let is_claude = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("Claude_"));
    let mut editions: Vec<PathBuf> = paths.filter(is_claude).collect();
    editions.sort();
    editions
}
