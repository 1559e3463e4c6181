"""Every scenario of the conformance suite for a client, at each revision that has it.
`python conformance_client.py SUITE CLIENT FOLDER`"""

import sys
from pathlib import Path

from conformance_suite import check_all

EXTENSION = "an extension that the client does not have"
SKILL = "the host that reads a skill verifies it; this client passes its files on"

# The scenarios that are not run, with their reasons.
LEFT_OUT = {
    # `crates/mcp-client/tests/it/oauth/client_credentials.rs` covers the grant.
    "auth/client-credentials-basic": "its context has no issuer, without which the client sends its secret nowhere",
    "auth/client-credentials-jwt": EXTENSION,
    "auth/enterprise-managed-authorization": EXTENSION,
    "auth/dpop": EXTENSION,
    "auth/dpop-nonce": EXTENSION,
    "auth/wif-jwt-bearer": EXTENSION,
    "auth/2025-03-26-oauth-endpoint-fallback": "without any metadata, PKCE cannot be verified",
    "sep-2640-client-no-prefetch": SKILL,
    "sep-2640-client-verify-digest": SKILL,
    "sep-2640-client-verify-size": SKILL,
    "sep-2640-client-verify-frontmatter": SKILL,
}

check_all(sys.argv[1], "client", lambda _: ["--command", sys.argv[2]], Path(sys.argv[3]) / "client", LEFT_OUT)
