//! Models behind an endpoint.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::SecretString;
use toolkit_search::Embedder;
use toolkit_search::embed::RemoteModel;

use super::embed;

/// A received request: the head in lowercase, and the body.
type Asked = Arc<Mutex<Vec<(String, Value)>>>;

/// Starts a server that responds to requests one by one with the status, headers and body that `answer` returns.
fn serve(answer: impl Fn(usize, &Value) -> (u16, &'static str, String) + Send + 'static) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/embeddings?key=hidden", listener.local_addr().unwrap());
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    thread::spawn(move || {
        for (nth, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            seen.lock().unwrap().push((head, body.clone()));
            let (status, headers, answer) = answer(nth, &body);
            let length = answer.len();
            let _ = write!(
                stream.get_mut(),
                "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{answer}"
            );
        }
    });
    (url, asked)
}

fn inputs(body: &Value) -> impl DoubleEndedIterator<Item = (usize, &str)> + ExactSizeIterator {
    body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).enumerate()
}

/// Returns a response in OpenAI's format, in reverse order.
fn open_ai(body: &Value) -> String {
    let item = |(index, text): (usize, &str)| json!({ "index": index, "embedding": [text.len(), 0.5] });
    json!({ "data": inputs(body).rev().map(item).collect::<Vec<_>>() }).to_string()
}

fn model(url: &str) -> RemoteModel {
    RemoteModel::new(url, "tiny").unwrap().timeout(Duration::from_secs(20))
}

#[track_caller]
fn fails(model: &RemoteModel, expected: &str) {
    let error = model.embed(&["some text"]).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains("hidden") && !error.contains("s3cr3t") && !error.contains("some text"), "{error}");
    assert!(error.starts_with("cannot embed with `tiny` at http://127.0.0.1:"), "{error}");
}

#[test]
fn texts_are_sent_in_batches_with_the_token() {
    let (url, asked) = serve(|_, body| (200, "", open_ai(body)));
    let model = model(&url).bearer(SecretString::from("s3cr3t-token")).dimensions(2).batch_size(2);
    assert_eq!(embed(&model, &["a", "bc", "def"]), [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]]);
    let asked = asked.lock().unwrap();
    let expected =
        |input: Value| json!({ "model": "tiny", "input": input, "dimensions": 2, "encoding_format": "float" });
    assert_eq!(asked[0].1, expected(json!(["a", "bc"])));
    assert_eq!(asked[1].1, expected(json!(["def"])));
    assert!(asked[0].0.contains("authorization: bearer s3cr3t-token\r\n"));
    let shown = format!("{model:?}");
    assert!(shown.contains("tiny") && !shown.contains("s3cr3t") && !shown.contains("hidden"), "{shown}");
}

#[test]
fn ollama_responses_are_supported() {
    let (url, asked) = serve(|_, body| {
        let vectors: Vec<Value> = inputs(body).map(|(_, text)| json!([text.len()])).collect();
        (200, "", json!({ "model": "tiny", "embeddings": vectors }).to_string())
    });
    assert_eq!(embed(&model(&url), &["a", "bc"]), [[1.0], [2.0]]);
    assert!(asked.lock().unwrap()[0].1.get("dimensions").is_none());
}

#[test]
fn transient_failures_are_retried() {
    let (url, asked) = serve(|nth, body| match nth {
        0 => (429, "retry-after: 0\r\n", String::new()),
        1 => (503, "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n", String::new()),
        2 => (500, "", "no JSON".to_owned()),
        _ => (200, "", open_ai(body)),
    });
    assert_eq!(embed(&model(&url), &["a"]), [[1.0, 0.5]]);
    assert_eq!(asked.lock().unwrap().len(), 4);
}

#[test]
fn retries_end_at_the_timeout() {
    let (url, asked) = serve(|_, _| (429, "retry-after: 3600\r\n", r#"{"error":{"message":"slow down"}}"#.to_owned()));
    fails(&model(&url), "status 429 Too Many Requests: slow down");
    assert_eq!(asked.lock().unwrap().len(), 1);

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/api/embed", silent.local_addr().unwrap());
    fails(&model(&url).timeout(Duration::from_millis(200)), "timeout");
}

#[test]
fn retries_have_a_minimum_delay() {
    let (url, asked) = serve(|_, _| (429, "retry-after: 0\r\n", String::new()));
    // The status, or the error of a timeout during the request.
    assert!(model(&url).timeout(Duration::from_secs(1)).embed(&["some text"]).is_err());
    let n_asked = asked.lock().unwrap().len();
    assert!((2..=21).contains(&n_asked), "{n_asked}");
}

#[test]
fn the_timeout_may_be_unlimited() {
    let (url, _) = serve(|_, body| (200, "", open_ai(body)));
    assert_eq!(embed(&model(&url).timeout(Duration::MAX), &["a"]), [[1.0, 0.5]]);
}

#[test]
fn permanent_failures_are_not_retried() {
    let (url, asked) = serve(|_, _| (404, "", r#"{"error":"model \"tiny\" not\nfound"}"#.to_owned()));
    fails(&model(&url), r#"status 404 Not Found: model \"tiny\" not\nfound"#);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn errors_do_not_contain_the_token() {
    let (url, _) = serve(|_, _| (401, "", r#"{"error":{"message":"wrong key: s3cr3t-t**oken"}}"#.to_owned()));
    let model = model(&url).bearer(SecretString::from("s3cr3t-token"));
    fails(&model, "status 401 Unauthorized; pass a valid token to `bearer`");
}

#[test]
fn errors_do_not_repeat_secrets_or_texts() {
    let said = ["the key hidden", "wrong: s3cr3t-t", "…oken", "cannot read 'some text'", "no \u{1b}[1m \"some text\""];
    for said in said {
        let (url, _) = serve(move |_, _| (400, "", json!({ "error": { "message": said } }).to_string()));
        let model = model(&url).bearer(SecretString::from("s3cr3t-token"));
        let error = model.embed(&["some text"]).unwrap_err().to_string();
        assert!(error.ends_with("status 400 Bad Request"), "{error}");
    }
    let long = format!("{} and what follows", "Tells the \"weather\". ".repeat(100));
    let (url, _) = serve(|_, body| {
        let quoted: String = body["input"][0].as_str().unwrap().chars().skip(5).take(300).collect();
        (400, "", json!({ "error": format!("too long: {quoted}…") }).to_string())
    });
    let error = model(&url).embed(&[&long]).unwrap_err().to_string();
    assert!(error.ends_with("status 400 Bad Request"), "{error}");
}

#[test]
fn tls_failures_are_not_retried() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let n_connections = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&n_connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            *seen.lock().unwrap() += 1;
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    assert!(model(&url).embed(&["some text"]).is_err());
    assert_eq!(*n_connections.lock().unwrap(), 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let (url, asked) = serve(|_, _| (307, "location: http://127.0.0.1:9/\r\n", String::new()));
    fails(&model(&url), "redirects are not followed, use the URL of the target");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn an_invalid_response_is_an_error() {
    for (answer, expected) in [
        ("<html>", "the response does not contain embeddings: error at line 1 and column 1"),
        ("{}", "neither `data` nor `embeddings`"),
        (r#"{"embeddings":[]}"#, "the response has 0 vectors for 1 texts"),
        (r#"{"embeddings":[[]]}"#, "the vectors in the response are empty or have different lengths"),
        (
            r#"{"data":"s3cr3t hidden some text"}"#,
            "the response does not contain embeddings: error at line 1 and column ",
        ),
        (r#"{"embeddings":[[1e39]]}"#, "the response does not contain embeddings: error at line 1 and column "),
        (r#"{"data":[{"index":1,"embedding":[1]}]}"#, "the indexes in the response are not those of the texts"),
    ] {
        let (url, _) = serve(move |_, _| (200, "", answer.to_owned()));
        fails(&model(&url), expected);
    }
}

#[test]
fn a_response_over_the_limit_is_an_error() {
    let (url, _) = serve(|_, _| (200, "", " ".repeat(RemoteModel::MAX_RESPONSE_BYTES as usize + 1)));
    fails(&model(&url), "limit");
}

#[test]
fn a_url_is_validated_on_creation() {
    for (url, expected) in [
        ("ftp://example.com", "must start with `https://` or `http://`"),
        ("/v1/embeddings", "must start with `https://` or `http://`"),
        ("example.com/v1", "invalid URL"),
        ("http://user:s3cr3t@example.com/", "pass a token to `bearer`"),
        ("http://", "invalid URL"),
    ] {
        let error = RemoteModel::new(url, "tiny").unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("s3cr3t"), "{error}");
    }
}
