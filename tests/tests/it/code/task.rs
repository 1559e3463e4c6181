//! A task in several steps, over the schemas of real servers: what a model reads with code mode, and with search.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::client::{Client, Era, Way};
use test_support::{ran, shared};
use toolkit::{Catalog, Dispatcher, Manifest, ToolError};
use toolkit_backends::{Backends, Collected, LocalBackend};
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, RunCode};
use toolkit_mcp_server::{Filter, Proxy, Rule, Server};

/// The comments that were written to the page.
type Written = Arc<Mutex<Vec<String>>>;

const PAGE: &str = "00000000-0000-4000-8000-000000000007";

fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// Returns text of about this many words.
fn prose(seed: usize, n_words: usize) -> String {
    const WORDS: [&str; 12] =
        ["the", "parser", "fails", "when", "a", "header", "repeats", "after", "upgrading", "with", "this", "trace"];
    let words: Vec<&str> = (0..n_words).map(|nth| WORDS[(seed * 7 + nth * (seed % 5 + 1)) % WORDS.len()]).collect();
    words.join(" ")
}

/// Returns the result of a call in the form in which these servers return it.
fn result(tool: &str, args: &Value, written: &Written) -> Result<Value, ToolError> {
    let user = |nth: usize| json!({ "login": format!("user{nth}"), "id": 1000 + nth, "type": "User" });
    match tool {
        "list_issues" => {
            let n = args["perPage"].as_f64().map_or(30, |n| n as usize);
            let issues: Vec<Value> = (0..n.min(30))
                .map(|nth| {
                    json!({
                        "number": 400 + nth,
                        "title": prose(nth, 8),
                        "body": prose(nth + 1, 120),
                        "state": "OPEN",
                        "user": user(nth),
                        "labels": ["bug", "needs-triage"],
                        "comments": nth * 37 % 30,
                        "created_at": format!("2026-10-{:02}T08:00:00Z", nth % 28 + 1),
                        "updated_at": format!("2026-11-{:02}T08:00:00Z", nth % 28 + 1),
                    })
                })
                .collect();
            let page = json!({ "hasNextPage": false, "endCursor": "Y3Vyc29yOnYyOpHOAA" });
            Ok(json!({ "issues": issues, "pageInfo": page, "totalCount": 30 }))
        }
        "issue_read" => {
            let number = args["issue_number"].as_f64().unwrap_or_default() as usize;
            let comment = |nth: usize| {
                json!({
                    "id": number * 100 + nth,
                    "body": prose(number + nth, 60),
                    "user": user(nth % 4),
                    "author_association": "CONTRIBUTOR",
                    "created_at": "2026-11-01T08:00:00Z",
                    "html_url": format!("https://github.com/acme/parser/issues/{number}#issuecomment-{nth}"),
                })
            };
            Ok((0..((number - 400) * 37 % 30).min(10)).map(comment).collect())
        }
        "API-post-search" => {
            let page = |nth: usize| {
                let id = PAGE.replace('7', &format!("{:x}", nth % 16));
                let title = if nth == 7 { "Bug triage".to_owned() } else { prose(nth, 3) };
                let user = json!({ "object": "user", "id": "00000000-0000-4000-8000-000000000abc" });
                let style = json!({
                    "bold": false, "italic": false, "strikethrough": false, "underline": false, "code": false,
                    "color": "default",
                });
                let text = json!({
                    "type": "text",
                    "text": { "content": title, "link": null },
                    "annotations": style,
                    "plain_text": title,
                    "href": null,
                });
                json!({
                    "object": "page",
                    "id": id,
                    "created_time": "2026-09-01T08:00:00.000Z",
                    "last_edited_time": "2026-11-01T08:00:00.000Z",
                    "created_by": user,
                    "last_edited_by": user,
                    "cover": null,
                    "icon": null,
                    "parent": { "type": "workspace", "workspace": true },
                    "in_trash": false,
                    "is_archived": false,
                    "properties": { "title": { "id": "title", "type": "title", "title": [text] } },
                    "url": format!("https://www.notion.so/{nth}"),
                    "public_url": null,
                })
            };
            Ok(json!({ "object": "list", "results": (0..25).map(page).collect::<Vec<_>>(), "has_more": false }))
        }
        "API-create-a-comment" => {
            let text = args["rich_text"][0]["text"]["content"].as_str().unwrap_or_default();
            written.lock().unwrap().push(format!("{}: {text}", args["parent"]["page_id"]));
            Ok(json!({ "object": "comment", "id": "c1", "parent": args["parent"] }))
        }
        _ => Err(ToolError::failed("this tool is not part of the task")),
    }
}

/// Collects the tools of all manifests, under a namespace each.
async fn collect(folder: &Path, written: &Written) -> Collected {
    let backends = Backends::new();
    let others = folder.join("livemcpbench");
    let files = [folder, &others].into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().replace('.', "_");
        let name = if file.starts_with(&others) { format!("bench_{name}") } else { name };
        let local = LocalBackend::new(&name);
        let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let list = if json.is_array() { &mut json } else { &mut json["tools"] };
        for tool in list.as_array_mut().unwrap() {
            // It names user interfaces, which are not here.
            tool.as_object_mut().unwrap().shift_remove("_meta");
        }
        for tool in Manifest::from_mcp_json(json).unwrap().tools() {
            let (id, written) = (tool.name().to_owned(), Arc::clone(written));
            local.add(tool.clone(), move |args, _| {
                let result = result(&id, &args, &written);
                async { result }
            });
        }
        backends.register(local).unwrap();
    }
    backends.collect(Catalog::new([]).unwrap()).await
}

/// A conversation with a model, which reads everything before each of its turns.
struct Conversation {
    client: Client,
    context: usize,
    read: usize,
}

impl Conversation {
    async fn new(server: &Server) -> Self {
        let mut client = Client::connect(server, (Era::Modern, Way::Http), json!({})).await;
        let listed = client.send_unchecked("tools/list", &json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| {
            json!({ "name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"] })
        });
        let context = tokens(&Value::from_iter(tools).to_string());
        Self { client, context, read: 0 }
    }

    /// Makes the calls of one turn, and returns the texts of their results.
    async fn turn(&mut self, calls: &[(&str, Value)]) -> Vec<String> {
        self.read += self.context;
        let mut texts = Vec::new();
        for (tool, args) in calls {
            let response = self.client.call(tool, args.clone(), |_| unreachable!("no question")).await;
            assert!(response["result"]["isError"] != true, "{tool} {args}: {response}");
            let blocks = response["result"]["content"].as_array().unwrap_or_else(|| panic!("{tool}: {response}"));
            let text: String = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
            self.context += tokens(tool) + tokens(&args.to_string()) + tokens(&text);
            texts.push(text);
        }
        texts
    }

    /// Reads everything for the last turn, in which the model answers its user. Returns all tokens that were read.
    fn end(self) -> usize {
        self.read + self.context
    }
}

const LIST: &str = "github:list_issues";
const READ: &str = "github:issue_read";
const FIND: &str = "notion:API-post-search";
const COMMENT: &str = "notion:API-create-a-comment";

fn list_args() -> Value {
    json!({ "owner": "acme", "repo": "parser", "state": "OPEN", "labels": ["bug"], "perPage": 30 })
}

/// Does the task by search, description and calls.
async fn searched(server: &Server) -> usize {
    let mut conversation = Conversation::new(server).await;
    let called = |id: &str, args: Value| ("call_tool", json!({ "name": id, "arguments": args }));
    let search = |query: &str| ("search_tools", json!({ "query": query, "limit": 5 }));
    let found = conversation
        .turn(&[
            search("list issues of a GitHub repository"),
            search("read comments of a GitHub issue"),
            search("search in Notion by title"),
            search("comment on a Notion page"),
        ])
        .await;
    let name_of = |id: &str| {
        let name = id.replace(':', "_");
        assert!(found.iter().any(|text| text.contains(&name)), "{name} is not found: {found:#?}");
        name
    };
    let [list, read, find, comment] = [LIST, READ, FIND, COMMENT].map(name_of);
    let describe = |name: &String| ("describe_tool", json!({ "name": name }));
    conversation.turn(&[describe(&list), describe(&read), describe(&find), describe(&comment)]).await;
    let issues = conversation.turn(&[called(&list, list_args())]).await.remove(0);
    let mut issues: Vec<Value> = serde_json::from_str::<Value>(&issues).unwrap()["issues"].as_array().unwrap().clone();
    issues.sort_by_key(|issue| std::cmp::Reverse(issue["comments"].as_u64()));
    let comments = |issue: &Value| {
        let args =
            json!({ "method": "get_comments", "owner": "acme", "repo": "parser", "issue_number": issue["number"] });
        called(&read, args)
    };
    let most: Vec<_> = issues[..3].iter().map(comments).collect();
    let lists = conversation.turn(&most).await;
    conversation.turn(&[called(&find, json!({ "query": "Bug triage" }))]).await;
    let lines: Vec<String> = issues[..3]
        .iter()
        .zip(lists)
        .map(|(issue, comments)| {
            let comments: Value = serde_json::from_str(&comments).unwrap();
            let last = comments.as_array().unwrap().last().unwrap();
            format!(
                "#{} {}: {}",
                issue["number"],
                issue["title"].as_str().unwrap(),
                last["user"]["login"].as_str().unwrap()
            )
        })
        .collect();
    let text = json!([{ "text": { "content": lines.join("\n") } }]);
    conversation.turn(&[called(&comment, json!({ "parent": { "page_id": PAGE }, "rich_text": text }))]).await;
    conversation.end()
}

const LOOK: &str = "const words = ['list issues of a GitHub repository', 'read comments of a GitHub issue',
  'search in Notion by title', 'comment on a Notion page']
for (const hits of await Promise.all(words.map(words => search(words, 3))))
  for (const hit of hits) console.log(hit.id, '-', hit.summary.slice(0, 80))
console.log(await describe('github:list_issues', 'github:issue_read', 'notion:API-post-search',
  'notion:API-create-a-comment'))";

const SAMPLE: &str = "const shape = value => Array.isArray(value) ? value.slice(0, 1).map(shape)
  : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, shape(v)]))
  : typeof value
const repository = { owner: 'acme', repo: 'parser' }
const { issues } = await tools.github.list_issues({ ...repository, state: 'OPEN', labels: ['bug'], perPage: 30 })
const comments = await tools.github.issue_read({ ...repository, method: 'get_comments', issue_number: issues[1].number })
const pages = await call('notion:API-post-search', { query: 'Bug triage' })
return [shape(issues), shape(comments), shape(pages)]";

const RUN: &str = "const repository = { owner: 'acme', repo: 'parser' }
const { issues } = await tools.github.list_issues({ ...repository, state: 'OPEN', labels: ['bug'], perPage: 30 })
const most = issues.sort((a, b) => b.comments - a.comments).slice(0, 3)
const lines = await Promise.all(most.map(async issue => {
  const args = { ...repository, method: 'get_comments', issue_number: issue.number }
  const comments = await tools.github.issue_read(args)
  return `#${issue.number} ${issue.title}: ${comments.at(-1).user.login}`
}))
const { results } = await call('notion:API-post-search', { query: 'Bug triage' })
const page = results.find(page => page.properties.title.title[0].plain_text === 'Bug triage')
await call('notion:API-create-a-comment', {
  parent: { page_id: page.id }, rich_text: [{ text: { content: lines.join('\\n') } }],
})
return lines";

/// Does the task by programs.
async fn coded(server: &Server, programs: &[&str]) -> usize {
    let mut conversation = Conversation::new(server).await;
    for program in programs {
        let texts = conversation.turn(&[("run_code", json!({ "code": program }))]).await;
        if *program == LOOK {
            for name in ["list_issues", "issue_read", "post-search", "create-a-comment"] {
                assert!(texts[0].contains(name), "{name} is not described: {}", texts[0]);
            }
        }
    }
    conversation.end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_five_steps_costs_a_fraction_of_the_tokens_of_search_and_calls() {
    let Some(folder) = shared("data/manifests") else { return };
    let written = Written::default();
    let collected = collect(&folder, &written).await;
    let n_tools = collected.catalog.len();
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let searching = Server::builder(dispatcher.clone()).build().unwrap();
    let code = CodeMode::new(dispatcher.clone(), Inline::javascript());
    let only = Filter::all().allow(Rule::Tool(RunCode::ID.to_owned()));
    let coding = Server::builder(dispatcher).direct(only).build().unwrap();
    let backends = Backends::new();
    backends.register(RunCode::new(code)).unwrap();
    Proxy::new(coding.clone(), backends).collect().await;

    let three_tools = searched(&searching).await;
    let expected = written.lock().unwrap().split_off(0);
    assert_eq!(expected.len(), 1, "{expected:?}");
    for programs in [&[LOOK, SAMPLE, RUN][..], &[LOOK, RUN]] {
        let read = coded(&coding, programs).await;
        assert_eq!(written.lock().unwrap().split_off(0), expected);
        let ratio = read as f64 / three_tools as f64;
        println!("{n_tools} tools, {} programs: {read} tokens of {three_tools}, {ratio:.3}", programs.len());
        assert!(ratio <= 0.15, "{} programs read {read} tokens, and search and calls {three_tools}", programs.len());
    }
    ran(3);
}
