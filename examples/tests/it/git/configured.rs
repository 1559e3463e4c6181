//! Repositories whose configuration names commands and files, none of which may take effect.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{git, repository};
use crate::common::Host;

/// A repository with a configuration that would run a command.
struct Trap {
    host: Host,
    inside: PathBuf,
    /// The file that the command creates.
    marker: PathBuf,
}

impl Trap {
    /// Creates the repository of the other tests, in which every file has the attributes that name drivers.
    fn new() -> Self {
        let host = repository();
        let inside = host.dir.path().join("inside");
        let marker = host.dir.path().join("marker");
        host.put(".gitattributes", "* diff=trap filter=trap merge=trap\n");
        let trap = Self { host, inside, marker };
        trap.git(&["add", ".gitattributes"]);
        trap.git(&["commit", "--quiet", "-m", "Add attributes"]);
        fs::create_dir_all(trap.inside.join(".git/info")).unwrap();
        fs::write(trap.inside.join(".git/info/attributes"), "* diff=trap filter=trap\n").unwrap();
        trap
    }

    fn git(&self, arguments: &[&str]) {
        let output = git(&self.inside, "Ann", arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// Adds to the configuration; `RUN` stands for a command that creates the marker, `ROOT` for the temporary
    /// directory.
    fn configure(&self, text: &str) {
        let path = self.inside.join(".git/config");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{before}\n{}\n", self.spelled(text))).unwrap();
    }

    fn spelled(&self, text: &str) -> String {
        let script = self.host.dir.path().join("run");
        fs::write(&script, format!("#!/bin/sh\ntouch {}\n", self.marker.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let place = self.host.dir.path().to_str().unwrap();
        text.replace("RUN", script.to_str().unwrap()).replace("ROOT", place)
    }
}

/// Returns the results of all git tools, for each way to call them.
pub(super) fn all_tools(host: &Host) -> Vec<Value> {
    let calls = [
        ("git_log", json!({})),
        ("git_log", json!({"path": "a.txt", "author": "Ann"})),
        ("show_commit", json!({"with_patch": true})),
        ("show_commit", json!({"revision": "HEAD~1", "with_patch": true})),
        ("show_commit", json!({"revision": "HEAD~2", "with_patch": true})),
        ("blame_file", json!({"path": "a.txt"})),
        ("search_history", json!({"text": "one"})),
    ];
    let result = |(tool, arguments): (&str, Value)| match host.run(&Default::default(), tool, arguments) {
        Ok(result) => result.value(),
        Err(error) => json!({ "error": error.to_string() }),
    };
    calls.into_iter().map(result).collect()
}

/// One test for each key: the tools return the same as before and run nothing. A Git command of a user runs the
/// command, which verifies that the key is dangerous.
macro_rules! keys {
    ($($name:ident: $config:expr, $springs:expr;)*) => { $(
        #[test]
        fn $name() {
            let trap = Trap::new();
            check(&trap, || trap.configure($config), $springs);
        }
    )* };
}

/// `springs` is a Git command line that runs the configured command; empty if a test cannot run it.
fn check(trap: &Trap, set: impl FnOnce(), springs: &[&str]) {
    let before = all_tools(&trap.host);
    assert!(before.iter().all(|result| result.get("error").is_none()), "{before:?}");
    set();
    assert_eq!(all_tools(&trap.host), before);
    assert!(!trap.marker.exists(), "a command of the repository ran");
    if !springs.is_empty() {
        let output = git(&trap.inside, "Ann", springs).output().unwrap();
        assert!(trap.marker.exists(), "the trap is none: {output:?}");
    }
}

keys! {
    textconv: "[diff \"trap\"]\n\ttextconv = RUN", &["log", "-p"];
    cached_textconv: "[diff \"trap\"]\n\ttextconv = RUN\n\tcachetextconv = true", &["log", "-p"];
    textconv_of_blame: "[diff \"trap\"]\n\ttextconv = RUN", &["blame", "a.txt"];
    diff_command: "[diff \"trap\"]\n\tcommand = RUN", &["diff", "HEAD~1", "HEAD"];
    diff_external: "[diff]\n\texternal = RUN", &["diff", "HEAD~1", "HEAD"];
    filter_clean: "[filter \"trap\"]\n\tclean = RUN", &["hash-object", "--path=a.txt", "a.txt"];
    filter_smudge: "[filter \"trap\"]\n\tsmudge = RUN", &["cat-file", "--filters", "HEAD:a.txt"];
    filter_process: "[filter \"trap\"]\n\tprocess = RUN", &["cat-file", "--filters", "HEAD:a.txt"];
    merge_driver: "[merge \"trap\"]\n\tdriver = RUN", &[];
    fsmonitor: "[core]\n\tfsmonitor = RUN", &["status"];
    hooks_path: "[core]\n\thooksPath = ROOT/hooks", &[];
    pager: "[core]\n\tpager = RUN\n[pager]\n\tlog = RUN\n\tblame = RUN\n\tdiff-tree = RUN", &[];
    editor: "[core]\n\teditor = RUN\n[sequence]\n\teditor = RUN", &["commit", "--amend"];
    ssh_command: "[core]\n\tsshCommand = RUN", &["ls-remote", "ssh://localhost/x"];
    git_proxy: "[core]\n\tgitProxy = RUN", &["ls-remote", "git://localhost/x"];
    ask_pass: "[core]\n\taskPass = RUN", &[];
    credential_helper: "[credential]\n\thelper = !RUN", &[];
    alternate_refs_command: "[core]\n\talternateRefsCommand = RUN", &[];
    pack_objects_hook: "[uploadpack]\n\tpackObjectsHook = RUN", &[];
    aliases: "[alias]\n\tlog = !RUN\n\tblame = !RUN\n\tx = !RUN", &["x"];
    gpg_program: "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = RUN\n[gpg \"ssh\"]\n\tprogram = RUN", &[];
    difftool: "[diff]\n\ttool = trap\n[difftool \"trap\"]\n\tcmd = RUN", &["difftool", "-y", "HEAD~1", "HEAD"];
    mergetool: "[merge]\n\ttool = trap\n[mergetool \"trap\"]\n\tcmd = RUN", &[];
    trailer_command: "[trailer \"x\"]\n\tcommand = RUN\n\tcmd = RUN", &["interpret-trailers", "a.txt"];
    interactive_filter: "[interactive]\n\tdiffFilter = RUN", &[];
    remote_helper: "[protocol]\n\tallow = always\n[remote \"origin\"]\n\turl = ext::RUN\n\tvcs = ext", &["ls-remote", "origin"];
    pretty_formats: "[format]\n\tpretty = %(trailers)%B%GS\n[pretty]\n\tmedium = nothing\n[log]\n\tdate = raw", &[];
    output_settings: "[color]\n\tui = always\n[diff]\n\tnoprefix = true\n\talgorithm = patience\n\tcontext = 9", &[];
    log_settings: "[log]\n\tfollow = true\n\tdecorate = full\n\tdiffMerges = on\n[i18n]\n\tlogOutputEncoding = UTF-16", &[];
    blame_settings: "[blame]\n\tignoreRevsFile = ROOT/none\n\tblankBoundary = true\n\tshowEmail = true", &[];
    ignored_revisions: "[blame]\n\tignoreRevsFile = ROOT/secret.txt", &[];
    mailmap_file: "[mailmap]\n\tfile = ROOT/mailmap\n\tblob = HEAD:.gitattributes", &[];
    attributes_file: "[core]\n\tattributesFile = ROOT/secret.txt", &[];
    excludes_file: "[core]\n\texcludesFile = ROOT/secret.txt", &[];
    order_file: "[diff]\n\torderFile = ROOT/secret.txt", &[];
    notes: "[core]\n\tnotesRef = refs/notes/x\n[notes]\n\tdisplayRef = refs/*", &[];
    worktree_outside: "[core]\n\tworktree = ROOT", &[];
    bare: "[core]\n\tbare = true", &[];
    unknown_extension: "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfromTheFuture = true", &[];
    unreadable: "[this is no configuration", &[];
    // Independent of the effect of a key, an unreadable configuration is an error for any program that reads it.
    include: "[include]\n\tpath = ROOT/included", &[];
}

#[test]
fn included_files() {
    for condition in
        ["include", "includeIf \"gitdir:/**\"", "includeIf \"onbranch:**\"", "includeIf \"hasconfig:remote.*.url:**\""]
    {
        let trap = Trap::new();
        let set = || {
            fs::write(trap.inside.join("included"), trap.spelled("[diff]\n\texternal = RUN\n")).unwrap();
            trap.configure(&format!("[remote \"x\"]\n\turl = /x\n[{condition}]\n\tpath = ROOT/inside/included"));
        };
        check(&trap, set, &["diff", "HEAD~1", "HEAD"]);
    }
}

#[test]
fn configuration_of_a_worktree() {
    let trap = Trap::new();
    let set = || {
        trap.configure("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true");
        let text = trap.spelled("[diff]\n\texternal = RUN\n");
        fs::write(trap.inside.join(".git/config.worktree"), text).unwrap();
    };
    check(&trap, set, &["diff", "HEAD~1", "HEAD"]);
}

#[test]
fn hooks() {
    let trap = Trap::new();
    let set = || {
        trap.spelled("");
        for name in ["post-checkout", "pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman"]
        {
            let hook = trap.inside.join(".git/hooks").join(name);
            fs::create_dir_all(hook.parent().unwrap()).unwrap();
            fs::copy(trap.host.dir.path().join("run"), hook).unwrap();
        }
    };
    check(&trap, set, &["checkout", "--quiet", "HEAD"]);
}

/// A commit with a signature: verifying it would run a program from the configuration.
#[test]
fn signatures_are_not_looked_at() {
    let trap = Trap::new();
    let output = git(&trap.inside, "Ann", &["cat-file", "commit", "HEAD"]).output().unwrap();
    let (head, message) = std::str::from_utf8(&output.stdout).unwrap().split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----";
    let path = trap.host.dir.path().join("commit");
    fs::write(&path, format!("{head}\n{signature}\n\n{message}")).unwrap();
    let output =
        git(&trap.inside, "Ann", &["hash-object", "-t", "commit", "-w", path.to_str().unwrap()]).output().unwrap();
    let hash = std::str::from_utf8(&output.stdout).unwrap().trim();
    trap.git(&["update-ref", "HEAD", hash]);
    let set = || trap.configure("[log]\n\tshowSignature = true\n[gpg]\n\tprogram = RUN");
    check(&trap, set, &["log", "-1"]);
}

/// A missing object is not fetched from a remote, which may be a command.
#[test]
fn missing_objects_are_not_fetched() {
    let trap = Trap::new();
    let output = git(&trap.inside, "Ann", &["rev-parse", "HEAD~3:a.txt"]).output().unwrap();
    let blob = std::str::from_utf8(&output.stdout).unwrap().trim().to_owned();
    let object = Path::new(&blob[..2]).join(&blob[2..]);
    fs::remove_file(trap.inside.join(".git/objects").join(object)).unwrap();
    trap.configure("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin");
    trap.configure("[protocol]\n\tallow = always\n[remote \"origin\"]\n\turl = ext::RUN\n\tpromisor = true");
    all_tools(&trap.host);
    trap.host.refused("search_history", json!({"text": "one"}), "Git failed: ");
    assert!(!trap.marker.exists(), "a command of the repository ran");
    let output = git(&trap.inside, "Ann", &["cat-file", "-p", &blob]).output().unwrap();
    assert!(trap.marker.exists(), "the trap is none: {output:?}");
}

/// Git's environment variables of the host do not apply to untrusted repositories.
#[test]
fn the_environment_has_no_say() {
    let trap = Trap::new();
    let run = trap.spelled("RUN");
    let place = trap.host.dir.path().to_str().unwrap();
    let result = |variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolkit-examples"));
        command.args(["call", "git:show_commit", r#"{"with_patch": true}"#]).env("EXAMPLES_ROOT", &trap.inside);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let variables = [
        ("GIT_EXTERNAL_DIFF", &*run),
        ("GIT_PAGER", &run),
        ("PAGER", &run),
        ("GIT_SSH_COMMAND", &run),
        ("GIT_DIR", place),
        ("GIT_WORK_TREE", place),
        ("GIT_OBJECT_DIRECTORY", place),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", place),
        ("GIT_INDEX_FILE", place),
        ("GIT_NAMESPACE", "x"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "diff.external"),
        ("GIT_CONFIG_VALUE_0", &run),
        ("GIT_CONFIG_PARAMETERS", "'diff.external=false'"),
        ("GIT_EXEC_PATH", place),
        ("GIT_TRACE", "/dev/stdout"),
        ("GIT_DIFF_OPTS", "-u9"),
        ("HOME", place),
        ("XDG_CONFIG_HOME", place),
    ];
    let before = result(&[]);
    assert_eq!(String::from_utf8_lossy(&result(&variables)), String::from_utf8_lossy(&before));
    assert!(!trap.marker.exists());
}
