//! The directories of the configurations of clients on other systems than that of the test.

use std::path::{Path, PathBuf};

// A test within the crate would compile the whole crate once more.
#[allow(dead_code, reason = "the system of the process")]
#[path = "../../src/install/places.rs"]
mod source;

use source::{Os, Places};

fn with<T>(variables: &[(&str, &str)], read: impl FnOnce(Places) -> Result<T, String>) -> T {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| PathBuf::from(value))
    };
    read(Places { variable: &variable }).expect("the variables are set")
}

#[test]
fn files_of_the_user_follow_the_layout_of_the_system() {
    let linux = [("HOME", "/home/ada")];
    let mac = [("HOME", "/Users/ada")];
    assert_eq!(
        with(&linux, |places| places.claude_desktop(Os::Linux)),
        [Path::new("/home/ada/.config/Claude/claude_desktop_config.json")]
    );
    assert_eq!(
        with(&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/etc/ada")], |places| places.configuration(Os::Linux)),
        Path::new("/etc/ada")
    );
    assert_eq!(
        with(&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "relative")], |places| places.configuration(Os::Linux)),
        Path::new("/home/ada/.config")
    );
    assert_eq!(
        with(&mac, |places| places.claude_desktop(Os::Mac)),
        [Path::new("/Users/ada/Library/Application Support/Claude/claude_desktop_config.json")]
    );
    assert_eq!(with(&mac, |places| places.home(Os::Mac)), Path::new("/Users/ada"));
}

#[test]
fn both_editions_of_claude_desktop_on_windows_are_found() {
    let local = tempfile::tempdir().expect("a directory");
    std::fs::create_dir_all(local.path().join("Packages/Claude_pzs8sxrjxfjjc")).expect("a directory");
    std::fs::create_dir_all(local.path().join("Packages/Other_1")).expect("a directory");
    let local_path = local.path().to_str().expect("UTF-8");
    // Absolute paths of the system of this test, which the layout only joins.
    let variables = [("USERPROFILE", "/ada"), ("APPDATA", "/ada/Roaming"), ("LOCALAPPDATA", local_path)];
    let store = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json";
    assert_eq!(
        with(&variables, |places| places.claude_desktop(Os::Windows)),
        [PathBuf::from("/ada/Roaming/Claude/claude_desktop_config.json"), local.path().join(store)]
    );
    assert_eq!(with(&variables, |places| places.configuration(Os::Windows)), Path::new("/ada/Roaming"));
    assert_eq!(with(&variables, |places| places.home(Os::Windows)), Path::new("/ada"));
}
