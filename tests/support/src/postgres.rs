//! A Postgres server in processes of its own.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time after which a test that waits fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A server that is killed on drop.
pub struct Server {
    port: u16,
    folder: PathBuf,
}

impl Server {
    /// Starts a server without databases, which trusts every user of this machine.
    ///
    /// # Panics
    ///
    /// Panics if the server does not start.
    #[must_use]
    pub fn start() -> Self {
        static N_SERVERS: AtomicU64 = AtomicU64::new(0);
        let nth = N_SERVERS.fetch_add(1, Ordering::Relaxed);
        // Another user must reach it, as the server refuses to run as root.
        let folder = std::env::temp_dir().join(format!("toolkit-durable-{}-{nth}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        if is_root() {
            assert!(Command::new("chown").arg("postgres").arg(&folder).status().unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { port, folder };
        server.run("initdb", &["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8", "--locale=C"]);
        // Those of network namespaces.
        let hosts = server.data().join("pg_hba.conf");
        let rules = std::fs::read_to_string(&hosts).unwrap() + "host all all 10.213.0.0/16 trust\n";
        std::fs::write(&hosts, rules).unwrap();
        server.launch();
        server
    }

    fn launch(&self) {
        let options = format!(
            "-c listen_addresses=* -c fsync=off -c max_connections=300 -p {} -k {}",
            self.port,
            self.folder.display()
        );
        let log = self.folder.join("log");
        self.run("pg_ctl", &["-w", "-l", log.to_str().unwrap(), "-o", &options, "start"]);
    }

    /// Runs a program of the server on its data.
    fn run(&self, program: &str, arguments: &[&str]) {
        let path = programs().join(program);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]).arg(path);
                command
            }
            false => Command::new(path),
        };
        let command = command.arg("-D").arg(self.data()).args(arguments);
        // Not piped: the server inherits the output.
        let status = command.current_dir(&self.folder).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(status.expect("the server is installed").success(), "{program} failed: {}", log());
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Returns the port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of the database of the runs.
    #[must_use]
    pub fn url(&self) -> String {
        Self::url_at(&format!("127.0.0.1:{}", self.port))
    }

    /// Returns the URL of the server at another address.
    #[must_use]
    pub fn url_at(address: &str) -> String {
        format!("postgres://postgres@{address}/runs")
    }

    /// Returns the path of the file to which tools write what they do.
    #[must_use]
    pub fn diary(&self) -> PathBuf {
        self.folder.join("diary")
    }

    /// Returns the rows of a query, with `|` between their columns.
    ///
    /// # Panics
    ///
    /// Panics if the query fails.
    #[must_use]
    pub fn query(&self, text: &str) -> String {
        let output = Command::new(programs().join("psql")).arg(self.url()).args(["-At", "-c", text]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Kills the server and starts it again on the same port.
    pub fn restart(&self) {
        self.kill();
        self.launch();
    }

    fn kill(&self) {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        if let Some(pid) = file.lines().next() {
            let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
            // The processes of the sessions end when they notice.
            while Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap().success() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// PgBouncer before a server. It is killed on drop.
pub struct Pooler {
    process: std::process::Child,
    port: u16,
}

impl Pooler {
    /// Starts a pooler with lines of its configuration. Returns `None` if the program is not installed.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started.
    #[must_use]
    pub fn start(server: &Server, lines: &str) -> Option<Self> {
        Command::new("pgbouncer").arg("--version").stdout(Stdio::null()).status().ok()?;
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (settings, users) = (server.folder.join("pooler.ini"), server.folder.join("users"));
        std::fs::write(&users, "\"postgres\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\n{lines}\n",
            server.port,
            users.display()
        );
        std::fs::write(&settings, text).unwrap();
        let mut command = Command::new("pgbouncer");
        if is_root() {
            command.args(["-u", "postgres"]);
        }
        let process = command.arg("-q").arg(settings).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self { process, port };
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(pooler)
    }

    /// Returns true if it can give a transaction another session with its prepared statements.
    ///
    /// # Panics
    ///
    /// Panics if the server does not report its version.
    #[must_use]
    pub fn keeps_statements() -> bool {
        let output = Command::new("pgbouncer").arg("--version").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let version = text.lines().next().and_then(|line| line.strip_prefix("PgBouncer 1.")).unwrap();
        version.split('.').next().unwrap().parse::<u32>().unwrap() >= 21
    }

    /// Returns the URL of the database of the runs.
    #[must_use]
    pub fn url(&self) -> String {
        Server::url_at(&format!("127.0.0.1:{}", self.port))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}

/// Returns the folder of the programs of the server, which `tests/durable/run` sets.
fn programs() -> PathBuf {
    std::env::var_os("TOOLKIT_POSTGRES").expect("`tests/durable/run` runs these tests").into()
}
