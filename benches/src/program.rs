//! Programs that are written, built and run to be measured.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A workspace of generated packages, in a folder of cargo's target directory.
#[derive(Debug)]
pub struct Workshop {
    root: PathBuf,
}

impl Workshop {
    /// An empty workspace of that name, with this one's versions of everything; what was built in it before is kept.
    ///
    /// # Errors
    ///
    /// Its files cannot be written.
    pub fn open(name: &str, profiles: &str) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let target = program.ancestors().nth(2).ok_or_else(|| io::Error::other("not started by cargo"))?;
        let workshop = Self { root: target.join("workshops").join(name) };
        let packages = workshop.root.join("packages");
        if packages.exists() {
            fs::remove_dir_all(&packages)?;
        }
        let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [\"packages/*\"]\n\n{profiles}");
        workshop.write("Cargo.toml", &manifest)?;
        workshop.write("rust-toolchain.toml", &fs::read_to_string(project().join("rust-toolchain.toml"))?)?;
        fs::copy(project().join("Cargo.lock"), workshop.root.join("Cargo.lock"))?;
        Ok(workshop)
    }

    /// Adds a package, with the lines of its `[dependencies]`.
    ///
    /// # Errors
    ///
    /// Its files cannot be written.
    pub fn package(&self, name: &str, dependencies: &str) -> io::Result<()> {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
        );
        self.write(&format!("packages/{name}/Cargo.toml"), &manifest)?;
        self.write(&format!("packages/{name}/src/lib.rs"), "")
    }

    /// Writes a file of a package, such as `src/lib.rs`.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn source(&self, package: &str, path: &str, text: &str) -> io::Result<()> {
        self.write(&format!("packages/{package}/{path}"), text)
    }

    /// Runs cargo here, and gives what it printed and the processor time of all that it started.
    ///
    /// # Errors
    ///
    /// It fails.
    pub fn cargo(&self, arguments: &[&str]) -> io::Result<(String, Duration)> {
        let before = cpu_time_of_children()?;
        let output = Command::new("cargo")
            .current_dir(&self.root)
            .args(arguments)
            .arg("--quiet")
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            // What was compiled before must not make the next measurement cheaper.
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTFLAGS")
            .output()?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("cargo {}: {message}", arguments.join(" "))));
        }
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), cpu_time_of_children()? - before))
    }

    /// A program that was built here in the profile `release`.
    #[must_use]
    pub fn released(&self, program: &str) -> PathBuf {
        self.root.join("target/release").join(program)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder"))?;
        fs::write(path, text)
    }
}

/// How many tools the command line asks for.
#[derive(Debug)]
pub enum Size {
    /// `--quick`: few, to see that the program works.
    Quick,
    /// Nothing was said.
    Usual,
    /// These numbers of them.
    Given(Vec<usize>),
}

/// Reads the command line.
///
/// # Errors
///
/// It has something else than `--quick` or numbers.
pub fn sizes() -> io::Result<Size> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => Ok(Size::Usual),
        [quick] if quick == "--quick" => Ok(Size::Quick),
        sizes => {
            let sizes: Result<_, _> = sizes.iter().map(|size| size.parse()).collect();
            sizes.map(Size::Given).map_err(|_| io::Error::other("expected `--quick` or numbers of tools"))
        }
    }
}

/// The root of this project.
#[must_use]
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the project")
}

/// User and system time of every descendant that has been waited for; Linux alone tells.
fn cpu_time_of_children() -> io::Result<Duration> {
    /// `USER_HZ`, which is the same on every machine that this is likely to run on.
    const TICKS_A_SECOND: u64 = 100;

    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program, in brackets, may hold spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_A_SECOND))
}
