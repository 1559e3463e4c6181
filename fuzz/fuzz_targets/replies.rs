//! Random bytes as replies of models, whole and as streams.
//!
//! No reply causes a panic. Each of its calls has one result, and the same bytes in other pieces are the same reply.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use toolkit::catalog::{ExportedName, ExportedNames};
use toolkit::{Context, Dispatcher};
use toolkit_providers::reply::{Api, InvalidReply, Reply};
use toolkit_providers::{anthropic, bedrock, cohere, gemini, mistral, ollama, openai};

const APIS: [Api; 10] = [
    anthropic::MESSAGES,
    openai::RESPONSES,
    openai::CHAT_COMPLETIONS,
    gemini::GENERATE_CONTENT,
    bedrock::CONVERSE,
    mistral::CHAT,
    ollama::CHAT,
    cohere::CHAT,
    mistral::CONVERSATIONS,
    gemini::INTERACTIONS,
];

static DISPATCHER: LazyLock<Dispatcher> =
    LazyLock::new(|| Dispatcher::new(toolkit_fuzz::tools()).expect("the tools borrow nothing"));
static NAMES: LazyLock<ExportedNames> = LazyLock::new(|| {
    let names = DISPATCHER.catalog().iter().map(|tool| ExportedName::new(tool.name(), tool.id().clone()).strict());
    names.collect()
});

fuzz_target!(|bytes: &[u8]| {
    let [api, cut, bytes @ ..] = bytes else {
        return;
    };
    let api_of_reply = APIS[usize::from(*api) % APIS.len()];
    if let Ok(reply) = api_of_reply.read(bytes, &NAMES) {
        check(&reply);
    }
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let whole = stream(api_of_reply, &[bytes]);
    let pieces = stream(api_of_reply, &[first, second]);
    assert_eq!(whole.is_ok(), pieces.is_ok());
    if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
        assert_eq!(whole.messages(), pieces.messages());
        assert_eq!(whole.stop_reason(), pieces.stop_reason());
        check(&whole);
    }
});

fn stream(api: Api, pieces: &[&[u8]]) -> Result<Reply, InvalidReply> {
    let mut stream = api.stream(&NAMES);
    for piece in pieces {
        stream.push(piece)?;
    }
    stream.finish()
}

fn check(reply: &Reply) {
    let results = reply.run_sync(&DISPATCHER, &Context::new());
    assert_eq!(results.len(), reply.calls().len());
    let n_by_host = reply.provider_calls().iter().filter(|call| call.needs_result).count();
    match results.messages() {
        Ok(messages) => assert_eq!(messages.is_empty(), !reply.needs_results()),
        Err(_) => assert!(n_by_host > 0),
    }
}
