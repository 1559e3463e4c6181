"""Every scenario of the conformance suite that is about tools, resources, prompts, sessions, statelessness, caching, headers, schemas or
DNS rebinding, at the revisions that have it: no check may fail, and some must pass."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The scenarios that are not here, with their reasons:
# - input-required-result-{basic-sampling, basic-list-roots, multiple-input-requests, capability-check} and
#   tools-call-sampling: they need sampling or roots, which are deprecated. A tool asks the user only.
# - input-required-result-non-tool-request: it needs a prompt that asks the user. Only tools do.
# - input-required-result-ignore-extra-params: it answers without the `requestState` that it received, which clients must
#   return. `crates/mcp-server/tests/it/asking/rounds.rs` covers unknown keys.
# - json-schema-2020-12: it expects `allOf` and `if` at the root of a listed input schema. APIs of models refuse the request of a
#   host for such a tool, so the list has a plain object there (docs/decisions/plain-roots.md), and the contract has the rest.
BOTH = [
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "completion-complete",
]
SCENARIOS = {
    "2025-11-25": [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "resources-subscribe",
        "resources-unsubscribe",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        *BOTH,
    ],
    "2026-07-28": [
        "input-required-result-basic-elicitation",
        "input-required-result-request-state",
        "input-required-result-multi-round",
        "input-required-result-missing-input-response",
        "input-required-result-result-type",
        "input-required-result-unsupported-methods",
        "input-required-result-tampered-state",
        "input-required-result-validate-input",
        "sep-2164-resource-not-found",
        "server-stateless",
        "caching",
        "http-header-validation",
        "http-custom-header-server-validation",
        *BOTH,
    ],
}


# The scenarios of the extension for tasks, which belongs to no revision. `tasks-status-notifications` is not here: the
# suite skips it, since it does not read the stream on which these notifications are sent.
TASKS = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
]
SCENARIOS["2026-07-28"] += TASKS


def run(case):
    revision, scenario = case
    output = Path(sys.argv[2]) / revision / scenario
    command = ["node", sys.argv[1], "server", "--url", os.environ["URL"], "--scenario", scenario]
    command += ["--spec-version", revision, "-o", str(output)]
    if scenario in TASKS:
        command.append("--force")
    ran = subprocess.run(command, capture_output=True, text=True)
    checks = [check for file in output.glob("**/checks.json") for check in json.loads(file.read_text())]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    if ran.returncode != 0 or not passed or bad:
        what = "".join(f"  {check['id']}: {check.get('errorMessage')}\n" for check in bad)
        return passed, f"{revision} {scenario}: {passed} passed\n{what or ran.stdout + ran.stderr}"
    return passed, None


cases = [(revision, scenario) for revision, scenarios in SCENARIOS.items() for scenario in scenarios]
# The one that changes the list comes alone, so that it changes nobody else's.
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(run, [case for case in cases if case[1] != "server-stateless"]))
results += [run(case) for case in cases if case[1] == "server-stateless"]
failures = [failure for _, failure in results if failure]
print("".join(failures), end="")
print(f"{len(results)} scenarios, {sum(passed for passed, _ in results)} checks passed")
sys.exit(1 if failures else 0)
