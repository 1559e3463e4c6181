//! The redirection of stderr to a pipe that this process reads.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::QUEUE;

/// The byte that marks the end of the text, which has no such character.
const END: u8 = 0;

static PIPE: Mutex<Option<Pipe>> = Mutex::new(None);

/// A redirected stderr.
pub(super) struct Pipe {
    writer: PipeWriter,
    original: File,
}

impl Pipe {
    /// Ends the redirection.
    pub(super) fn restore(self) {
        let _ = rustix::stdio::dup2_stderr(self.original);
    }
}

/// Redirects stderr if it is a pipe or a socket, and returns the original one. Files do not fill up, and a terminal has a
/// reader.
pub(super) fn start() -> io::Result<Option<File>> {
    let original = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let kind = original.metadata()?.file_type();
    if !kind.is_fifo() && !kind.is_socket() {
        return Ok(None);
    }
    let (reader, writer) = io::pipe()?;
    thread::Builder::new().name("stderr pipe".to_owned()).spawn(move || read(reader))?;
    rustix::stdio::dup2_stderr(&writer)?;
    let pipe = Pipe { writer, original: original.try_clone()? };
    *PIPE.lock().unwrap_or_else(PoisonError::into_inner) = Some(pipe);
    Ok(Some(original))
}

/// Marks the end of the text, and returns the pipe if there is one. It has been read when the queue is written.
pub(super) fn end() -> Option<Pipe> {
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    QUEUE.lock().is_ending = true;
    pipe.writer.write_all(&[END]).ok()?;
    Some(pipe)
}

/// Passes on the text, without ever waiting for the reader of the original stderr.
fn read(mut reader: PipeReader) {
    let mut buffer = [0; 16 << 10];
    loop {
        let n = match reader.read(&mut buffer) {
            Ok(n @ 1..) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            _ => return,
        };
        let mut text = &buffer[..n];
        if QUEUE.lock().is_ending
            && let Some(end) = text.iter().position(|&byte| byte == END)
        {
            QUEUE.push(&text[..end]);
            QUEUE.lock().is_ending = false;
            text = &text[end + 1..];
        }
        QUEUE.push(text);
    }
}
