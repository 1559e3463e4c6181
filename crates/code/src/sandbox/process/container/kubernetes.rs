//! The options of `kubectl run`.

use serde_json::{Value, json};

use super::super::super::super::limits::Limits;
use super::super::super::super::profile::Profile;
use super::super::super::super::worker;
use super::super::command_line::CommandLine;
use super::Container;

pub(super) fn command_line(container: &Container, name: &str, limits: &Limits, profile: Profile) -> CommandLine {
    let overrides = pod(container, name, limits, profile);
    let cleanup = CommandLine::new("kubectl").args(["delete", "pod", name, "--now", "--wait=false"]);
    CommandLine::new("kubectl")
        .args(["run", name, "--stdin", "--rm", "--quiet", "--restart=Never"])
        .args([format!("--image={}", container.image), format!("--overrides={overrides}")])
        .args(container.options.iter().cloned())
        .inherit_environment()
        .cleanup(cleanup.inherit_environment())
}

/// The parts of the pod that have no option.
fn pod(container: &Container, name: &str, limits: &Limits, profile: Profile) -> Value {
    let is_strict = profile >= Profile::Standard;
    let seccomp = match &container.seccomp_profile {
        Some(path) if profile >= Profile::Hardened => json!({ "type": "Localhost", "localhostProfile": path }),
        _ => json!({ "type": "RuntimeDefault" }),
    };
    let mut worker = json!({
        "name": name,
        "image": container.image,
        "imagePullPolicy": "IfNotPresent",
        "args": [worker::ARGUMENT],
        "stdin": true,
        "stdinOnce": true,
        "resources": { "limits": { "cpu": "1", "memory": worker::memory_bytes(limits).to_string() } },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
            "readOnlyRootFilesystem": is_strict,
            "runAsUser": 65534,
            "runAsGroup": 65534,
            "runAsNonRoot": true,
            "seccompProfile": seccomp,
        },
    });
    if let Some(program) = &container.program {
        worker["command"] = json!([program.to_string_lossy()]);
    }
    let mut spec = json!({
        "activeDeadlineSeconds": limits.time.as_secs().saturating_add(60),
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "containers": [worker],
    });
    if is_strict {
        // Names are not resolved, even where the network is not taken away.
        spec["dnsPolicy"] = "None".into();
        spec["dnsConfig"] = json!({ "nameservers": ["127.0.0.1"] });
    }
    if let Some(runtime) = &container.runtime {
        spec["runtimeClassName"] = runtime.as_str().into();
    }
    json!({ "spec": spec })
}
