"""The scenarios of the conformance suite, and what it says about them."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# The revision at which the scenarios of extensions run, which belong to none.
NEWEST = "2026-07-28"


def scenarios(suite, kind):
    """Returns the scenarios for a `server` or a `client`, each with its revisions."""
    listed = subprocess.run(["node", suite, "list"], capture_output=True, text=True, check=True).stdout
    part = re.search(rf"^{kind} scenarios.*\n((?:  - .*\n?)+)", listed, re.IGNORECASE | re.MULTILINE)[1]
    found = re.findall(r"^  - (\S+) \[(\S+)\]$", part, re.MULTILINE)
    return {name: [] if revisions == "extension" else revisions.split(",") for name, revisions in found}


def check_all(suite, kind, arguments, output, left_out, alone=()):
    """Runs each scenario with the arguments for it, except for those that are left out: no check may fail, and some must pass.
    Those of `alone` run after the others. A name that the suite does not have is an error."""
    known = scenarios(suite, kind)
    unknown = {*left_out, *alone} - known.keys()
    cases = [(name, at) for name in known if name not in left_out for at in known[name] or [None]]

    def run(case):
        name, at = case
        folder = output / (at or "extension") / name
        command = ["node", suite, kind, *arguments(name), "--scenario", name, "--spec-version", at or NEWEST, "-o", str(folder)]
        ran = subprocess.run(command + ([] if at else ["--force"]), capture_output=True, text=True)
        checks = [check for file in folder.glob("**/checks.json") for check in json.loads(file.read_text())]
        passed = sum(check["status"] == "SUCCESS" for check in checks)
        bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
        if ran.returncode == 0 and passed and not bad:
            return passed, None
        what = "".join(f"  {check['id']}: {check.get('errorMessage') or check['description']}\n" for check in bad)
        return passed, f"{at} {name}: {passed} passed\n{what or ran.stdout + ran.stderr}"

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, [case for case in cases if case[0] not in alone]))
    results += [run(case) for case in cases if case[0] in alone]
    failures = [failure for _, failure in results if failure] + [f"unknown: {name}\n" for name in sorted(unknown)]
    print("".join(failures), end="")
    print(f"{len(results)} scenarios, {sum(passed for passed, _ in results)} checks passed, {len(left_out)} left out")
    sys.exit(1 if failures else 0)
