//! An agent: a model answers a question, and calls the tools in `tools.rs` for it.

mod tools;

use std::env::{args, var};
use std::error::Error;
use std::io::{Read, Write, stdin, stdout};

use tokio::runtime::Runtime;
use toolkit::{Catalog, Dispatcher};
use toolkit_providers::anthropic::MESSAGES;
use toolkit_providers::reply::ReplyEvent;
use toolkit_providers::request::{Conversation, NextStep, Request};
use toolkit_tower::{Approval, ApprovalRequest, Decision};

fn main() -> Result<(), Box<dyn Error>> {
    let question = args().nth(1).ok_or("the first argument is the question")?;
    let variable = |name| var(name).map_err(|error| format!("{name}: {error}"));
    let (key, model) = (variable("ANTHROPIC_API_KEY")?, variable("ANTHROPIC_MODEL")?);
    let approval = Approval::new(approve);
    let dispatcher = Dispatcher::builder(Catalog::linked()?)
        .layer(approval)
        .build()?;
    let tools = MESSAGES.export(dispatcher.catalog())?;
    let request = Request::new(MESSAGES, model).tools(&tools).user(&question);
    let chat = Conversation::new(request.streamed()).max_tokens(200_000);
    answer(&dispatcher, chat, &key)?;
    Ok(())
}

/// Sends requests, and the results of the tools that the model calls, until it answers.
fn answer(
    dispatcher: &Dispatcher,
    mut chat: Conversation,
    key: &str,
) -> Result<String, Box<dyn Error>> {
    loop {
        let request = chat.request()?.with_key(key);
        let mut post = ureq::post(&request.url);
        for (name, value) in &request.headers {
            post = post.header(*name, value);
        }
        let post = post.config().http_status_as_error(false).build();
        let (head, body) = post.send(request.body.to_string())?.into_parts();
        let header = |name: &str| head.headers.get(name)?.to_str().ok();
        let mut stream = chat.response(head.status.as_u16(), header);
        let (mut body, mut piece) = (body.into_reader(), [0; 8192]);
        while let Ok(n @ 1..) = body.read(&mut piece) {
            stream.push(&piece[..n])?.iter().for_each(show);
        }
        match chat.finish(stream)? {
            NextStep::Wait(time) => std::thread::sleep(time),
            NextStep::RunCalls(reply) => {
                let results = Runtime::new()?.block_on(reply.run(dispatcher));
                chat.add(results.messages()?);
            }
            NextStep::Answered(reply) => return Ok(reply.text().to_owned()),
            NextStep::Stopped(reason) | NextStep::Limit(reason) => return Err(reason.into()),
        }
    }
}

/// Prints the text of the model as it arrives.
fn show(event: &ReplyEvent) {
    if let ReplyEvent::Text(text) = event {
        print!("{text}");
        let _ = stdout().flush();
    }
}

/// Asks the user about a call that may be destructive.
async fn approve(request: ApprovalRequest) -> Decision {
    let (tool, arguments) = (request.tool().id(), request.arguments());
    eprint!("\nRun {tool} with {arguments}? [y/N] ");
    match stdin().lines().next() {
        Some(Ok(line)) if line == "y" => Decision::Approve,
        _ => Decision::Deny("the user declined".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    use super::*;

    /// Responds to each request with the next reply, and returns the last request.
    fn serve(listener: TcpListener, replies: [&str; 2]) -> String {
        let mut last = String::new();
        for reply in replies {
            let (mut connection, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            last = String::from_utf8(body).unwrap();
            let length = reply.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close");
            write!(connection, "{head}\r\n\r\n{reply}").unwrap();
        }
        last
    }

    #[test]
    fn a_model_reads_the_result_of_its_call() {
        let call = r#"{"content": [{"type": "tool_use", "id": "1", "name": "money_share", "input": {"cents": 9, "people": 3}}],
            "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 9}}"#;
        let text =
            r#"{"content": [{"type": "text", "text": "3 cents"}], "stop_reason": "end_turn"}"#;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(|| serve(listener, [call, text]));
        let dispatcher = Dispatcher::new(Catalog::linked().unwrap()).unwrap();
        let tools = MESSAGES.export(dispatcher.catalog()).unwrap();
        let request = Request::new(MESSAGES, "model").url(url).tools(&tools);
        let chat = Conversation::new(request.user("How much does each pay?"));
        assert_eq!(answer(&dispatcher, chat, "key").unwrap(), "3 cents");
        assert!(server.join().unwrap().contains(r#""content":"3""#));
    }
}
