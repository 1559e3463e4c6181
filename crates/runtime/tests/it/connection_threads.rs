//! The threads that poll connections and run their tools.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use toolkit_runtime::{HostGuard, HttpServer, Limits, RequestHead, bind, spawn_tool, text_response};

/// A timeout for operations that must not hang, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server that runs until this is dropped, and its tools until then.
struct Server {
    address: SocketAddr,
    is_released: Arc<AtomicBool>,
    /// Receives a message when a tool of `/block` has begun.
    begun: mpsc::UnboundedReceiver<()>,
    close: Option<oneshot::Sender<()>>,
    closed: oneshot::Receiver<()>,
}

impl Server {
    fn start() -> Self {
        let listener = bind(&[([127, 0, 0, 1], 0).into()]).unwrap();
        let address = listener.local_addr().unwrap();
        let server = HttpServer::new(Limits::default(), HostGuard::local());
        let is_released = Arc::new(AtomicBool::new(false));
        let ((begins, begun), (close, closing)) = (mpsc::unbounded_channel(), oneshot::channel::<()>());
        let (ends, closed) = oneshot::channel();
        let (waiting, blocks) = (Arc::new(Mutex::new(None)), Arc::clone(&is_released));
        let answer = move |head: RequestHead, _| {
            let (blocks, begins, waiting) = (Arc::clone(&blocks), begins.clone(), Arc::clone(&waiting));
            let block = move || {
                while !blocks.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
            };
            async move {
                let polls = thread::current().id();
                let text = match head.path() {
                    "/thread" => {
                        let runs = spawn_tool("thread", async { thread::current().id() }).await;
                        (runs == Ok(polls)).to_string()
                    }
                    "/block" => {
                        let tool = async move {
                            begins.send(()).unwrap();
                            block();
                        };
                        format!("{:?}", spawn_tool("block", tool).await)
                    }
                    "/wait" => {
                        let (sender, receiver) = oneshot::channel();
                        *waiting.lock().unwrap() = Some(sender);
                        begins.send(()).unwrap();
                        format!("{:?}", receiver.await)
                    }
                    "/wake" => {
                        let tool = async move {
                            let waiting: Option<oneshot::Sender<()>> = waiting.lock().unwrap().take();
                            waiting.unwrap().send(()).unwrap();
                            block();
                        };
                        format!("{:?}", spawn_tool("wake", tool).await)
                    }
                    "/nested" => {
                        let wait = async { Handle::current().block_on(tokio::spawn(async { 42 })).unwrap() };
                        format!("{:?}", spawn_tool("nested", wait).await)
                    }
                    _ => format!("{:?}", Handle::current().id()),
                };
                text_response(StatusCode::OK, text)
            }
        };
        tokio::spawn(async move {
            server.serve(listener, answer, std::future::ready(()), async { drop(closing.await) }).await;
            let _ = ends.send(());
        });
        Self { address, is_released, begun, close: Some(close), closed }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn begin(&self, path: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
        stream
    }

    async fn ask(&self, path: &str) -> String {
        body(self.begin(path).await).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_released.store(true, Ordering::Relaxed);
    }
}

/// Returns the body of the response. The server closes the connection, since it drains.
async fn body(mut stream: TcpStream) -> String {
    let mut response = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut response)).await.expect("the server responds").unwrap();
    response.split_once("\r\n\r\n").expect("it has a head").1.to_owned()
}

#[tokio::test]
async fn short_tools_run_on_the_thread_that_has_read_the_request() {
    let server = Server::start();
    let mut n_same = 0;
    for _ in 0..100 {
        n_same += usize::from(server.ask("/thread").await == "true");
    }
    // The others had no core for a millisecond.
    assert!(n_same > 0);
}

#[tokio::test]
async fn tools_that_block_do_not_delay_other_connections() {
    let mut server = Server::start();
    let mut blocked = Vec::new();
    for _ in 0..32 {
        blocked.push(server.begin("/block").await);
        timeout(PATIENCE, server.begun.recv()).await.expect("it begins");
        server.ask("/thread").await;
    }
    server.is_released.store(true, Ordering::Relaxed);
    for stream in blocked {
        assert_eq!(body(stream).await, "Ok(())");
    }
}

#[tokio::test]
async fn a_tool_that_wakes_another_connection_and_then_blocks_does_not_delay_it() {
    let mut server = Server::start();
    let mut held = Vec::new();
    for _ in 0..20 {
        let waiting = server.begin("/wait").await;
        timeout(PATIENCE, server.begun.recv()).await.expect("it begins");
        held.push(server.begin("/wake").await);
        assert_eq!(body(waiting).await, "Ok(())");
    }
}

#[tokio::test]
async fn a_tool_of_a_connection_may_wait_for_a_task_of_the_runtime_of_its_server() {
    let server = Server::start();
    assert_eq!(server.ask("/nested").await, "Ok(42)");
}

#[test]
fn connections_are_polled_within_the_runtime_of_their_server() {
    let (first, second) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    for runtime in [&first, &second, &first] {
        runtime.block_on(async {
            let server = Server::start();
            assert_eq!(server.ask("/").await, format!("{:?}", Handle::current().id()));
        });
    }
}

#[tokio::test]
async fn connections_without_a_request_do_not_delay_the_shutdown() {
    let mut server = Server::start();
    let mut silent = server.connect().await;
    server.ask("/thread").await;
    drop(server.close.take());
    timeout(Duration::from_secs(20), &mut server.closed).await.expect("it ends before `shutdown_timeout`").unwrap();
    assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_server_that_is_dropped_closes_its_connections() {
    let listener = bind(&[([127, 0, 0, 1], 0).into()]).unwrap();
    let address = listener.local_addr().unwrap();
    let server = HttpServer::new(Limits::default(), HostGuard::local());
    let answer = async |_: RequestHead, _| text_response(StatusCode::OK, "");
    let serving = tokio::spawn(async move {
        let answer = move |head, body| answer(head, body);
        server.serve(listener, answer, std::future::pending(), std::future::pending()).await;
    });
    let mut streams = Vec::new();
    for n_bytes in [0, 1, 17] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"[..n_bytes]).await.unwrap();
        streams.push(stream);
    }
    let mut answered = TcpStream::connect(address).await.unwrap();
    answered.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    answered.read_u8().await.unwrap();
    serving.abort();
    for mut stream in streams.into_iter().chain([answered]) {
        let closed = timeout(PATIENCE, stream.read_to_end(&mut Vec::new())).await;
        assert!(closed.is_ok(), "the connection is open");
    }
}

#[tokio::test]
async fn a_head_of_more_than_64_kib_is_rejected() {
    let server = Server::start();
    for (n_bytes, status) in [(60 << 10, "200"), (70 << 10, "431")] {
        let mut stream = server.connect().await;
        let head = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx-long: {}\r\n\r\n", "x".repeat(n_bytes));
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut response = vec![0; 12];
        timeout(PATIENCE, stream.read_exact(&mut response)).await.expect("the server responds").unwrap();
        assert_eq!(String::from_utf8(response).unwrap(), format!("HTTP/1.1 {status}"));
    }
}
