"""Every scenario of the conformance suite for a server, at each revision that has it. `python conformance.py SUITE FOLDER`"""

import os
import sys
from pathlib import Path

from conformance_suite import check_all

SAMPLING = "it needs sampling or roots, which are deprecated; a tool asks the user only"

# The scenarios that are not run, with their reasons.
LEFT_OUT = {
    "tools-call-sampling": SAMPLING,
    "input-required-result-basic-sampling": SAMPLING,
    "input-required-result-basic-list-roots": SAMPLING,
    "input-required-result-multiple-input-requests": SAMPLING,
    "input-required-result-capability-check": SAMPLING,
    "input-required-result-non-tool-request": "it needs a prompt that asks the user, and only tools do",
    # `crates/mcp-server/tests/it/asking/rounds.rs` covers unknown keys.
    "input-required-result-ignore-extra-params": "it answers without the `requestState` that clients must return",
    # docs/decisions/plain-roots.md
    "json-schema-2020-12": "it expects `allOf` and `if` at the root of a listed input schema, which is a plain object here, "
    "since APIs of models refuse a tool without one",
    "server-sse-polling": "it makes no check unless the server closes a stream before its response",
    "tasks-status-notifications": "the suite skips it: it does not read the stream on which the notifications are sent",
}


def arguments(name):
    return ["--url", os.environ["SKILLS_URL" if name.startswith("sep-2640-skills") else "URL"]]


# `server-stateless` changes the list, which would change that of the others.
check_all(sys.argv[1], "server", arguments, Path(sys.argv[2]), LEFT_OUT, alone=["server-stateless"])
