//! So many connections at once, and none that says nothing for ever: whoever opens all there are cannot keep others out.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Connections at once; further ones wait.
const MOST: usize = 64;
/// A new connection on which nothing was answered for so long is closed: whoever asks from this machine does so at once ...
const FIRST: Duration = Duration::from_secs(2);
/// ... and one on which something was.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listener that holds no more than 64 connections, each of them only while something is asked.
pub struct Few {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Few {
    /// The same listener, with limits.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, free: Arc::new(Semaphore::new(MOST)) }
    }
}

impl Listener for Few {
    type Io = Held;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Held, SocketAddr) {
        // Nobody closes the semaphore: there is always a place in the end.
        let place = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Held { stream, silence: Box::pin(sleep(FIRST)), _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that has a place, and gives it back.
pub struct Held {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Held {
    fn answered(&mut self) {
        self.silence.as_mut().reset(Instant::now() + PATIENCE);
    }
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            // Whoever asks letter by letter has no more time than whoever asks nothing.
            Poll::Ready(read) => Poll::Ready(read),
            Poll::Pending => {
                self.silence.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncWrite for Held {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.answered();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
