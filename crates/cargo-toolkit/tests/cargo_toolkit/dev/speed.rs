//! The time from a change to the first call of the new code, compared with that of a build.

use std::time::Instant;

use super::new_program::{NewProgram, share};

/// Prints both times, which mean nothing on a machine that does other work. `TOOLKIT_DEV_ROUNDS` sets the number of changes.
#[test]
#[ignore = "builds a program with a server and its dependencies: `.ci/run`"]
fn the_first_call_after_the_build_of_a_change_runs_the_new_code() {
    let n_rounds: u64 = std::env::var("TOOLKIT_DEV_ROUNDS").map_or(3, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let [built, served] = ["built", "served"].map(|name| NewProgram::new(folder.path().join(name)));
    let more: String = (1..10)
        .map(|n| {
            format!(
                "/// Adds {n}.\n#[tool(namespace = \"math\")]\npub fn add_{n}(a: u64) -> u64 {{\n    a + {n}\n}}\n\n"
            )
        })
        .collect();
    for program in [&built, &served] {
        program.edit("#[cfg(test)]", &format!("{more}#[cfg(test)]"));
        program.build();
    }
    let client = served.start(&["cargo", "toolkit", "dev"]);
    client.initialize();
    assert!(client.errors().starts_with("No errors"));
    let (mut builds, mut calls) = (Vec::new(), Vec::new());
    for round in 0..n_rounds {
        let [from, to] = [round, round + 1].map(|n| format!("checked_div(people + {n})"));
        let from = if round == 0 { "checked_div(people)" } else { &from };
        built.edit(from, &to);
        let start = Instant::now();
        built.build();
        builds.push(start.elapsed());
        served.edit(from, &to);
        let start = Instant::now();
        assert!(client.errors().starts_with("No errors"));
        let answer = share(&client);
        calls.push(start.elapsed());
        assert!(answer.contains(&(1000 / (4 + round + 1)).to_string()), "{answer}");
    }
    let [build, call] = [builds, calls].map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let difference = call.as_secs_f64() - build.as_secs_f64();
    println!(
        "of {n_rounds} changes, in turns, the median: build {build:.2?}, first call {call:.2?}, difference {difference:.2} s"
    );
}
