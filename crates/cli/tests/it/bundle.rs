//! `bundle`: MCPB files, `server.json` and labels. `tests/shipping/run` reads them with the official programs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Ran, TOOLS, tools};

pub(super) fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bundle-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory can be made");
    path
}

/// Writes a small program that begins like one of the platform.
fn program(directory: &Path, name: &str, magic: &[u8]) -> String {
    let path = directory.join(name);
    fs::write(&path, [magic, b" and the rest"].concat()).expect("a file can be written");
    path.to_str().expect("UTF-8").to_owned()
}

fn mcpb(output: &Path, args: &[&str]) -> Ran {
    let output = output.to_str().expect("UTF-8");
    let given =
        ["bundle", "mcpb", "-o", output, "--description", "Tools", "--author", "Ada Lovelace <ada@example.com>"];
    tools(&[&given, args].concat())
}

/// Reads the files of an archive with Python, with their modes.
fn unzipped(path: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let script = "import sys, zipfile, json\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n\
                  print(json.dumps([[i.filename, i.external_attr >> 16, list(z.read(i)), i.date_time] for i in z.infolist()]))";
    let output = std::process::Command::new("python3").args(["-c", script]).arg(path).output().expect("Python runs");
    let listed: Vec<Value> = serde_json::from_slice(&output.stdout).expect("the archive is valid");
    let files = listed.iter().map(|file| {
        assert_eq!(file[3], json!([1980, 1, 1, 0, 0, 0]));
        let bytes = file[2].as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
        (file[0].as_str().unwrap().to_owned(), file[1].as_u64().unwrap() as u32, bytes)
    });
    files.collect()
}

#[test]
fn a_bundle_contains_the_program_the_tools_and_the_settings() {
    let directory = directory("contents");
    let path = directory.join("tools.mcpb");
    let linux = program(&directory, "linux", b"\x7fELF");
    let windows = program(&directory, "windows", b"MZ\x90\0");
    let args = ["--program", &windows, "--program", &linux, "--env", "ROOT=directory", "--", "--read-only"];
    mcpb(&path, &args).exits(0);
    let files = unzipped(&path);
    let names: Vec<(&str, u32)> = files.iter().map(|(name, mode, _)| (&**name, *mode)).collect();
    let expected =
        [("manifest.json", 0o100_644), ("server/fixture_tools", 0o100_755), ("server/fixture_tools.exe", 0o100_755)];
    assert_eq!(names, expected);
    assert_eq!(files[1].2, b"\x7fELF and the rest");
    let manifest: Value = serde_json::from_slice(&files[0].2).unwrap();
    assert_eq!(manifest["author"], json!({ "name": "Ada Lovelace", "email": "ada@example.com" }));
    let config = &manifest["server"]["mcp_config"];
    assert_eq!(config["command"], "${__dirname}/server/fixture_tools");
    assert_eq!(config["args"], json!(["serve", "--read-only"]));
    assert_eq!(config["env"]["ALMANAC_KEY"], "${user_config.ALMANAC_KEY}");
    assert_eq!(config["platform_overrides"]["win32"]["command"], "${__dirname}/server/fixture_tools.exe");
    assert_eq!(manifest["compatibility"]["platforms"], json!(["linux", "win32"]));
    let key = &manifest["user_config"]["ALMANAC_KEY"];
    assert_eq!((&key["sensitive"], &key["required"]), (&json!(true), &json!(false)));
    assert_eq!(manifest["user_config"]["ROOT"]["type"], "directory");
    assert!(
        manifest["tools"]
            .as_array()
            .unwrap()
            .contains(&json!({ "name": "math_add", "description": "Adds two integers." }))
    );
}

#[test]
fn a_bundle_has_the_same_bytes_each_time() {
    let directory = directory("reproducible");
    let small = program(&directory, "small", b"\x7fELF");
    let bytes = ["one", "two"].map(|name| {
        mcpb(&directory.join(name), &["--program", &small]).exits(0);
        fs::read(directory.join(name)).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn an_incomplete_bundle_is_refused_and_leaves_no_file() {
    let directory = directory("refused");
    let path = directory.join("x.mcpb");
    let script = program(&directory, "script", b"#!/b");
    let mac = program(&directory, "mac", &[0xcf, 0xfa, 0xed, 0xfe]);
    mcpb(&path, &["--program", &script]).exits(1).says("not an executable file");
    mcpb(&path, &["--program", &mac, "--program", &TOOLS])
        .exits(2)
        .says("one program for Windows and one for Linux or macOS");
    mcpb(&path, &["--icon", &mac]).exits(1).says("not a PNG image");
    mcpb(&path, &["--env", "A=colour"]).exits(2).says("string, number, boolean, directory, file");
    mcpb(&path, &["--name", "../x"]).exits(2).says("must be 1 to 64 letters");
    mcpb(&path, &["--description", ""]).exits(2);
    mcpb(&directory.join("missing/x.mcpb"), &[]).exits(1);
    tools(&["bundle", "mcpb", "--description", "Tools"]).exits(2).says("an author is required");
    let left: Vec<_> = fs::read_dir(&directory).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn the_name_of_a_bundle_has_1_to_64_letters_digits_and_signs() {
    let directory = directory("names");
    let (path, small) = (directory.join("x.mcpb"), program(&directory, "small", b"\x7fELF"));
    for name in ["a", "A-1_b.c", &"a".repeat(64)] {
        mcpb(&path, &["--program", &small, "--name", name]).exits(0);
    }
    for name in ["", ".a", "a b", "a/b", "ä", &"a".repeat(65)] {
        mcpb(&path, &["--program", &small, "--name", name]).exits(2).says("must be 1 to 64 letters");
    }
}

/// SIGTERM arrives while a program is compressed that is far too large for the time of a test.
#[cfg(unix)]
#[test]
fn an_interrupted_bundle_leaves_no_file() {
    let directory = directory("interrupted");
    let large = program(&directory, "large", b"\x7fELF");
    fs::File::options().write(true).open(&large).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    let output = directory.join("x.mcpb");
    let args = ["bundle", "mcpb", "-o", output.to_str().unwrap(), "--description", "Tools", "--author", "Ada"];
    let mut command = super::command(&TOOLS, &[&args[..], &["--program", &large]].concat());
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let files = || fs::read_dir(&directory).unwrap().count();
    while files() < 2 {
        std::thread::yield_now();
    }
    let sent = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let ran: Ran = child.wait_with_output().unwrap().into();
    ran.exits(130).says("x.mcpb was not written");
    assert_eq!(files(), 1);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_registry_entry_contains_the_digest_of_the_bundle() {
    let directory = directory("registry");
    let path = directory.join("x.mcpb");
    fs::write(&path, "abc").unwrap();
    let mcpb = ["--mcpb", path.to_str().unwrap(), "--mcpb-url", "https://example.com/x.mcpb"];
    let given = ["bundle", "server-json", "--name", "io.github.ada/tools", "--description", "Tools"];
    let more = [
        "--image",
        "ghcr.io/ada/tools:1.0.0",
        "--remote",
        "https://example.com/mcp",
        "--repository",
        "https://github.com/ada/tools",
    ];
    let entry = tools(&[&given[..], &mcpb, &more].concat()).exits(0).json();
    let [bundle, image] = [&entry["packages"][0], &entry["packages"][1]];
    assert_eq!(bundle["fileSha256"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(image["identifier"], "ghcr.io/ada/tools:1.0.0");
    assert_eq!(bundle["environmentVariables"][0]["isSecret"], true);
    assert_eq!(entry["remotes"][0], json!({ "type": "streamable-http", "url": "https://example.com/mcp" }));
    assert_eq!(entry["repository"]["source"], "github");
    let refused = |args: &[&str]| tools(&[&given, args].concat()).exits(2);
    refused(&[]);
    refused(&["--image", "ghcr.io/ada/tools:latest"]).says("not `latest`");
    refused(&["--image", "localhost:5000/tools"]);
    refused(&["--remote", "http://example.com/mcp"]).says("expected an https URL");
    refused(&["--mcpb", path.to_str().unwrap(), "--mcpb-url", "https://example.com/x.zip"]).says("contains `mcp`");
    let long = "x".repeat(101);
    refused(&["--remote", "https://example.com/mcp", "--title", &long]).says("the title has 101 characters");
    for name in ["tools", "io.github.ada/a/b", "io github/a", "/a", "a/"] {
        tools(&["bundle", "server-json", "--name", name, "--remote", "https://example.com/mcp"]).exits(2);
    }
}

#[test]
fn labels_name_the_server_of_the_registry() {
    let labels =
        tools(&["bundle", "labels", "--name", "io.github.ada/tools", "--description", "Costs $5, \"all\\in\""])
            .exits(0);
    assert_eq!(labels.out.lines().next(), Some("LABEL io.modelcontextprotocol.server.name=\"io.github.ada/tools\""));
    assert!(
        labels.out.contains(r#"LABEL org.opencontainers.image.description="Costs \$5, \"all\\in\"""#),
        "{labels:?}"
    );
    assert!(labels.out.lines().all(|line| line.starts_with("LABEL ")), "{labels:?}");
}
