//! A socket with a timeout for writes, whose end reaches a client that still sends.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::connections::Admitted;

/// The time for which a client that was turned away may go on sending. Closing a connection with unread bytes resets it, so
/// that its client might not read the response.
const MAX_DISCARD_TIME: Duration = Duration::from_secs(5);

/// A TCP stream whose writes fail if they make no progress within the timeout.
pub(super) struct WriteTimeout {
    /// Dropped before the stream, so that a client that sees the end of its connection finds room for another one.
    admitted: Admitted,
    stream: TcpStream,
    timeout: Duration,
    /// The deadline of the pending write.
    deadline: Pin<Box<Sleep>>,
    is_waiting: bool,
    /// True after the end of what the server sends.
    is_shut_down: bool,
}

impl WriteTimeout {
    pub(super) fn new(stream: TcpStream, admitted: Admitted, timeout: Duration) -> Self {
        Self {
            admitted,
            stream,
            timeout,
            deadline: Box::pin(tokio::time::sleep(timeout)),
            is_waiting: false,
            is_shut_down: false,
        }
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
        if !self.is_shut_down {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            self.is_shut_down = true;
            let ends_at = Instant::now() + self.timeout.min(MAX_DISCARD_TIME);
            self.deadline.as_mut().reset(ends_at);
        }
        if !self.admitted.connection().is_turned_away() {
            return Poll::Ready(Ok(()));
        }
        let mut discarded = [MaybeUninit::uninit(); 4096];
        loop {
            let mut buffer = ReadBuf::uninit(&mut discarded);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return self.deadline.as_mut().poll(cx).map(Ok),
            }
        }
    }
}
