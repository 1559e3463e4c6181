//! Tokens that a model needs to find a tool among those of real manifests, compared to the whole list.
//!
//! Tokens are those of o200k_base. For a list, the name, the description and the input schema of each tool count, which
//! is the input of provider interfaces; for a call, the arguments that the model writes; for a response, its text.

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, o200k_base};
use toolkit::tool::{META_KEY, Namespace};
use toolkit::{Catalog, Dispatcher, Manifest, Tool};
use toolkit_mcp_server::Server;

/// Every n-th tool is searched.
const EACH: usize = 8;

pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    let bpe = o200k_base()?;
    let tools = tools()?;
    let count = |value: &Value| bpe.count_ordinary(&value.to_string()) as f64;
    println!("| tools | | requests | answers | together | of the whole list |");
    println!("|---:|---|---:|---:|---:|---:|");
    for n_tools in [100, 400, tools.len()] {
        // Distributed evenly over all servers.
        let some: Vec<Tool> = (0..n_tools).map(|nth| tools[nth * tools.len() / n_tools].clone()).collect();
        let asked: Vec<&Tool> = some.iter().step_by(EACH).filter(|tool| !tool.summary().is_empty()).collect();
        let dispatcher = Dispatcher::new(Catalog::new(some.iter().cloned())?)?;
        let server =
            |list_at_most| Server::builder(dispatcher.clone()).list_at_most(list_at_most).page_size(usize::MAX).build();
        let (whole, found) = (server(usize::MAX)?, server(0)?);
        let list = request("tools/list", json!({}));
        let listed = |server| -> Result<Vec<Value>, Box<dyn Error>> {
            let answer = answers(server, std::slice::from_ref(&list))?.swap_remove(0);
            Ok(answer["result"]["tools"].as_array().cloned().unwrap_or_default())
        };
        let of_list = |tools: &[Value]| tools.iter().map(|tool| count(&shown(tool))).sum::<f64>();
        let all = listed(&whole)?;
        let names: HashMap<&str, &Value> =
            all.iter().filter_map(|tool| Some((tool["_meta"][META_KEY]["id"].as_str()?, &tool["name"]))).collect();
        let (whole, three) = (of_list(&all), of_list(&listed(&found)?));

        let searches: Vec<Value> =
            asked.iter().map(|tool| json!({ "query": tool.summary().split(". ").next() })).collect();
        let search = Cost::new(&bpe, &found, "search_tools", &searches)?;
        let named: Vec<Value> =
            asked.iter().map(|tool| json!({ "name": names.get(&*tool.id().to_string()) })).collect();
        let describe = Cost::new(&bpe, &found, "describe_tool", &named)?;
        // In addition to a direct call.
        let call = named.iter().map(|name| count(&json!({ "name": name["name"], "arguments": {} }))).sum::<f64>()
            / named.len() as f64;
        let row = |name: &str, requests: f64, answers: f64| {
            let sum = requests + answers;
            println!("| {n_tools} | {name} | {requests:.0} | {answers:.0} | {sum:.0} | {:.2} % |", 100.0 * sum / whole);
        };
        row("the whole list", 0.0, whole);
        row("the list of the three", 0.0, three);
        row("search", search.request, search.answer);
        row("describe", describe.request, describe.answer);
        row("call, beyond a direct one", call, 0.0);
        row("the three together", search.request + describe.request + call, three + search.answer + describe.answer);
        println!(
            "| | estimates in `_meta` are those of the tokenizer times {:.2} (search) and {:.2} (describe) | | | | |",
            search.estimated / search.answer,
            describe.estimated / describe.answer
        );
    }
    Ok(())
}

/// Average cost of one of the three tools, in tokens.
struct Cost {
    request: f64,
    answer: f64,
    /// The server's own estimate of the response.
    estimated: f64,
}

impl Cost {
    fn new(bpe: &CoreBPE, server: &Server, name: &str, arguments: &[Value]) -> Result<Self, Box<dyn Error>> {
        let requests: Vec<Value> = arguments
            .iter()
            .map(|arguments| request("tools/call", json!({ "name": name, "arguments": arguments })))
            .collect();
        let (mut request, mut answer, mut estimated) = (0, 0, 0.0);
        for (asked, answered) in requests.iter().zip(answers(server, &requests)?) {
            let result = &answered["result"];
            if result["isError"] != false {
                return Err(format!("{asked} is refused: {answered}").into());
            }
            request += bpe.count_ordinary(&asked["params"].to_string());
            answer += bpe.count_ordinary(result["content"][0]["text"].as_str().unwrap_or_default());
            estimated += result["_meta"]["rs.toolkit/estimatedTokens"].as_f64().unwrap_or_default();
        }
        let n = requests.len() as f64;
        Ok(Self { request: request as f64 / n, answer: answer as f64 / n, estimated: estimated / n })
    }
}

/// Returns the parts of a tool that a provider interface takes.
fn shown(tool: &Value) -> Value {
    json!({ "name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"] })
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Returns the responses of a server, in order.
fn answers(server: &Server, requests: &[Value]) -> Result<Vec<Value>, Box<dyn Error>> {
    let output = Output::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for request in requests {
        // One request after another, since responses are sent in order of completion.
        runtime.block_on(server.pipes(Cursor::new(format!("{request}\n")), output.clone()))?;
    }
    let written = output.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let answers: Vec<Value> = serde_json::Deserializer::from_slice(&written).into_iter().collect::<Result<_, _>>()?;
    if answers.len() == requests.len() { Ok(answers) } else { Err("the server did not answer all".into()) }
}

/// A sink for the output of a server.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the tools of all manifests, each with its own namespace.
fn tools() -> Result<Vec<Tool>, Box<dyn Error>> {
    let folder = std::env::var_os("TOOLKIT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from)
        .join("data/manifests");
    let mut paths = Vec::new();
    for folder in [folder.clone(), folder.join("livemcpbench")] {
        for entry in std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            paths.extend(Some(entry?.path()).filter(|path| path.extension().is_some_and(|end| end == "json")));
        }
    }
    paths.sort();
    let mut tools: Vec<Tool> = Vec::new();
    for path in paths {
        let Some(namespace) = path.file_stem().map(|stem| stem.to_string_lossy().replace(['.', ' '], "-")) else {
            continue;
        };
        let Ok(namespace) = namespace.parse::<Namespace>() else { continue };
        let manifest = Manifest::from_mcp_json(&std::fs::read(&path)?)?;
        let sound = manifest.listings().filter_map(|listing| listing.tool());
        let portable =
            sound.filter(|tool| tool.name().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        for tool in portable.map(|tool| tool.in_namespace(namespace.clone())) {
            if tools.iter().all(|known| known.id() != tool.id()) {
                tools.push(tool);
            }
        }
    }
    Ok(tools)
}
