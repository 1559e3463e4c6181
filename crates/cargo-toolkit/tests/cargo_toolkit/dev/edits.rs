//! Many changes under several clients.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::client::{DevClient, texts};
use super::package::EditedPackage;

/// A change of the sources.
const KINDS: [&str; 5] = ["body", "broken", "renamed", "added", "removed"];

/// Calls a tool again and again, and returns the number of calls. Each is answered, and none by an earlier version than the one
/// before it. A version may be started twice: cargo builds again what was saved while it started.
fn calls(client: &DevClient, is_over: &AtomicBool, pause: Duration) -> u32 {
    let (mut n_calls, mut version) = (0, 0);
    let (mut slow, mut last_slow) = (Vec::new(), Instant::now());
    while !is_over.load(Ordering::Relaxed) {
        if last_slow.elapsed() > Duration::from_millis(200) + 4 * pause {
            slow.push(client.begin("tools/call", r#"{"name":"slow"}"#));
            last_slow = Instant::now();
        }
        let answered: u32 = client.call("add")[0].parse().unwrap();
        assert!(answered >= version, "{answered} after {version}");
        version = answered;
        n_calls += 1;
        thread::sleep(pause);
    }
    for id in &slow {
        texts(&client.response(id))[0].parse::<u32>().unwrap();
        n_calls += 1;
    }
    n_calls
}

/// Sets a flag at the end of the changes, also at that of a panic, so that the callers end.
struct SetAtEnd<'f>(&'f AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `TOOLKIT_DEV_EDITS` and `TOOLKIT_DEV_CLIENTS` set the numbers of changes and clients, and `TOOLKIT_DEV_SEED` the changes.
#[test]
fn random_edits_lose_no_call_and_show_no_earlier_version() {
    let number = |name: &str, default: u32| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (n_edits, n_clients) = (number("TOOLKIT_DEV_EDITS", 12), number("TOOLKIT_DEV_CLIENTS", 3));
    let mut seed = u64::from(number("TOOLKIT_DEV_SEED", 0x5eed));
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let package = EditedPackage::new();
    let clients: Vec<DevClient> = (0..n_clients).map(|_| package.dev()).collect();
    clients.iter().for_each(|client| drop(client.initialize()));
    let (is_over, n_calls) = (AtomicBool::new(false), AtomicU32::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for client in &clients {
            // Few clients call without a pause.
            let pause = Duration::from_millis(u64::from(n_clients / 4) * 20);
            let (is_over, n_calls) = (&is_over, &n_calls);
            scope.spawn(move || n_calls.fetch_add(calls(client, is_over, pause), Ordering::Relaxed));
        }
        let _end = SetAtEnd(&is_over);
        let mut names = vec!["add".to_owned(), "slow".to_owned(), "multiply".to_owned()];
        for edit in 1..=n_edits {
            let kind = KINDS[random(KINDS.len() as u64) as usize];
            match kind {
                "renamed" => names[2] = format!("multiply_{edit}"),
                "added" => names.push(format!("added_{edit}")),
                "removed" if names.len() > 3 => drop(names.pop()),
                _ => {}
            }
            let version = edit + 1;
            if kind == "broken" {
                package.write("served/src/tools.rs", &format!("pub const VERSION: u32 = {version}"));
            } else {
                package.tools(version, &names.iter().map(String::as_str).collect::<Vec<_>>());
            }
            // Some changes follow before the build of the last one has ended.
            if random(4) == 0 && edit < n_edits {
                thread::sleep(Duration::from_millis(random(300)));
                continue;
            }
            for client in &clients {
                let errors = client.errors();
                assert_eq!(errors.starts_with("No errors"), kind != "broken", "{errors}");
                if kind != "broken" {
                    assert_eq!(client.call("add"), [version.to_string()], "after {kind}");
                    let tools = client.request("tools/list", "{}");
                    let listed = tools.matches("\"name\":").count();
                    assert_eq!(listed, names.len() + 1, "after {kind}: {tools}");
                }
            }
        }
    });
    println!("{n_edits} edits, {n_clients} clients, {n_calls:?} calls in {:?}", start.elapsed());
    clients.iter().for_each(DevClient::close);
    assert_eq!(package.processes(), [""; 0]);
}
