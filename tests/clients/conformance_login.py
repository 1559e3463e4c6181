"""Every scored scenario of the conformance suite about logins of a client, at both revisions: no check may fail, and some
must pass. `python conformance_login.py SUITE CLIENT FOLDER`"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The scenarios that are not here are not scored, with these reasons:
# - client-credentials-basic: its context has no issuer, without which the client sends its secret nowhere.
#   `crates/mcp-client/tests/it/oauth/client_credentials.rs` covers the grant.
# - client-credentials-jwt, enterprise-managed-authorization, dpop, dpop-nonce, wif-jwt-bearer: extensions that the client
#   does not have.
# - 2025-03-26-oauth-endpoint-fallback: without any metadata, PKCE cannot be verified.
BOTH = [
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "scope-from-www-authenticate",
    "scope-from-scopes-supported",
    "scope-omitted-when-undefined",
    "scope-step-up",
    "scope-retry-limit",
    "token-endpoint-auth-basic",
    "token-endpoint-auth-post",
    "token-endpoint-auth-none",
    "pre-registration",
]
SCENARIOS = {
    "2025-03-26": ["2025-03-26-oauth-metadata-backcompat"],
    "2025-11-25": BOTH,
    "2026-07-28": [
        "resource-mismatch",
        "offline-access-scope",
        "offline-access-not-supported",
        "authorization-server-migration",
        "iss-supported",
        "iss-not-advertised",
        "iss-supported-missing",
        "iss-wrong-issuer",
        "iss-unexpected",
        "iss-normalized",
        "metadata-issuer-mismatch",
        *BOTH,
    ],
}


def run(case):
    revision, scenario = case
    output = Path(sys.argv[3]) / "login" / revision / scenario
    command = ["node", sys.argv[1], "client", "--command", sys.argv[2], "--scenario", f"auth/{scenario}"]
    command += ["--spec-version", revision, "-o", str(output)]
    ran = subprocess.run(command, capture_output=True, text=True)
    checks = [check for file in output.glob("**/checks.json") for check in json.loads(file.read_text())]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    if ran.returncode != 0 or not passed or bad:
        what = "".join(f"  {check['id']}: {check.get('errorMessage') or check['description']}\n" for check in bad)
        return passed, f"{revision} {scenario}: {passed} passed\n{what or ran.stdout + ran.stderr}"
    return passed, None


cases = [(revision, scenario) for revision, scenarios in SCENARIOS.items() for scenario in scenarios]
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(run, cases))
failures = [failure for _, failure in results if failure]
print("".join(failures), end="")
print(f"{len(results)} scenarios, {sum(passed for passed, _ in results)} checks passed")
sys.exit(1 if failures else 0)
