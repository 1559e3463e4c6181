//! The example program `agent`, against a server that imitates each provider. The server accepts only the requests that
//! the provider documents, and responds to others with 400.

mod anthropic;
mod bedrock;
mod chat;
mod cohere;
mod conversations;
mod gemini;
mod interactions;
mod ollama;
mod openai;
mod program;
mod script;
mod server;
mod wire;

use serde_json::json;

use self::program::{Agent, Outcome};
use self::script::{Call, Turn};
use self::server::{Mode, Server};
use self::wire::{WIRES, Wire};

/// Runs a test for each API, and names that which fails.
fn for_each_api(test: impl Fn(&'static Wire)) {
    for wire in WIRES {
        eprintln!("--- {}", wire.api);
        test(wire);
    }
}

fn add(id: &'static str, arguments: serde_json::Value) -> Call {
    Call::new(id, "math_add", arguments)
}

#[test]
fn parallel_calls_are_answered_and_an_error_is_corrected() {
    let error =
        "the arguments do not match the schema\n- /a must be an integer, got \"two\"\nfor example: {\"a\":2,\"b\":3}";
    for_each_api(|wire| {
        let server = Server::new(
            wire,
            Mode::Reliable,
            [
                Turn::calls([
                    add("call00001", json!({ "a": 2, "b": 3 })).returns(5),
                    add("call00002", json!({ "a": "two", "b": 4 })).fails(error),
                ])
                .text("Let me add."),
                Turn::calls([add("call00003", json!({ "a": 2, "b": 4 })).returns(6)]),
                Turn::answer("5 and 6 — c’est tout."),
            ],
        );
        let Outcome { code, stdout, stderr } = Agent::new(&server).run();
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains("Let me add.") && stdout.contains("5 and 6 — c’est tout."), "{stdout}");
        assert_eq!(server.n_requests(), 3);
    });
}

#[test]
fn a_destructive_call_is_denied_without_a_user() {
    let write = || Call::new("call00001", "files_write_file", json!({ "path": "a.txt", "text": "b" }));
    let denied = "the tool did not run: the call was not approved: no user is present";
    for_each_api(|wire| {
        let server =
            Server::new(wire, Mode::Reliable, [Turn::calls([write().fails(denied)]), Turn::answer("It was denied.")]);
        let mut agent = Agent::new(&server);
        let Outcome { code, stderr, .. } = agent.run();
        assert_eq!(code, Some(0), "{stderr}");
        assert!(!agent.directory().join("a.txt").exists());
    });
}

#[test]
fn a_destructive_call_runs_with_the_flag() {
    let write = || Call::new("call00001", "files_write_file", json!({ "path": "a.txt", "text": "b" }));
    for_each_api(|wire| {
        let written = json!({ "bytes": 1, "replaced": false });
        let server =
            Server::new(wire, Mode::Reliable, [Turn::calls([write().returns(written)]), Turn::answer("Done.")]);
        let mut agent = Agent::new(&server).flag("--yes");
        let Outcome { code, stderr, .. } = agent.run();
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(std::fs::read_to_string(agent.directory().join("a.txt")).unwrap(), "b");
    });
}

#[test]
fn limits_end_the_loop() {
    let turns = || {
        [
            Turn::calls([add("call00001", json!({ "a": 1, "b": 1 })).returns(2)]),
            Turn::calls([add("call00002", json!({ "a": 2, "b": 1 })).returns(3)]),
            Turn::answer("3"),
        ]
    };
    for_each_api(|wire| {
        for (flag, limit) in
            [("--max-turns=2", "2 turns"), ("--max-calls=1", "1 calls"), ("--max-tokens=40", "40 tokens")]
        {
            let server = Server::new(wire, Mode::Reliable, turns());
            let Outcome { code, stderr, .. } = Agent::new(&server).flag(flag).run();
            assert_eq!(code, Some(3), "{stderr}");
            assert!(stderr.contains(&format!("the limit of {limit} is reached")), "{stderr}");
            assert_eq!(server.n_requests(), 2);
        }
    });
}

#[test]
fn a_paused_reply_is_continued() {
    let paused = Turn::answer("I search.").stops("pause_turn");
    let server = Server::new(&anthropic::MESSAGES, Mode::Reliable, [paused, Turn::answer("Found.")]);
    let Outcome { code, stderr, .. } = Agent::new(&server).run();
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_malformed_call_is_requested_again_once() {
    let malformed = || Turn::answer("").stops("MALFORMED_FUNCTION_CALL").dropped();
    let turns = [malformed(), Turn::answer("5")];
    let server = Server::new(&gemini::GENERATE_CONTENT, Mode::Reliable, turns);
    let Outcome { code, stderr, .. } = Agent::new(&server).run();
    assert_eq!(code, Some(0), "{stderr}");

    let turns = [malformed(), malformed(), Turn::answer("5")];
    let server = Server::new(&gemini::GENERATE_CONTENT, Mode::Reliable, turns);
    let Outcome { code, stderr, .. } = Agent::new(&server).run();
    assert_eq!((code, server.n_requests()), (Some(4), 2), "{stderr}");
}

#[test]
fn a_reply_that_stops_for_another_reason_ends_the_loop() {
    let cases: [(&'static Wire, _, _); 3] = [
        (&anthropic::MESSAGES, "refusal", "refused"),
        (&anthropic::MESSAGES, "max_tokens", "the reply is truncated"),
        (&chat::MISTRAL, "error", "an error of the provider: error"),
    ];
    for (wire, reason, message) in cases {
        let write = Call::new("call00001", "files_write_file", json!({ "path": "a.txt", "text": "b" }));
        let server = Server::new(wire, Mode::Reliable, [Turn::calls([write]).stops(reason)]);
        let mut agent = Agent::new(&server).flag("--yes").flag("--max-retries=0");
        let Outcome { code, stderr, .. } = agent.run();
        assert_eq!((code, server.n_requests()), (Some(4), 1), "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
        assert!(!agent.directory().join("a.txt").exists());
    }
}

#[test]
fn no_call_of_a_reply_that_is_cut_runs() {
    for_each_api(|wire| {
        let write = Call::new("call00001", "files_write_file", json!({ "path": "a.txt", "text": "b" }));
        let server = Server::new(wire, Mode::Cut, [Turn::calls([write.returns(1)]).text("I write a file.")]);
        let mut agent = Agent::new(&server).flag("--yes").flag("--max-retries=0");
        let Outcome { code, stderr, .. } = agent.run();
        assert_eq!(code, Some(4), "{stderr}");
        assert!(!agent.directory().join("a.txt").exists());
        assert_eq!(server.n_requests(), 1);
    });
}

#[test]
fn the_error_of_the_provider_is_shown() {
    for_each_api(|wire| {
        let server = Server::new(wire, Mode::Overloaded, []);
        let Outcome { code, stderr, .. } = Agent::new(&server).flag("--max-retries=0").run();
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("429") && stderr.contains("slow down"), "{stderr}");
    });
}

#[test]
fn a_request_is_sent_again_after_an_overload() {
    for_each_api(|wire| {
        let server = Server::new(wire, Mode::OverloadedOnce, [Turn::answer("Hello.")]);
        let Outcome { code, stdout, stderr } = Agent::new(&server).run();
        assert_eq!((code, server.n_requests()), (Some(0), 2), "{stderr}");
        assert!(stdout.contains("Hello."), "{stdout}");
    });
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_request() {
    let server = Server::new(&anthropic::MESSAGES, Mode::Silent, []);
    let Outcome { code, stderr, .. } = Agent::new(&server).run_interrupted(&server);
    assert_eq!(code, Some(130), "{stderr}");
}

#[test]
fn a_wrong_key_is_rejected() {
    for_each_api(|wire| {
        if let Some(variable) = wire.key {
            let server = Server::new(wire, Mode::Reliable, [Turn::answer("Hello.")]);
            let Outcome { code, stderr, .. } = Agent::new(&server).env(variable, "another").run();
            assert_eq!(code, Some(1), "{stderr}");
            assert!(!stderr.contains("another"), "{stderr}");
        }
    });
}
