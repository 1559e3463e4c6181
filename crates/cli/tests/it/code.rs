//! `run` and `serve --code`: programs that call the tools.

use serde_json::{Value, json};

use super::{TOOLS, command, fed, tools, tools_reading};

#[test]
fn a_program_calls_the_tools_from_a_confined_process() {
    let program = "console.log('adding')\nreturn await tools.math.add({ a: 1, b: 2 })";
    let ran = tools_reading(program, &["run", "-"]).exits(0).prints("3\n");
    assert_eq!(ran.err, "adding\n");
    let json = tools_reading(program, &["run", "-", "--json"]).exits(0).json();
    assert_eq!((&json["value"], &json["stdout"]), (&json!(3), &json!("adding\n")));
    assert_eq!(json["toolCalls"][0]["toolId"], "math:add:1.0.0");
    assert_eq!(json["backend"]["kind"], "process");
    #[cfg(target_os = "linux")]
    for guarantee in ["files", "network", "processes", "memory", "cpu", "environment"] {
        assert!(json["limitsEnforced"].as_array().unwrap().contains(&guarantee.into()), "{guarantee}: {json}");
    }
}

#[test]
fn a_program_is_read_from_a_file_and_traced() {
    let path = std::env::temp_dir().join(format!("toolkit-cli-program-{}.js", std::process::id()));
    std::fs::write(&path, "await tools.math.add({ a: 1, b: 2 })\nawait call('math:add', { a: 'x' })").unwrap();
    let ran = tools(&["run", path.to_str().unwrap(), "--trace"]).exits(1);
    std::fs::remove_file(path).unwrap();
    let ran = ran.says(r#"1: math:add:1.0.0({"a":1,"b":2}) -> 3"#).says(r#"2: math:add:1.0.0({"a":"x"}) !!"#);
    ran.says("(line 2").says("await call('math:add', { a: 'x' })");
}

#[test]
fn calls_have_the_credentials_of_the_environment() {
    let program = "const place = { latitude: 1, longitude: 2 }
        return (await tools.weather.forecast({ place })).days";
    tools_reading(program, &["run", "-"]).exits(0).prints("3\n");
    let mut without = command(&TOOLS, &["run", "-"]);
    without.env_remove("ALMANAC_KEY");
    fed(without, program).exits(1).says("ALMANAC_KEY");
}

#[test]
fn limits_and_profiles_are_options() {
    let endless = "for (;;) await tools.math.add({ a: 1, b: 2 })";
    tools_reading(endless, &["run", "-", "--calls", "2"]).exits(1).says("2 calls");
    let waiting = "await tools.slow.walk({ steps: 255 })";
    tools_reading(waiting, &["run", "-", "--timeout", "300ms"]).exits(1).says("300ms");
    let inline = tools_reading("return 1", &["run", "-", "--json", "--profile", "dev"]).exits(0).json();
    assert_eq!(inline["backend"]["kind"], "inline");
    tools_reading("return 1", &["run", "-", "--profile", "soft"]).exits(2).says("soft");
    tools(&["run", "/nowhere/program.js"]).exits(2).says("/nowhere/program.js");
}

/// Sends a request to `serve` and returns the result.
fn served(args: &[&str], method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    tools_reading(&format!("{request}\n"), &[&["serve"], args].concat()).exits(0).json()["result"].clone()
}

fn listed(args: &[&str]) -> Vec<String> {
    let result = served(args, "tools/list", json!({}));
    result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn programs_are_served_beside_or_instead_of_the_tools() {
    assert!(!listed(&[]).contains(&"run_code".to_owned()));
    let beside = listed(&["--code"]);
    assert!(beside.contains(&"run_code".to_owned()) && beside.contains(&"math_add".to_owned()), "{beside:?}");
    assert_eq!(listed(&["--code=only"]), ["run_code"]);
    assert_eq!(listed(&["--code", "--allow", "math:add"]), ["math_add", "run_code"]);

    let program = "return await tools.math.add({ a: 1, b: 2 })";
    let call = json!({ "name": "run_code", "arguments": { "code": program } });
    assert_eq!(served(&["--code=only"], "tools/call", call)["structuredContent"], json!({ "value": 3 }));
}

#[test]
fn a_served_program_calls_only_the_tools_that_pass_the_filter() {
    let program = "try { return await call('counter:add', { n: 1 }) } catch (error) { return error.kind }";
    let call = json!({ "name": "run_code", "arguments": { "code": program } });
    let result = served(&["--code", "--allow", "namespace=math"], "tools/call", call);
    assert_eq!(result["structuredContent"], json!({ "value": "unknown_tool" }), "{result}");
}

/// A server, which is killed at the end.
struct Sandbox(std::process::Child);

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn programs_run_on_another_machine_with_the_tools_of_this_one() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    tools(&["serve-sandbox", "0"]).exits(2).says("set SANDBOX_TOKEN");
    let mut serving = command(&TOOLS, &["serve-sandbox", "0", "--sessions", "4", "--profile", "standard"]);
    let mut sandbox = Sandbox(serving.env("SANDBOX_TOKEN", "s3cr3t").stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(sandbox.0.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("sandbox at ").unwrap().to_owned();

    let program = "console.log('adding')\nreturn await tools.math.add({ a: 1, b: 2 })";
    let run = |token: &str, arguments: &[&str]| {
        let mut run = command(&TOOLS, &[&["run", "-", "--sandbox", &url], arguments].concat());
        run.env("SANDBOX_TOKEN", token);
        fed(run, program)
    };
    assert_eq!(run("s3cr3t", &[]).exits(0).prints("3\n").err, "adding\n");
    let json = run("s3cr3t", &["--json"]).exits(0).json();
    assert_eq!((&json["value"], &json["backend"]["kind"]), (&json!(3), &json!("remote")));
    run("wrong", &[]).exits(1).says("HTTP 401");
    tools_reading(program, &["run", "-", "--sandbox", "http://192.0.2.1"]).exits(2).says("set SANDBOX_TOKEN");
    let mut open = command(&TOOLS, &["run", "-", "--sandbox", "http://192.0.2.1"]);
    open.env("SANDBOX_TOKEN", "s3cr3t");
    fed(open, program).exits(2).says("it must begin with `https://`");
}
