//! Ctrl-C in a terminal.

use super::package::EditedPackage;

const STOPPED: &str = "note: stopped by Ctrl-C; the program and its build end as well\n";

#[test]
fn ctrl_c_ends_an_idle_dev_with_one_line() {
    let package = EditedPackage::new();
    for (dev, last) in [(package.dev(), "note: serving `served`"), (package.dev_http("0"), "note: explorer at ")] {
        for line in ["note: serving `served`", last] {
            dev.wait(line, |received| received.log.contains(line).then_some(()));
        }
        assert_eq!(dev.interrupt(), (Some(130), STOPPED.to_owned()));
    }
    package.wait_for_end();
}

#[test]
fn ctrl_c_during_a_build_ends_it_with_one_line() {
    let package = EditedPackage::new();
    package.write("served/build.rs", "fn main() { std::thread::sleep(std::time::Duration::from_secs(600)); }");
    for start in [EditedPackage::dev, |package: &EditedPackage| package.dev_http("0")] {
        let dev = start(&package);
        package.wait_for_build_script();
        assert_eq!(dev.interrupt(), (Some(130), STOPPED.to_owned()));
        package.wait_for_end();
    }
}
