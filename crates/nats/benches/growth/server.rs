//! A NATS server in a process of its own, and what it consumes.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Failure;

/// A server that is killed on drop.
pub(crate) struct Server {
    child: Child,
    port: u16,
    monitor: u16,
}

impl Server {
    pub(crate) fn start() -> Result<Self, Failure> {
        let free = || Ok::<_, Failure>(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let (port, monitor) = (free()?, free()?);
        let child = limited("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-m", &monitor.to_string()])
            .stderr(Stdio::null())
            .spawn()?;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { child, port, monitor })
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn memory(&self) -> Result<u64, Failure> {
        memory_of(self.child.id())
    }

    /// Returns the CPU time of the server.
    pub(crate) fn cpu(&self) -> Result<Duration, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The fields after the name, which may contain spaces; in ticks of 10 ms.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks = |nth: usize| fields.get(nth).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
        Ok(Duration::from_millis(10 * (ticks(11) + ticks(12))))
    }

    /// Returns the number of bytes that the server has sent.
    pub(crate) async fn sent(&self) -> Result<u64, Failure> {
        Ok(self.state().await?["out_bytes"].as_u64().unwrap_or(0))
    }

    /// Returns the number of messages that the server has sent.
    pub(crate) async fn sent_messages(&self) -> Result<u64, Failure> {
        Ok(self.state().await?["out_msgs"].as_u64().unwrap_or(0))
    }

    async fn state(&self) -> Result<Value, Failure> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).await?;
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").await?;
        let mut response = String::new();
        stream.read_to_string(&mut response).await?;
        let (_, body) = response.split_once("\r\n\r\n").ok_or("no body")?;
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a command that may open many connections.
pub(crate) fn limited(program: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 16384 2>/dev/null; exec \"$0\" \"$@\"", program]);
    command
}

pub(crate) fn memory_of(pid: u32) -> Result<u64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? << 10)
}
