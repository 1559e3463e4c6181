//! Programs that are generated, built and run for measurements.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A workspace of generated packages, in a directory below cargo's target directory.
#[derive(Debug)]
pub struct Workshop {
    root: PathBuf,
}

impl Workshop {
    /// Creates an empty workspace with that name, with the lock file and toolchain of this one; keeps earlier build output.
    ///
    /// # Errors
    ///
    /// Returns an error if its files cannot be written.
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
    /// Returns an error if its files cannot be written.
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
    /// Returns an error if it cannot be written.
    pub fn source(&self, package: &str, path: &str, text: &str) -> io::Result<()> {
        self.write(&format!("packages/{package}/{path}"), text)
    }

    /// Runs cargo in the workspace, and returns its output and the processor time of all processes that it started.
    ///
    /// # Errors
    ///
    /// Returns an error if cargo fails.
    pub fn cargo(&self, arguments: &[&str]) -> io::Result<(String, Duration)> {
        // Earlier compilation must not make the next measurement cheaper.
        self.run(arguments, "0")
    }

    /// Runs cargo like [`Workshop::cargo`], with incremental compilation.
    ///
    /// # Errors
    ///
    /// Returns an error if cargo fails.
    pub fn cargo_incremental(&self, arguments: &[&str]) -> io::Result<(String, Duration)> {
        self.run(arguments, "1")
    }

    /// Removes what debug builds have kept for the next incremental compilation.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be removed.
    pub fn remove_incremental(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join("target/debug/incremental")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn run(&self, arguments: &[&str], incremental: &str) -> io::Result<(String, Duration)> {
        let before = cpu_time_of_children()?;
        let output = Command::new("cargo")
            .current_dir(&self.root)
            .arg("--quiet")
            .args(arguments)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("CARGO_INCREMENTAL", incremental)
            .env_remove("RUSTFLAGS")
            .output()?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("cargo {}: {message}", arguments.join(" "))));
        }
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), cpu_time_of_children()? - before))
    }

    /// Returns the path of a file beside the packages.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns the path of a program that was built in the profile `release`.
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

/// The numbers of tools on the command line.
#[derive(Debug)]
pub enum Size {
    /// `--quick`: few tools, as a smoke test.
    Quick,
    /// No argument.
    Usual,
    /// Explicit numbers.
    Given(Vec<usize>),
}

/// Parses the command line.
///
/// # Errors
///
/// Returns an error if an argument is neither `--quick` nor a number.
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

/// Returns the root directory of this project.
#[must_use]
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the project")
}

/// Returns the user and system time of all descendants that have been waited for; only available on Linux.
fn cpu_time_of_children() -> io::Result<Duration> {
    /// `USER_HZ`, which is 100 on all common machines.
    const TICKS_A_SECOND: u64 = 100;

    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program, in parentheses, may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_A_SECOND))
}
