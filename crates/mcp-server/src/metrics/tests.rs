use std::time::Duration;

use toolkit::call::ErrorKind;

use super::{BUCKETS, CallMetrics, MAX_REMEMBERED, Metrics, label};

fn rendered(metrics: &CallMetrics) -> String {
    let mut text = String::new();
    metrics.render_outcomes(&mut text, "n", "l");
    metrics.render_seconds(&mut text, "s", "l");
    text
}

#[test]
fn each_outcome_of_a_call_has_a_count() {
    for (failure, outcome) in [
        (None, "ok"),
        (Some(ErrorKind::InvalidArguments), "rejected"),
        (Some(ErrorKind::UnknownTool), "rejected"),
        (Some(ErrorKind::Failed), "failed"),
        (Some(ErrorKind::Internal), "failed"),
        (Some(ErrorKind::Panicked), "failed"),
        (Some(ErrorKind::InvalidOutput), "failed"),
        (Some(ErrorKind::TimedOut), "timed_out"),
        (Some(ErrorKind::Cancelled), "cancelled"),
    ] {
        let metrics = CallMetrics::default();
        assert_eq!(rendered(&metrics), "");
        metrics.record(failure, Duration::from_millis(250));
        let text = rendered(&metrics);
        assert!(text.starts_with(&format!("n{{l,outcome=\"{outcome}\"}} 1\ns_bucket")), "{text}");
        assert!(text.ends_with("s_bucket{l,le=\"+Inf\"} 1\ns_sum{l} 0.25\ns_count{l} 1\n"), "{text}");
    }
    let metrics = CallMetrics::default();
    metrics.reject();
    assert!(rendered(&metrics).starts_with("n{l,outcome=\"rejected\"} 1\n"));
}

#[test]
fn buckets_count_the_calls_up_to_their_bounds() {
    let metrics = CallMetrics::default();
    for bound in BUCKETS {
        metrics.record(None, Duration::from_secs_f64(bound));
        metrics.record(None, Duration::from_secs_f64(bound * 1.5));
    }
    let text = rendered(&metrics);
    for (nth, bound) in BUCKETS.iter().enumerate() {
        let line = format!("s_bucket{{l,le=\"{bound}\"}} {}\n", 2 * nth + 1);
        assert!(text.contains(&line), "{line} in {text}");
    }
    assert!(text.contains("s_bucket{l,le=\"+Inf\"} 20\n"));
}

#[test]
fn tools_that_are_no_longer_served_are_forgotten_beyond_a_limit() {
    let metrics = Metrics::default();
    metrics.unknown_tool().reject();
    for n in 1..MAX_REMEMBERED {
        metrics.tool(&n.to_string());
    }
    let n_tools = || metrics.tools.lock().len();
    metrics.forget_all_but(["1"].into_iter());
    assert_eq!(n_tools(), MAX_REMEMBERED);
    metrics.tool("one more");
    metrics.forget_all_but(["1"].into_iter());
    assert_eq!(n_tools(), 2);
    assert!(metrics.render(0, &[]).contains("{tool=\"unknown\",outcome=\"rejected\"} 1\n"));
}

#[test]
fn only_coerced_calls_are_counted_as_coerced() {
    let metrics = Metrics::default();
    metrics.tool("a").record_coercion();
    metrics.tool("b").reject();
    let text = metrics.render(7, &[]);
    let coerced: Vec<&str> = text.lines().filter(|line| line.starts_with("toolkit_mcp_calls_coerced_total")).collect();
    assert_eq!(coerced, ["toolkit_mcp_calls_coerced_total{tool=\"a\"} 1"]);
    assert!(text.contains("\ntoolkit_mcp_tasks 7\n") && !text.contains("log_lines"));
    assert_eq!(label("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
}

#[test]
fn a_gauge_counts_its_guards() {
    let metrics = Metrics::default();
    let guards = [metrics.running.increment(), metrics.running.increment()];
    assert_eq!((metrics.running.value(), metrics.connections.value()), (2, 0));
    assert!(metrics.render(0, &[]).contains("\ntoolkit_mcp_calls_running 2\n"));
    drop(guards);
    assert_eq!(metrics.running.value(), 0);
}
