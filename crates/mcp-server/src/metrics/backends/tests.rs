use super::render;
use crate::status::ServedBackend;
use crate::status::tests::backend;
use toolkit::backend::BackendState;

#[test]
fn each_backend_has_gauges_counters_and_a_histogram() {
    let mut text = String::new();
    render(&mut text, &[]);
    assert_eq!(text, "");
    let ready = ServedBackend { name: "ready".to_owned(), state: BackendState::Ready, ..backend() };
    render(&mut text, &[backend(), ready]);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(r#"backend="a\"b""#)).collect();
    let expected = [
        r#"up{backend="a\"b"} 0"#,
        r#"tools{backend="a\"b"} 9"#,
        r#"tools_left_out{backend="a\"b"} 10"#,
        r#"restarts_total{backend="a\"b"} 7"#,
        r#"calls_running{backend="a\"b"} 1"#,
        r#"tasks_running{backend="a\"b"} 8"#,
        r#"calls_total{backend="a\"b",outcome="failed"} 1"#,
        r#"calls_total{backend="a\"b",outcome="timed_out"} 3"#,
        r#"calls_total{backend="a\"b",outcome="ok"} 2"#,
        r#"call_seconds_bucket{backend="a\"b",le="0.005"} 2"#,
        r#"call_seconds_bucket{backend="a\"b",le="10"} 4"#,
        r#"call_seconds_bucket{backend="a\"b",le="+Inf"} 6"#,
        r#"call_seconds_sum{backend="a\"b"} 1.234567"#,
        r#"call_seconds_count{backend="a\"b"} 6"#,
    ];
    assert_eq!(lines, expected.map(|line| format!("toolkit_mcp_backend_{line}")));
    assert!(text.contains("toolkit_mcp_backend_up{backend=\"ready\"} 1\n"));
    assert!(text.starts_with(
        "# HELP toolkit_mcp_backend_up 1 if the backend is ready.\n# TYPE toolkit_mcp_backend_up gauge\n"
    ));
}
