toolkit::import!(mod github = "manifests/github.json");

use github::create_issue::{Args, ArgsType};

async fn call(dispatcher: &toolkit::Dispatcher) {
    // Missing.
    let _ = Args::new("octocat", "hello");
    // Of another type.
    let _ = Args { title: 5, ..Args::new("octocat", "hello", "It works") };
    let _ = Args::new("octocat", "hello", "It works").labels("bug");
    let _ = Args { r#type_: Some("bug"), ..Args::new("octocat", "hello", "It works") };
    // Not there.
    let _ = Args::new("octocat", "hello", "It works").bdy("…");
    let _ = Args { bdy: None, ..Args::new("octocat", "hello", "It works") };
    let _ = ArgsType::Bugg;
    let _ = github::create_isue(dispatcher, Args::new("octocat", "hello", "It works")).await;
    // Of another tool.
    let _ = github::create_issue(dispatcher, github::star_repository::Args::new("octocat", "hello")).await;
    let _: String = github::create_issue(dispatcher, Args::new("octocat", "hello", "It works")).await.unwrap();
}

fn main() {}
