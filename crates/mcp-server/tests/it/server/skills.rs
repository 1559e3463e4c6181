//! Skills: directories with a `SKILL.md`, as clients list and read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolkit::{Dispatcher, catalog, tool};
use toolkit_mcp_server::{Server, SkillSet};

use super::{Client, LEGACY, dispatcher, modern, request, serve};

/// A directory that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
        let path = std::env::temp_dir().join(format!("toolkit-skills-{name}-{}", std::process::id()));
        let folder = Self(path);
        for (path, bytes) in files {
            let path = folder.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const REFUNDS: &str = "---\nname: refunds\ndescription: >-\n  Refunds orders\n  by the rules.\nlicense: MIT\nmetadata:\n  zone: eu\n  \
                       audience: [support, \"7\"]\n---\nSee [the mail](templates/mail.md).\n";

fn skills() -> Folder {
    Folder::new(
        "served",
        &[
            ("acme/refunds/SKILL.md", REFUNDS.as_bytes()),
            ("acme/refunds/templates/mail to.md", b"Dear customer"),
            ("acme/refunds/logo.bin", &[0xff, 0xfe]),
            ("acme/refunds/.env", b"secret"),
            ("acme/refunds/late/SKILL.md", "---\r\nname: late\r\ndescription: Late orders.\r\n---\r\n".as_bytes()),
            ("README.md", b"not part of a skill"),
        ],
    )
}

async fn client_of(skills: SkillSet, page_size: usize) -> Client {
    let server = Server::builder(dispatcher()).resources(skills).page_size(page_size).build().unwrap();
    Client::of(serve(server.http()).await)
}

#[tokio::test]
async fn the_skills_of_a_directory_are_listed_with_the_digests_of_what_is_read() {
    let folder = skills();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hosts", folder.path().join("acme/refunds/hosts")).unwrap();
    let client = client_of(SkillSet::open(folder.path()).unwrap(), 100).await;
    for request in [modern, request] {
        let listed = client.send(&request(1, "skills/list", json!({}))).await.result();
        let [refunds, late] = &listed["skills"].as_array().unwrap()[..] else { panic!("{listed}") };
        assert_eq!(late["uri"], "skill://acme/refunds/late/SKILL.md");
        let expected = r#"{"name":"refunds","description":"Refunds orders by the rules.","license":"MIT","metadata":{"zone":"eu","audience":["support","7"]}}"#;
        assert_eq!(refunds["frontmatter"].to_string(), expected);
        let files = refunds["resources"].as_array().unwrap();
        let uris: BTreeSet<&str> = files.iter().map(|file| file["uri"].as_str().unwrap()).collect();
        let expected = ["SKILL.md", "late/SKILL.md", "logo.bin", "templates/mail%20to.md"];
        assert_eq!(
            uris,
            expected.map(|path| format!("skill://acme/refunds/{path}")).iter().map(|uri| &**uri).collect()
        );
        for file in files {
            let read = json!({ "uri": file["uri"] });
            let contents = client.send(&request(1, "resources/read", read)).await.result()["contents"][0].clone();
            let bytes = match contents["text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => BASE64.decode(contents["blob"].as_str().unwrap().as_bytes()).unwrap(),
            };
            assert_eq!(file["size"], bytes.len());
            assert_eq!(file["digest"], format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&bytes))), "{file}");
        }
        let got = client.send(&request(1, "skills/get", json!({ "uri": refunds["uri"] }))).await.result();
        assert_eq!(got["skill"], *refunds);
        for hint in ["ttlMs", "cacheScope"] {
            assert_eq!(got[hint], listed[hint], "{hint}");
        }
        for unknown in ["skill://acme/refunds", "skill://acme/refunds/logo.bin", "skill://other/SKILL.md", ""] {
            assert_eq!(client.send(&request(1, "skills/get", json!({ "uri": unknown }))).await.code(), -32602);
        }
    }
    let initialize = request(1, "initialize", json!({ "protocolVersion": LEGACY }));
    let capabilities = client.send(&initialize).await.result()["capabilities"].clone();
    assert_eq!(capabilities["extensions"], json!({ "io.modelcontextprotocol/skills": {} }));
    let resources = client.send(&modern(1, "resources/list", json!({}))).await.result()["resources"].clone();
    let listed =
        |uri: &str| resources.as_array().unwrap().iter().find(|resource| resource["uri"] == uri).unwrap().clone();
    let refunds = listed("skill://acme/refunds/SKILL.md");
    assert_eq!((&refunds["name"], &refunds["mimeType"]), (&json!("refunds"), &json!("text/markdown")));
    assert_eq!(refunds["description"], "Refunds orders by the rules.");
    assert_eq!(listed("skill://acme/refunds/late/SKILL.md")["description"], "Late orders.");
}

#[tokio::test]
async fn pages_of_skills_are_complete_and_a_server_without_skills_has_no_such_method() {
    let mut skills = SkillSet::new();
    for name in ["c", "a", "b"] {
        skills = skills.with(name, "Does something.", "Text").unwrap();
    }
    let client = client_of(skills, 2).await;
    let mut params = json!({});
    let mut names = Vec::new();
    loop {
        let page = client.send(&modern(1, "skills/list", params.clone())).await.result();
        assert_eq!((&page["cacheScope"], page["ttlMs"].is_u64()), (&json!("public"), true));
        names.extend(page["skills"].as_array().unwrap().iter().map(|skill| skill["frontmatter"]["name"].clone()));
        let Some(next) = page.get("nextCursor") else { break };
        params["cursor"] = next.clone();
    }
    assert_eq!(names, ["a", "b", "c"]);
    let none = super::client().await;
    assert_eq!(none.send(&modern(1, "skills/list", json!({}))).await.code(), -32601);
}

#[test]
fn each_fault_of_a_skill_is_an_error_with_its_file() {
    let long = format!("---\nname: a\ndescription: {}\n---\n", "a".repeat(1_025));
    for (text, fault) in [
        ("# Refunds\n", "expected a frontmatter of YAML between two lines `---` at the start"),
        ("---\nname: a\n", "expected a frontmatter of YAML between two lines `---` at the start"),
        ("---\n- a\n---\n", "expected a frontmatter of YAML between two lines `---` at the start"),
        ("---\nname: [a\n---\n", "the frontmatter is not YAML: "),
        ("---\ndescription: A.\n---\n", "the frontmatter has no text `name`"),
        ("---\nname: a\n---\n", "the frontmatter has no text `description`"),
        ("---\nname: a\ndescription: ' '\n---\n", "the frontmatter has no text `description`"),
        ("---\nname: b\ndescription: A.\n---\n", "`name` is `b`, and the directory `a`: they must be equal"),
        (
            "---\nname: A--b\ndescription: A.\n---\n",
            "expected lowercase letters, digits and single hyphens between them",
        ),
        (&long, "`description` has 1025 characters, and at most 1024 are allowed"),
    ] {
        let folder = Folder::new("fault", &[("a/SKILL.md", text.as_bytes()), ("b/SKILL.md", b"# B")]);
        let error = SkillSet::open(folder.path()).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().filter(|line| line.contains("SKILL.md: ")).collect();
        assert_eq!(lines.len(), 2, "{error}");
        assert!(lines[0].starts_with(&format!("{}: ", folder.path().join("a/SKILL.md").display())), "{error}");
        assert!(error.contains(fault), "{error}");
    }
    let empty = Folder::new("empty", &[("README.md", b"")]);
    let error = SkillSet::open(empty.path()).unwrap_err().to_string();
    assert_eq!(error, format!("{}: no subdirectory has a SKILL.md", empty.path().display()));
    assert!(SkillSet::open("/absent").unwrap_err().to_string().starts_with("/absent: "));
    let large = Folder::new("large", &[("a/SKILL.md", REFUNDS.as_bytes()), ("a/b", &vec![0; (1 << 20) + 1])]);
    assert!(SkillSet::open(large.path()).unwrap_err().to_string().contains("more than 1048576 bytes"));
    assert!(SkillSet::new().with("Not a name", "A.", "").unwrap_err().to_string().contains("lowercase letters"));
}

#[test]
fn the_name_and_the_description_of_a_skill_have_the_form_and_the_length_of_the_standard() {
    let fault = |name: &str, description: &str| {
        let set = SkillSet::new().with(name, description, "Do it.");
        set.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let (a, e) = (|n: usize| "a".repeat(n), |n: usize| "é".repeat(n));
    for (name, description) in [("a", "d"), ("a-b", " d "), ("a1-2b", "d"), (&a(64), "d"), ("a", &e(1_024))] {
        assert_eq!(fault(name, description), "", "{name}");
    }
    for name in ["A", "a--b", "-a", "a-", "a_b", "é", "a/b", "."] {
        let expected =
            format!("`name` is `{name}`; expected lowercase letters, digits and single hyphens between them");
        assert_eq!(fault(name, "d"), expected);
    }
    assert_eq!(fault(" ", "d"), "the frontmatter has no text `name`");
    assert_eq!(fault("a", " "), "the frontmatter has no text `description`");
    assert_eq!(fault(&a(65), "d"), "`name` has 65 characters, and at most 64 are allowed");
    assert_eq!(fault("a", &e(1_025)), "`description` has 1025 characters, and at most 1024 are allowed");
}

#[test]
fn the_files_of_a_skill_are_bounded() {
    let fault = |name: &str, files: &[(String, Vec<u8>)]| {
        let text = format!("---\nname: {name}\ndescription: d\n---\n");
        let skill = format!("{name}/SKILL.md");
        let mut all: Vec<(&str, &[u8])> = vec![(&skill, text.as_bytes())];
        all.extend(files.iter().map(|(path, bytes)| (&**path, &**bytes)));
        let folder = Folder::new(name, &all);
        SkillSet::open(folder.path()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let many = |n: usize| (1..n).map(|nth| (format!("many/{nth}"), Vec::new())).collect::<Vec<_>>();
    assert_eq!(fault("many", &many(512)), "");
    assert!(fault("many", &many(513)).ends_with("the skill has 513 files, and hosts accept at most 512"));
    let deep = |n: usize| [(format!("deep/{}file", "d/".repeat(n - 1)), Vec::new())];
    assert_eq!(fault("deep", &deep(16)), "");
    assert!(fault("deep", &deep(17)).ends_with(": more than 16 directories in each other"));
    let large = |n: usize| [("large/file".to_owned(), vec![b'x'; n])];
    assert_eq!(fault("large", &large(1 << 20)), "");
    assert!(fault("large", &large((1 << 20) + 1)).ends_with("large/file: the file has more than 1048576 bytes"));
    let long = |n: usize| {
        let (start, end) = ("name: long\ndescription: d\nx: ", "\n");
        let yaml = format!("{start}{}{end}", "x".repeat(n - start.len() - end.len()));
        [("long/SKILL.md".to_owned(), format!("---\n{yaml}---\n").into_bytes())]
    };
    assert_eq!(fault("long", &long(16 << 10)), "");
    assert!(fault("long", &long((16 << 10) + 1)).ends_with("the frontmatter has more than 16384 bytes"));
}

#[tokio::test]
async fn hostile_frontmatter_is_an_error_or_data() {
    // Aliases that would become a billion values.
    let mut bomb = "---\nname: a\ndescription: A.\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [before.as_str(); 9].join(", "));
    }
    bomb += "---\n";
    let folder = Folder::new("bomb", &[("a/SKILL.md", bomb.as_bytes())]);
    assert!(SkillSet::open(folder.path()).unwrap_err().to_string().contains("the frontmatter is not YAML"));
    let value = SkillSet::new().with("a", "Quotes \" and: colons\n- items", "---\n").unwrap();
    let listed: Vec<Value> = value.iter().map(|skill| json!(skill.frontmatter)).collect();
    assert_eq!(listed, [json!({ "name": "a", "description": "Quotes \" and: colons\n- items" })]);
}

/// Adds two integers.
///
/// The sum must fit 32 bits.
#[tool(namespace = "skill_math.Basic", examples = [r#"{"a":1,"b":2}"#])]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Subtracts integers.
#[tool(namespace = "skill_math.Basic")]
fn subtract(a: i32, b: i32) -> i32 {
    a - b
}

/// Greets.
#[tool]
fn skill_hello() {}

#[tokio::test]
async fn the_documentation_of_functions_is_a_skill_for_each_namespace_that_follows_the_tools() {
    let tools = || catalog![add, subtract, skill_hello].unwrap();
    let server = Server::builder(Dispatcher::new(tools()).unwrap()).tool_skills().build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let listed = client.send(&modern(1, "skills/list", json!({}))).await.result();
    let [math, hello] = &listed["skills"].as_array().unwrap()[..] else { panic!("{listed}") };
    let frontmatter = json!({
        "name": "skill-math-basic",
        "description": "How to use skill_math_Basic_add: Adds two integers.; skill_math_Basic_subtract: Subtracts integers.",
    });
    assert_eq!((&math["uri"], &math["frontmatter"]), (&json!("skill://skill-math-basic/SKILL.md"), &frontmatter));
    assert_eq!(hello["uri"], "skill://tools/SKILL.md");
    let read = client.send(&modern(1, "resources/read", json!({ "uri": math["uri"] }))).await.result();
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("# `skill_math_Basic_add`\n\nAdds two integers.\n\nThe sum must fit 32 bits.\n\nExample of"),
        "{text}"
    );
    assert!(text.contains(r#"`{"a":1,"b":2}`"#), "{text}");
    assert_eq!(math["resources"][0]["digest"], format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(text))));
    assert_eq!(math["resources"][0]["size"], text.len());
    server.disable("skill_math.Basic:add".parse().unwrap()).unwrap();
    let got = client.send(&modern(1, "skills/get", json!({ "uri": math["uri"] }))).await.result();
    assert!(!got.to_string().contains("Basic_add"), "{got}");
    server.disable("namespace=skill_math.*".parse().unwrap()).unwrap();
    assert_eq!(client.send(&modern(1, "skills/get", json!({ "uri": math["uri"] }))).await.code(), -32602);
}
