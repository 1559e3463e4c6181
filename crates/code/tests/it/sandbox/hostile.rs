//! Hostile programs in workers.

use serde_json::{Value, json};

use super::worker;

/// They have a host of their own, whose memory and children nothing else changes.
#[test]
fn hostile_programs_end_in_their_time_and_leave_the_host_as_it_was() {
    let mut host = std::process::Command::new(worker());
    // By default, glibc keeps a part of what was freed. With a fixed threshold it returns large blocks to the system, so
    // that what remains is what the host holds.
    let output = host.arg("hostile").env("MALLOC_MMAP_THRESHOLD_", "65536").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{report:#}");
    assert_eq!(report["mismatches"], json!([]), "{report:#}");
    assert!(report["grown_kilobytes"].as_u64().unwrap() < 2048, "{report:#}");
    assert_eq!(report["children"], 0);
    assert_eq!(report["last"], "ok: 3");
    let n = report["programs"].as_u64().unwrap();
    assert!(n >= 100, "{n} programs");
    test_support::ran(n as usize);
}
