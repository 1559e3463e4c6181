//! A socket with a timeout for writes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::connections::Admitted;

/// A TCP stream whose writes fail if they make no progress within the timeout.
pub(super) struct WriteTimeout {
    /// Dropped before the stream, so that a client that sees the end of its connection finds room for another one.
    admitted: Admitted,
    stream: TcpStream,
    timeout: Duration,
    /// The deadline of the pending write.
    deadline: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl WriteTimeout {
    pub(super) fn new(stream: TcpStream, admitted: Admitted, timeout: Duration) -> Self {
        Self { admitted, stream, timeout, deadline: Box::pin(tokio::time::sleep(timeout)), is_waiting: false }
    }

    /// Waits for the first bytes.
    pub(super) async fn readable(&self) -> io::Result<()> {
        self.stream.readable().await
    }

    fn progress<T>(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            if self.is_waiting {
                self.is_waiting = false;
                self.admitted.connection().set_blocked(false);
            }
            return wrote;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.admitted.connection().set_blocked(true);
            self.deadline.as_mut().reset(Instant::now() + self.timeout);
        }
        ready!(self.deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.progress(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.progress(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
