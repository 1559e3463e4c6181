//! The programs in a bundle.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::metadata::{failed, usage};
use crate::error::CommandError;

/// An operating system, as MCPB names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Platform {
    Darwin,
    Linux,
    Win32,
}

impl Platform {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Darwin => "darwin",
            Self::Linux => "linux",
            Self::Win32 => "win32",
        }
    }

    /// Returns the platform whose executable files begin with these bytes.
    fn from_magic(magic: [u8; 4]) -> Option<Self> {
        match magic {
            [0x7f, b'E', b'L', b'F'] => Some(Self::Linux),
            // Mach-O of 32 and 64 bits in both byte orders, and with several architectures.
            [0xfe, 0xed, 0xfa, 0xce | 0xcf] | [0xce | 0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe] => {
                Some(Self::Darwin)
            }
            [b'M', b'Z', ..] => Some(Self::Win32),
            _ => None,
        }
    }
}

/// An executable file.
pub(super) struct Executable {
    pub(super) path: PathBuf,
    pub(super) platform: Platform,
}

impl Executable {
    /// Reads the platform of an executable file.
    pub(super) fn open(path: &Path) -> Result<Self, CommandError> {
        let mut magic = [0; 4];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.map_err(|error| failed(path, &error))?;
        let Some(platform) = Platform::from_magic(magic) else {
            return Err(failed(path, &"not an executable file of Linux, macOS or Windows"));
        };
        Ok(Self { path: path.to_owned(), platform })
    }

    /// Returns the path in the bundle.
    pub(super) fn entry(&self, name: &str) -> String {
        let extension = if self.platform == Platform::Win32 { ".exe" } else { "" };
        format!("server/{name}{extension}")
    }
}

/// Opens the programs, of which each has another path in the bundle.
pub(super) fn open_all(paths: &[PathBuf]) -> Result<Vec<Executable>, CommandError> {
    let mut executables: Vec<Executable> = Vec::new();
    for path in paths {
        let new = Executable::open(path)?;
        if executables.iter().any(|other| other.entry("") == new.entry("")) {
            let message = "a bundle contains one program for Windows and one for Linux or macOS; make one bundle for each \
                           other platform";
            return Err(usage(message.to_owned()));
        }
        executables.push(new);
    }
    executables.sort_by_key(|executable| executable.platform);
    Ok(executables)
}
