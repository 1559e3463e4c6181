//! Programs with an unread pipe as stderr.

use std::io::{PipeReader, Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

/// The time after which the program is killed, so that a test fails and does not hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running program with a full stderr. Dropping it kills the program.
pub struct Full {
    /// The program.
    pub child: Child,
    stderr: PipeReader,
    is_read: Arc<AtomicBool>,
    _ended: Sender<()>,
}

impl Full {
    /// Starts a program.
    pub fn start(mut command: Command) -> Self {
        let (stderr, writer) = std::io::pipe().unwrap();
        let mut filling = writer.try_clone().unwrap();
        let child = command.stderr(writer).spawn().unwrap();
        let is_read = Arc::<AtomicBool>::default();
        let stops = Arc::clone(&is_read);
        thread::spawn(move || while !stops.load(Ordering::SeqCst) && filling.write_all(&[b'.'; 4096]).is_ok() {});
        let (ended, waiting) = mpsc::channel();
        let id = child.id();
        thread::spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
            }
        });
        Self { child, stderr, is_read, _ended: ended }
    }

    /// Reads stderr until it contains a text.
    pub fn read_until(&mut self, text: &str) {
        self.is_read.store(true, Ordering::SeqCst);
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&all).contains(text) {
            // Texts are short, so the last two reads contain one that is cut.
            let last = all.len().saturating_sub(buffer.len());
            all.drain(..last);
            let n = self.stderr.read(&mut buffer).unwrap();
            assert_ne!(n, 0, "the program has ended without {text:?}");
            all.extend_from_slice(&buffer[..n]);
        }
    }

    /// Sends SIGTERM, and returns the exit status.
    pub fn terminate(mut self) -> ExitStatus {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
