//! The command lines of containers. Those that this machine can run are run by `tests/sandboxes/run`.

use expect_test::expect;
use toolkit_code::sandbox::{CommandLine, Container};
use toolkit_code::{Limits, Profile};

fn command(container: &Container, profile: Profile) -> String {
    container.command_line("worker-1", &Limits::default(), profile).to_string().replace(" --", "\n--")
}

#[test]
fn the_options_follow_the_profiles_of_the_earlier_system() {
    let Some(cases) = test_support::shared_json("cases/runtime.json") else { return };
    let rows = cases["docker_profiles"].as_array().unwrap();
    for row in rows {
        let profile: Profile = row["profile"].as_str().unwrap().parse().unwrap();
        let path = "/etc/seccomp.json";
        let line = command(&Container::docker("worker").seccomp_profile(path), profile);
        let has = |option: &str| line.split_whitespace().any(|word| word == option);
        assert_eq!(has("--network=none"), row["network"] == "none", "{line}");
        assert_eq!(has("--read-only"), row["read_only_rootfs"] == true, "{line}");
        // The ids of `nobody:nogroup`.
        assert_eq!(row["user"], "nobody:nogroup");
        assert!(has("--user=65534:65534"), "{line}");
        let is_configured = row["seccomp"] == "the configured path";
        assert_eq!(has(&format!("--security-opt=seccomp={path}")), is_configured, "{line}");
    }
    test_support::ran(rows.len());
}

#[test]
fn a_container_of_docker_with_another_kernel() {
    let container =
        Container::docker("registry.example.com/worker:1").runtime("runsc").option("--cgroup-parent=models");
    expect![[r#"
        docker run
        --interactive
        --rm
        --name=worker-1
        --runtime=runsc
        --pull=never
        --log-driver=none
        --cap-drop=all
        --security-opt=no-new-privileges
        --user=65534:65534
        --pids-limit=64
        --ulimit=nofile=1024:1024
        --ulimit=nproc=512:512
        --memory=206176256
        --memory-swap=206176256
        --cpus=1
        --ulimit=cpu=12:13
        --network=none
        --read-only
        --cgroup-parent=models registry.example.com/worker:1
        --toolkit-code-worker"#]]
    .assert_eq(&command(&container, Profile::Standard));
}

#[test]
fn a_container_of_podman() {
    let container = Container::podman("worker").runtime("runc").program("/worker").seccomp_profile("/etc/seccomp.json");
    expect![[r#"
        podman
        --runtime=runc run
        --interactive
        --rm
        --name=worker-1
        --pull=never
        --log-driver=none
        --cap-drop=all
        --security-opt=no-new-privileges
        --user=65534:65534
        --pids-limit=64
        --ulimit=nofile=1024:1024
        --ulimit=nproc=512:512
        --memory=206176256
        --memory-swap=206176256
        --cpus=1
        --ulimit=cpu=12:13
        --network=none
        --read-only
        --security-opt=seccomp=/etc/seccomp.json
        --entrypoint=/worker worker
        --toolkit-code-worker"#]]
    .assert_eq(&command(&container, Profile::Hardened));
}

#[test]
fn a_pod_of_kubernetes() {
    let container = Container::kubernetes("worker").runtime("gvisor").program("/worker");
    expect![[r#"
        kubectl run worker-1
        --stdin
        --rm
        --quiet
        --restart=Never
        --image=worker
        --overrides={"spec":{"activeDeadlineSeconds":360,"automountServiceAccountToken":false,"enableServiceLinks":false,"containers":[{"name":"worker-1","image":"worker","imagePullPolicy":"IfNotPresent","args":["--toolkit-code-worker"],"stdin":true,"stdinOnce":true,"resources":{"limits":{"cpu":"1","memory":"206176256"}},"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"runAsUser":65534,"runAsGroup":65534,"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},"command":["/worker"]}],"dnsPolicy":"None","dnsConfig":{"nameservers":["127.0.0.1"]},"runtimeClassName":"gvisor"}}"#]].assert_eq(&command(&container, Profile::Standard));
}

#[test]
fn bubblewrap_and_gvisor() {
    expect![[r#"
        bwrap
        --unshare-all
        --die-with-parent
        --new-session
        --clearenv
        --cap-drop ALL
        --uid 65534
        --gid 65534
        --ro-bind-try /lib /lib
        --ro-bind-try /lib32 /lib32
        --ro-bind-try /lib64 /lib64
        --ro-bind-try /usr/lib /usr/lib
        --ro-bind-try /usr/lib64 /usr/lib64
        --ro-bind /opt/worker /worker
        --proc /proc
        --remount-ro /
        --chdir /
        -- /worker
        --toolkit-code-worker"#]]
    .assert_eq(&CommandLine::bubblewrap("/opt/worker").to_string().replace(" --", "\n--"));
    expect![[r#"
        runsc
        --network=none
        --ignore-cgroups do
        --cwd=/
        --quiet
        -- /opt/worker
        --toolkit-code-worker"#]]
    .assert_eq(&CommandLine::gvisor("/opt/worker").to_string().replace(" --", "\n--"));
}
