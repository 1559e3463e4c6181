//! A client receives the result of a call through a proxy with the bytes that the server sent: in the same order, with the
//! same digits, escapes and spaces.

use test_support::mutate::Dice;

use super::damaged::raw_client;
use super::raw::{EACH_WAY, raw, tools};

/// The number of results over each transport.
const N: usize = 40;

/// Returns the text of a value, with fields in any order, and numbers and escapes that a value would write differently.
fn json(dice: &mut Dice, depth: usize) -> String {
    match dice.below(if depth == 0 { 4 } else { 6 }) {
        0 => dice
            .pick(&["null", "true", "-7", "18446744073709551616", "1.10", "-0", "1E+3", "2.50e-1", "1e400"])
            .to_string(),
        1..4 => dice.pick(&[r#""""#, r#""a b""#, r#""\u00e9\/\t\"""#, r#""é\\""#, r#""\ud83d\ude00""#]).to_string(),
        4 => {
            let items: Vec<String> = (0..dice.below(4)).map(|_| json(dice, depth - 1)).collect();
            match items.is_empty() {
                true => "[ ]".to_owned(),
                false => format!("[{}]", items.join(if dice.one_in(2) { "," } else { " , " })),
            }
        }
        _ => object(dice, depth - 1),
    }
}

fn object(dice: &mut Dice, depth: usize) -> String {
    let mut keys = [r#""z""#, r#""a""#, r#""\u0062""#, r#""M é""#, r#""type""#];
    keys.rotate_left(dice.below(5));
    let fields: Vec<String> = keys[..dice.below(6)].iter().map(|key| format!("{key}: {}", json(dice, depth))).collect();
    format!("{{{}}}", fields.join(","))
}

/// Returns the text of a result, and of the one that a client receives.
fn result(dice: &mut Dice) -> (String, String) {
    let is_error = dice.one_in(3);
    let block = |dice: &mut Dice| match dice.below(4) {
        0 => format!(r#"{{"text": "\u00e9 1.10", "type":"text","_meta":{}}}"#, object(dice, 2)),
        1 => r#"{"uri":"x:a","size":1e1,"type":"resource_link", "name":"a"}"#.to_owned(),
        2 => format!(r#"{{"type":"resource","x":{},"resource":{{"text":"","uri": "x:b"}}}}"#, json(dice, 2)),
        _ => format!(r#"{{"type":"chart","data":{}}}"#, json(dice, 3)),
    };
    let blocks: Vec<String> = (0..=dice.below(3)).map(|_| block(dice)).collect();
    let mut fields = [
        format!(r#""content":[{}]"#, blocks.join(", ")),
        format!(r#""structuredContent":{{"m":{}}}"#, json(dice, 4)),
        format!(r#""isError":{is_error}"#),
        format!(r#""x-extra":{}"#, json(dice, 3)),
    ];
    let n = dice.below(4);
    fields.rotate_left(n);
    let fields = fields.join(",");
    let meta = format!(r#""b/a":{},"a/b":{}"#, json(dice, 3), json(dice, 1));
    let added = if is_error { r#""rs.toolkit/error":{"kind":"failed","retryable":false},"# } else { "" };
    let received = fields.replace(r#""x:a""#, r#""proxy:peer/x:a""#).replace(r#""x:b""#, r#""proxy:peer/x:b""#);
    (format!(r#"{{"_meta":{{{meta}}},{fields}}}"#), format!(r#"{{"_meta":{{{added}{meta}}},{received}}}"#))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxied_result_has_the_bytes_that_the_server_sent() {
    let mut dice = Dice::new(1);
    for way in EACH_WAY {
        let results: Vec<(String, String)> = (0..N).map(|_| result(&mut dice)).collect();
        let names: Vec<String> = (0..N).map(|n| format!("t{n}")).collect();
        let calls: Vec<String> = names.iter().map(|name| format!("call_{name}")).collect();
        let sent = calls.iter().zip(&results).map(|(call, (sent, _))| (&**call, sent.clone().into_bytes()));
        let listed = tools(&names.iter().map(|name| &**name).collect::<Vec<_>>());
        let server = raw(way, sent.chain([("tools_list", listed)])).await;
        let mut call = raw_client(server.backend.clone()).await;
        for (name, (sent, expected)) in names.iter().zip(&results) {
            let received = call(&format!("peer_{name}"), "{}");
            assert_eq!(received, format!(r#"{{"jsonrpc":"2.0","id":2,"result":{expected}}}"#), "{way:?}: {sent}");
        }
    }
}
