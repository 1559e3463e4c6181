"""Tokens of a real authorization server: audiences, scopes and the rotation of its key."""

import base64
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

ISSUER, RESOURCE = os.environ["ISSUER"], os.environ["RESOURCE"]


def request(url, body=None, headers=None):
    """Returns the status, the headers and the body."""
    data = body.encode() if body is not None else None
    sent = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(sent, timeout=30) as response:
            return response.status, response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def token(scope, resource=RESOURCE):
    form = {"grant_type": "client_credentials", "scope": scope}
    if resource:
        form["resource"] = resource
    secret = base64.b64encode(b"service:s3cr3t").decode()
    status, _, body = request(f"{ISSUER}/token", urllib.parse.urlencode(form), {
        "authorization": f"Basic {secret}",
        "content-type": "application/x-www-form-urlencoded",
    })
    assert status == 200, body
    return json.loads(body)["access_token"]


def call(bearer, tool, arguments, era):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"content-type": "application/json", "accept": "application/json", "mcp-protocol-version": era}
    if era == "2026-07-28":
        message["params"]["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers |= {"mcp-method": "tools/call", "mcp-name": tool}
    if bearer:
        headers["authorization"] = f"Bearer {bearer}"
    status, received, body = request(RESOURCE, json.dumps(message), headers)
    return status, received.get("www-authenticate", ""), json.loads(body)


def control():
    return json.loads(request(f"{ISSUER}/control")[2])


def parameters(challenge):
    return dict(re.findall(r'(\w+)="([^"]*)"', challenge))


for era in ["2025-11-25", "2026-07-28"]:
    # Without a token, the challenge leads to the authorization server.
    status, challenge, _ = call(None, "read", {}, era)
    assert status == 401 and parameters(challenge)["scope"] == "notes:read", challenge
    status, _, metadata = request(parameters(challenge)["resource_metadata"])
    assert status == 200
    metadata = json.loads(metadata)
    assert metadata["resource"] == RESOURCE and metadata["authorization_servers"] == [ISSUER], metadata

    # A token for this server.
    bearer = token("notes:read")
    header = json.loads(base64.urlsafe_b64decode(bearer.split(".")[0] + "=="))
    assert header["typ"] == "at+jwt", header
    status, _, body = call(bearer, "read", {}, era)
    assert status == 200 and "error" not in body, body

    # Step-up: the challenge names the scopes with which the call succeeds.
    status, challenge, _ = call(bearer, "append", {"line": era}, era)
    wanted = parameters(challenge)
    assert status == 403 and wanted["error"] == "insufficient_scope", challenge
    assert wanted["scope"].split() == ["notes:read", "notes:write"], challenge
    status, _, body = call(token(wanted["scope"]), "append", {"line": era}, era)
    assert status == 200 and not body["result"].get("isError"), body

    # A token of the same issuer for another server, and one that is not a JWT.
    for wrong in [token("notes:read", "https://other.example/mcp"), "opaque"]:
        status, challenge, _ = call(wrong, "read", {}, era)
        assert status == 401 and parameters(challenge)["error"] == "invalid_token", challenge

status, _, body = call(bearer, "read", {}, era)
lines = json.loads(body["result"]["content"][0]["text"])
assert lines == ["service: 2025-11-25", "service: 2026-07-28"], lines

# A new key replaces the old one. Its first token causes the only request for keys.
before = control()["keys"]
assert request(f"{ISSUER}/control/rotate", "")[0] == 200
assert call(bearer, "read", {}, era)[0] == 200, "the old key is cached"
for _ in range(5):
    assert call(token("notes:read"), "read", {}, era)[0] == 200
assert control()["keys"] == before + 1, control()
for _ in range(5):
    assert call(bearer, "read", {}, era)[0] == 401, "the old key was removed"
assert control()["keys"] == before + 1, control()
print("tokens of oidc-provider: audience, step-up, rotation")
