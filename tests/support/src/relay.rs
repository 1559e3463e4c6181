//! A TCP relay that cuts, delays and halves connections.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A relay in front of a server.
pub struct Relay {
    address: std::net::SocketAddr,
    state: watch::Sender<State>,
    _accepting: JoinSet<()>,
}

#[derive(Clone, Default)]
struct State {
    /// Connections that were accepted before this number changed are cut.
    epoch: u64,
    refuses: bool,
    /// The directions, to the server and to the client, in which nothing passes.
    held: [bool; 2],
    delay: Duration,
}

impl Relay {
    /// Starts a relay to a port of this machine.
    pub async fn start(to: u16) -> Self {
        Self::start_on("127.0.0.1", to).await
    }

    /// Starts a relay on another address of this machine.
    pub async fn start_on(host: &str, to: u16) -> Self {
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = watch::Sender::new(State::default());
        let states = state.subscribe();
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                if !states.borrow().refuses {
                    connections.spawn(relay(client, to, states.clone()));
                }
                while connections.try_join_next().is_some() {}
            }
        });
        Self { address, state, _accepting: accepting }
    }

    /// Returns the address of the relay.
    pub fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// Cuts all connections. Clients may connect again.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.epoch += 1);
    }

    /// Cuts all connections, and refuses others.
    pub fn refuse(&self) {
        self.state.send_modify(|state| {
            state.epoch += 1;
            state.refuses = true;
        });
    }

    /// Lets nothing pass to the server, or to the client, or both. The connections stay.
    pub fn hold(&self, held: [bool; 2]) {
        self.state.send_modify(|state| state.held = held);
    }

    /// Delays everything that passes.
    pub fn delay(&self, delay: Duration) {
        self.state.send_modify(|state| state.delay = delay);
    }

    /// Lets everything pass.
    pub fn restore(&self) {
        self.state.send_modify(|state| *state = State { epoch: state.epoch, ..State::default() });
    }
}

async fn relay(client: TcpStream, to: u16, states: watch::Receiver<State>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", to)).await else { return };
    let (epoch, mut changes) = (states.borrow().epoch, states.clone());
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    // Dropping the halves closes the connections.
    tokio::select! {
        () = pass(0, client_reads, server_writes, states.clone()) => {}
        () = pass(1, server_reads, client_writes, states) => {}
        _ = changes.wait_for(|state| state.epoch != epoch) => {}
    }
}

/// Passes on what arrives in one direction.
async fn pass(direction: usize, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut states: watch::Receiver<State>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(n_bytes @ 1..) = from.read(&mut buffer).await {
        let Ok(delay) = states.wait_for(|state| !state.held[direction]).await.map(|state| state.delay) else { return };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&buffer[..n_bytes]).await.is_err() {
            return;
        }
    }
    // The end of a connection does not pass either.
    let _ = states.wait_for(|state| !state.held[direction]).await;
}
