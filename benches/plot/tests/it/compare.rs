//! The comparison of two runs.

use toolkit_plot::compare::Comparison;
use toolkit_plot::results::{Results, Table};

fn results(rows: &[(&str, Option<f64>, [f64; 3])]) -> Results {
    let mut table = Table::new("payload", &["bytes", "ns", "ratio", "ratio_p10", "ratio_p90"]);
    for (name, size, [ratio, low, high]) in rows {
        table.row(*name, [*size, Some(1.0), Some(*ratio), Some(*low), Some(*high)]);
    }
    Results {
        command: String::new(),
        date: String::new(),
        machine: String::new(),
        load: String::new(),
        tables: vec![table],
    }
}

#[test]
fn increases_are_next_to_decreases() {
    let before = results(&[
        ("slower", Some(1_000.0), [1.0, 0.9, 1.1]),
        ("slower", Some(10_000.0), [1.0, 0.9, 1.1]),
        ("faster", None, [2.0, 1.9, 2.1]),
        ("removed", None, [1.0, 1.0, 1.0]),
    ]);
    let now = results(&[
        ("slower", Some(1_000.0), [1.15, 1.05, 1.3]),
        ("slower", Some(10_000.0), [1.5, 1.2, 1.6]),
        ("faster", None, [1.0, 0.9, 1.1]),
        ("added", None, [1.0, 1.0, 1.0]),
    ]);
    assert_eq!(
        Comparison::new(&before, &now).to_string(),
        "| worse | before | now | better | before | now |\n\
         |---|---:|---:|---|---:|---:|\n\
         | payload: slower, bytes: 10000 | 1.00 | 1.50 | payload: faster | 2.00 | 1.00 |\n"
    );
    let same = Comparison::new(&now, &now).to_string();
    assert_eq!(same.lines().count(), 2);
}

#[test]
fn results_are_outdated_once_a_ratio_has_changed_by_more_than_15_percent() {
    let before = results(&[("call", None, [1.0, 0.99, 1.01])]);
    let is_outdated = |ratio: f64, low: f64, high: f64| {
        Comparison::new(&before, &results(&[("call", None, [ratio, low, high])])).is_outdated()
    };
    assert!(!is_outdated(1.1, 1.09, 1.11));
    assert!(is_outdated(1.2, 1.19, 1.21));
    assert!(is_outdated(0.8, 0.79, 0.81));
    assert!(!is_outdated(1.5, 1.0, 2.0), "the ranges overlap");
}
