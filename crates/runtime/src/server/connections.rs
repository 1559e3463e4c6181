//! The open connections: the room that a request takes, eviction and the reserve, and the phase of each connection, by which
//! the one to evict is selected.
//!
//! A connection takes room with its first byte. A client that connects and sends nothing occupies a socket, and of those the
//! newest few thousand stay, whatever the limits are. A request for which there is no room is read, so that it can be answered.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::HeaderMap;
use tokio::sync::Notify;

use super::Limits;
use super::request_head::Rejection;
use super::response_budget::{ResponseBudget, ResponsePermit};
use crate::mutex::Mutex;
use crate::{BudgetExceeded, BudgetShare, SharedBudget, client_network};

/// The open connections of a server.
#[derive(Clone)]
pub(super) struct Connections(Arc<ConnectionsShared>);

struct ConnectionsShared {
    limits: Limits,
    table: Mutex<Table>,
    responses: ResponseBudget,
    event_streams: SharedBudget<Arc<str>>,
}

/// The number of connections whose clients have sent nothing. Each takes a socket and no buffer.
const MAX_SILENT: usize = 8192;

/// The number of connections without room that are read and answered at the same time.
const MAX_TURNED_AWAY: usize = 1024;

#[derive(Default)]
struct Table {
    /// The connections that have room, in the reserve or outside of it.
    open: HashMap<u64, Connection>,
    /// The connections whose clients have sent nothing, the oldest first.
    silent: BTreeMap<u64, Connection>,
    /// The connections with a request for which there is no room, the oldest first.
    turned_away: BTreeMap<u64, Connection>,
    next_id: u64,
    n_reserved: usize,
    /// The counts of each [network](client_network).
    by_network: HashMap<IpAddr, Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    n_connections: usize,
    /// The number of these connections that are in the reserve.
    n_reserved: usize,
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        let responses = ResponseBudget::new(limits.max_response_bytes);
        let event_streams = SharedBudget::new(limits.max_event_streams as u64);
        Self(Arc::new(ConnectionsShared { limits, table: Mutex::default(), responses, event_streams }))
    }

    /// Admits a connection from an address. Beyond the limit of silent ones, the oldest of those is evicted.
    pub(super) fn admit(&self, address: IpAddr) -> Admitted {
        let mut table = self.0.table.lock();
        if table.silent.len() >= MAX_SILENT {
            table.silent.pop_first().inspect(|(_, oldest)| oldest.evict());
        }
        let id = table.next_id;
        table.next_id += 1;
        // A dual-stack socket shows IPv4 clients as IPv6 addresses.
        let connection = Connection::new(self.clone(), id, address.to_canonical());
        table.silent.insert(id, connection.clone());
        Admitted(connection)
    }

    /// Closes all connections.
    pub(super) fn close(&self) {
        let table = self.0.table.lock();
        let all = table.open.values().chain(table.silent.values()).chain(table.turned_away.values());
        all.for_each(Connection::evict);
    }

    /// Closes the connections whose clients have sent nothing.
    pub(super) fn close_silent(&self) {
        self.0.table.lock().silent.values().for_each(Connection::evict);
    }

    /// Takes room for a connection whose client has sent its first byte.
    fn begin(&self, connection: &Connection) {
        let mut table = self.0.table.lock();
        // It may have been evicted meanwhile.
        let Some(connection) = table.silent.remove(&connection.0.id) else { return };
        if !table.take_room(&self.0.limits, &connection) {
            if table.turned_away.len() >= MAX_TURNED_AWAY {
                table.turned_away.pop_first().inspect(|(_, oldest)| oldest.evict());
            }
            table.turned_away.insert(connection.0.id, connection);
        }
    }

    /// Takes room for a connection that was turned away, if there is some now.
    fn begin_again(&self, connection: &Connection) -> bool {
        let mut table = self.0.table.lock();
        let has_room = table.take_room(&self.0.limits, connection);
        if has_room {
            table.turned_away.remove(&connection.0.id);
        }
        has_room
    }

    /// Moves a connection out of the reserve if there is room, in total and for its address.
    fn promote(&self, connection: &Connection) -> bool {
        let mut table = self.0.table.lock();
        if table.is_full(&self.0.limits) || table.has_share(&self.0.limits, connection.address()) {
            return false;
        }
        if connection.0.room.swap(ORDINARY, Ordering::Relaxed) == RESERVED {
            table.n_reserved = table.n_reserved.saturating_sub(1);
            table.change(connection.address(), |counts| counts.n_reserved = counts.n_reserved.saturating_sub(1));
        }
        true
    }

    /// Returns the limit for which a connection has no room.
    fn limit(&self, connection: &Connection) -> Rejection {
        let limits = &self.0.limits;
        match self.0.table.lock().has_share(limits, connection.address()) {
            true => Rejection::ConnectionsOfAddress(limits.max_connections_per_address),
            false => Rejection::Connections(limits.max_connections),
        }
    }
}

impl Table {
    /// Takes room for a connection, and evicts another one if necessary. Returns false if even the reserve is full.
    fn take_room(&mut self, limits: &Limits, connection: &Connection) -> bool {
        let address = connection.address();
        // The connection replaces the evicted one, in the reserve if that was in the reserve.
        let is_reserved = match (self.has_share(limits, address), self.is_full(limits)) {
            (false, false) => false,
            (true, _) => self.evict(Some(address)).is_none_or(|evicted| evicted.is_in_reserve()),
            (false, true) => self.evict(None).is_none_or(|evicted| evicted.is_in_reserve()),
        };
        if is_reserved {
            // Connections in the reserve can be evicted for each other too.
            if self.n_reserved >= limits.reserved_connections {
                return false;
            }
            self.n_reserved += 1;
        }
        connection.0.room.store(if is_reserved { RESERVED } else { ORDINARY }, Ordering::Relaxed);
        let counts = self.by_network.entry(client_network(address)).or_default();
        counts.n_connections += 1;
        counts.n_reserved += usize::from(is_reserved);
        self.open.insert(connection.0.id, connection.clone());
        true
    }

    /// Returns true if the limit of connections outside of the reserve is reached.
    fn is_full(&self, limits: &Limits) -> bool {
        self.open.len() - self.n_reserved >= limits.max_connections.max(1)
    }

    /// Returns true if the limit of connections per address outside of the reserve is reached.
    fn has_share(&self, limits: &Limits, address: IpAddr) -> bool {
        let counts = self.by_network.get(&client_network(address)).copied().unwrap_or_default();
        let n_ordinary = counts.n_connections.saturating_sub(counts.n_reserved);
        limits.limits_address(address) && n_ordinary >= limits.max_connections_per_address
    }

    /// Evicts a connection that waits for its client. Prefers the address with the most connections, then idle
    /// connections, then clients that do not read, then incomplete bodies, and then the connection that has waited
    /// longest.
    fn evict(&mut self, of: Option<IpAddr>) -> Option<Connection> {
        let candidates =
            self.open.values().filter(|connection| of.is_none_or(|of| client_network(of) == connection.network()));
        let ranked = candidates.filter_map(|connection| {
            let rank = match connection.phase() {
                Phase::Idle => 0,
                Phase::Blocked => 1,
                Phase::Receiving => 2,
                Phase::Running => return None,
            };
            let n_of_address = self.by_network.get(&connection.network()).map_or(0, |counts| counts.n_connections);
            Some(((Reverse(n_of_address), rank, connection.since(), connection.0.id), connection.0.id))
        });
        let (_, id) = ranked.min()?;
        self.remove(id).inspect(Connection::evict)
    }

    /// Evicts the connection whose client has not read for the longest time, of all or of those of a network.
    fn evict_blocked(&mut self, of: Option<IpAddr>) -> bool {
        let blocked = self.open.values().filter(|connection| connection.phase() == Phase::Blocked);
        let blocked = blocked.filter(|connection| of.is_none_or(|of| of == connection.network()));
        let longest = blocked.min_by_key(|connection| connection.since()).map(|connection| connection.0.id);
        longest.and_then(|id| self.remove(id)).inspect(Connection::evict).is_some()
    }

    fn remove(&mut self, id: u64) -> Option<Connection> {
        let Some(connection) = self.open.remove(&id) else {
            self.silent.remove(&id);
            self.turned_away.remove(&id);
            return None;
        };
        let is_reserved = connection.is_in_reserve();
        self.n_reserved = self.n_reserved.saturating_sub(usize::from(is_reserved));
        self.change(connection.address(), |counts| {
            counts.n_connections = counts.n_connections.saturating_sub(1);
            counts.n_reserved = counts.n_reserved.saturating_sub(usize::from(is_reserved));
        });
        Some(connection)
    }

    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut Counts)) {
        let network = client_network(address);
        if let Some(counts) = self.by_network.get_mut(&network) {
            change(counts);
            if counts.n_connections == 0 {
                self.by_network.remove(&network);
            }
        }
    }
}

/// The connection of a request. Clones share the connection.
#[derive(Clone)]
pub(super) struct Connection(Arc<ConnectionState>);

/// An admitted connection. Dropping it closes it, and frees its room.
pub(super) struct Admitted(Connection);

struct ConnectionState {
    connections: Connections,
    id: u64,
    address: IpAddr,
    /// The kind of its room.
    room: AtomicU8,
    phase: AtomicU8,
    /// True while a write waits for the client to read.
    is_blocked: AtomicBool,
    opened: Instant,
    /// The start of the phase, in milliseconds after `opened`.
    since: AtomicU64,
    evicted: Notify,
}

/// The party and the event that a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waits for a request.
    Idle,
    /// Waits for the body of a request.
    Receiving,
    /// Waits for the server.
    Running,
    /// Waits for the client to read.
    Blocked,
}

/// The first bytes have not been read yet.
const BEGUN: u8 = 0;
const IDLE: u8 = 1;
const RECEIVING: u8 = 2;
const RUNNING: u8 = 3;

/// The connection has no room: it is silent, or was turned away.
const NO_ROOM: u8 = 0;
const RESERVED: u8 = 1;
const ORDINARY: u8 = 2;

impl Connection {
    fn new(connections: Connections, id: u64, address: IpAddr) -> Self {
        Self(Arc::new(ConnectionState {
            connections,
            id,
            address,
            room: AtomicU8::new(NO_ROOM),
            phase: AtomicU8::new(BEGUN),
            is_blocked: AtomicBool::new(false),
            opened: Instant::now(),
            since: AtomicU64::new(0),
            evicted: Notify::new(),
        }))
    }

    /// Returns the address at the other end of the connection, which may be that of a proxy.
    pub(super) fn address(&self) -> IpAddr {
        self.0.address
    }

    fn network(&self) -> IpAddr {
        client_network(self.address())
    }

    /// Returns the address of the client that sent these headers: that of the connection, or the one that a
    /// [trusted proxy](super::Limits::trusted_proxies) passes on.
    pub(super) fn client(&self, headers: &HeaderMap) -> IpAddr {
        self.0.connections.0.limits.trusted_proxies.client(self.address(), headers)
    }

    /// Checks that the connection has room, if only in the reserve, or takes it.
    ///
    /// # Errors
    ///
    /// Returns the limit that is reached.
    pub(super) fn check_room(&self) -> Result<(), Rejection> {
        let has_room = !self.is_turned_away() || self.0.connections.begin_again(self);
        if has_room { Ok(()) } else { Err(self.0.connections.limit(self)) }
    }

    /// Checks that the connection has room outside of the reserve, or takes it.
    ///
    /// # Errors
    ///
    /// Returns the limit that is reached.
    pub(super) fn check_reserve(&self) -> Result<(), Rejection> {
        self.check_room()?;
        let has_room = !self.is_in_reserve() || self.0.connections.promote(self);
        if has_room { Ok(()) } else { Err(self.0.connections.limit(self)) }
    }

    /// Returns the network of the client, unless all clients may have this address.
    pub(super) fn limited_network(&self) -> Option<IpAddr> {
        self.0.connections.0.limits.limits_address(self.address()).then(|| self.network())
    }

    /// Returns a permit for an event stream on this connection, of a caller or else of its client.
    ///
    /// # Errors
    ///
    /// Returns the limit of event streams that is reached, in total or for this caller.
    pub(super) fn event_stream(&self, caller: Option<&str>) -> Result<EventStreamPermit, Rejection> {
        let caller = caller.map(Arc::from).or_else(|| Some(self.limited_network()?.to_string().into()));
        let streams = &self.0.connections.0.event_streams;
        let mut permit = streams.share(caller);
        permit.grow(1).map_err(|BudgetExceeded { held, max, .. }| match streams.n_held() < max {
            true => Rejection::EventStreamsOfCaller(held as usize),
            false => Rejection::EventStreams(max as usize),
        })?;
        Ok(permit)
    }

    /// Acquires memory for a response. Returns `None` if there is too little, even after closing connections whose
    /// clients do not read.
    pub(super) async fn response(&self, n_bytes: usize) -> Option<ResponsePermit> {
        let connections = &self.0.connections;
        connections
            .0
            .responses
            .acquire(n_bytes, self.limited_network(), |of| connections.0.table.lock().evict_blocked(of))
            .await
    }

    fn is_in_reserve(&self) -> bool {
        self.0.room.load(Ordering::Relaxed) == RESERVED
    }

    /// Returns true if there was no room for the request of the connection, which ends after the answer.
    pub(super) fn is_turned_away(&self) -> bool {
        self.0.room.load(Ordering::Relaxed) == NO_ROOM
    }

    fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Relaxed) {
            _ if self.0.is_blocked.load(Ordering::Relaxed) => Phase::Blocked,
            IDLE => Phase::Idle,
            RECEIVING => Phase::Receiving,
            _ => Phase::Running,
        }
    }

    /// Returns the start of the phase, unless the connection is running.
    fn since(&self) -> Instant {
        self.0.opened + Duration::from_millis(self.0.since.load(Ordering::Relaxed))
    }

    /// Takes room for the first bytes of the connection. It cannot be evicted before [`Connection::settle`], so that a request
    /// that has arrived is answered.
    pub(super) fn begin(&self) {
        self.touch();
        self.0.connections.begin(self);
    }

    /// Ends the beginning, after the first bytes were read. Without a whole head, the connection waits for its client.
    pub(super) fn settle(&self) {
        let _ = self.0.phase.compare_exchange(BEGUN, IDLE, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(super) fn idle(&self) {
        self.enter(IDLE);
    }

    /// A running connection is never evicted, so that nothing reads since when it runs.
    pub(super) fn running(&self) {
        self.0.phase.store(RUNNING, Ordering::Relaxed);
    }

    /// Enters the phase `Receiving`, until the guard is dropped.
    pub(super) fn receiving(&self) -> Receiving {
        self.enter(RECEIVING);
        Receiving(self.clone())
    }

    pub(super) fn set_blocked(&self, is_blocked: bool) {
        if self.0.is_blocked.swap(is_blocked, Ordering::Relaxed) != is_blocked && is_blocked {
            self.touch();
        }
    }

    fn enter(&self, phase: u8) {
        self.0.phase.store(phase, Ordering::Relaxed);
        self.touch();
    }

    fn touch(&self) {
        let since = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.since.store(since, Ordering::Relaxed);
    }

    fn evict(&self) {
        self.0.evicted.notify_one();
    }

    pub(super) async fn evicted(&self) {
        self.0.evicted.notified().await;
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("address", &self.address())
            .field("phase", &self.phase())
            .finish_non_exhaustive()
    }
}

impl Admitted {
    pub(super) fn connection(&self) -> &Connection {
        &self.0
    }
}

impl Drop for Admitted {
    /// Removes the connection. An evicted connection was removed already.
    fn drop(&mut self) {
        self.0.0.connections.0.table.lock().remove(self.0.0.id);
    }
}

/// A guard for the phase `Receiving`.
#[derive(Debug)]
pub(super) struct Receiving(Connection);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.running();
    }
}

/// A permit for an event stream. Dropping it returns it.
pub(super) type EventStreamPermit = BudgetShare<Arc<str>>;
