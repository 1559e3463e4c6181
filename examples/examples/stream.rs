//! A tool whose result arrives item by item, and a caller that reads its events.

use toolkit::stream::Event;
use toolkit::{Catalog, Chunks, Context, Dispatcher, tool};

/// Splits a text into its lines.
#[tool(namespace = "text")]
fn lines(text: String, ctx: &Context) -> Chunks<String> {
    let ctx = ctx.clone();
    Chunks::emit(async move |emitter| {
        for (n, line) in text.lines().enumerate() {
            ctx.progress(n as f64, None, "reading");
            emitter.send(line.to_owned()).await?; // waits until the caller has taken earlier items
        }
        Ok(())
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    let mut events = dispatcher.stream("text:lines", r#"{"text": "one\ntwo"}"#);
    while let Some(event) = events.next().await {
        match event.event {
            Event::Progress(progress) => println!("{}: {}", progress.done, progress.message),
            Event::Chunk(line) => println!("{}", line.json()),
            Event::Done(result) => assert_eq!(result.value().as_array().map(Vec::len), Some(2)),
            Event::Error(error) => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
