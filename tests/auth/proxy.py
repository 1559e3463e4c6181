"""The command line logs in, and its proxy calls tools with tokens that it renews: `python proxy.py PROGRAM FOLDER`."""

import http.cookiejar
import json
import os
import re
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ISSUER, RESOURCE = os.environ["ISSUER"], os.environ["RESOURCE"]
PROGRAM, FOLDER = sys.argv[1], Path(sys.argv[2])
LOGINS = FOLDER / "logins"
ENVIRONMENT = os.environ | {"LOGIN_DIRECTORY": str(LOGINS)}
CONFIGURATION = FOLDER / "mcp.json"
CONFIGURATION.write_text(json.dumps({"mcpServers": {"notes": {"url": RESOURCE}}}))


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def browse(url):
    """Follows the redirects of the authorization server, whose user approves everything, up to the last one."""
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    browser = urllib.request.build_opener(NoRedirect, cookies)
    while not url.startswith("http://127.0.0.1") or "/callback?" not in url:
        try:
            page = browser.open(url, timeout=30)
            raise AssertionError(f"{url}: {page.status} {page.read().decode()}")
        except urllib.error.HTTPError as error:
            assert "location" in error.headers, f"{url}: {error.code} {error.read().decode()}"
            url = urllib.parse.urljoin(url, error.headers["location"])
    return url


def command(*arguments):
    return [PROGRAM, *arguments, "--proxy", str(CONFIGURATION)]


def run(*arguments):
    return subprocess.run(command(*arguments), env=ENVIRONMENT, capture_output=True, text=True, timeout=60)


def login():
    """Logs in with a browser on another machine. Returns the scopes of the request."""
    process = subprocess.Popen(command("login", "notes", "--no-browser"), env=ENVIRONMENT, text=True,
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    url = next(line.strip() for line in process.stderr if line.startswith("http"))
    _, printed = process.communicate("mistyped\n" + browse(url) + "\n", timeout=60)
    assert "this is not the redirect of this login" in printed, printed
    assert process.returncode == 0 and f"logged in at {ISSUER}" in printed, printed
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    assert query["resource"] == [RESOURCE] and query["code_challenge_method"] == ["S256"], url
    return set(query["scope"][0].split())


def control():
    with urllib.request.urlopen(f"{ISSUER}/control", timeout=30) as response:
        return json.load(response)


def post(url, message):
    headers = {"content-type": "application/json", "accept": "application/json", "mcp-protocol-version": "2025-11-25"}
    request = urllib.request.Request(url, data=json.dumps(message).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["result"]


def until(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")


approvals = control()["approvals"]

# Without a login, the proxy names the command.
log = open(FOLDER / "proxy-log", "w+")
serving = subprocess.Popen(command("serve", "--http", "127.0.0.1:0"), env=ENVIRONMENT, stderr=log)
try:
    text = lambda: (FOLDER / "proxy-log").read_text()
    until(lambda: "serving at" in text())
    url = re.search(r"serving at (\S+)", text())[1]
    names = lambda: [tool["name"] for tool in post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["tools"]]
    call = lambda name, arguments: post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                              "params": {"name": name, "arguments": arguments}})
    until(lambda: "requires a login; run `" in text())
    assert f"login notes --proxy {CONFIGURATION}`" in text(), text()
    assert "notes_read" not in names()
    status = subprocess.run([PROGRAM, "status", url.removesuffix("/mcp")], env=ENVIRONMENT, capture_output=True, text=True)
    assert status.returncode == 1 and "requires a login" in status.stdout, status
    listed = run("login", "--json")
    assert listed.returncode == 0 and json.loads(listed.stdout) == [{"name": "notes", "login": None}], listed

    # A login is noticed by the running proxy.
    assert login() == {"notes:read", "offline_access"}
    until(lambda: "notes_read" in names())
    assert not call("notes_read", {}).get("isError")
    [login_state] = json.loads(run("login", "--json").stdout)
    assert login_state["login"]["issuer"] == ISSUER and login_state["login"]["valid"], login_state

    # A tool that requires more scopes names the command, and works after another login. The old scopes are kept.
    answer = call("notes_append", {"line": "proxy"})
    assert answer["isError"] and "requires a login with the scopes" in answer["content"][0]["text"], answer
    listed = run("login")
    assert listed.returncode == 1 and "another login is required" in listed.stdout, listed
    assert login() == {"notes:read", "notes:write", "offline_access"}
    # The login is noticed with a later call, if its token arrives after this one.
    until(lambda: not call("notes_append", {"line": "proxy"}).get("isError"))
    lines = json.loads(call("notes_read", {})["content"][0]["text"])
    assert lines[-1] == "ada: proxy", lines

    # The tokens of this client expire after three seconds. Each renewal replaces the refresh token.
    assert control()["approvals"] == approvals + 2
    before = control()["refreshes"]
    for _ in range(3):
        time.sleep(3)
        assert not call("notes_append", {"line": "later"}).get("isError")
    assert control()["refreshes"] >= before + 3, control()
    assert control()["approvals"] == approvals + 2, control()

    # The files are those of the user, and contain the only secrets.
    assert stat.S_IMODE(LOGINS.stat().st_mode) == 0o700
    record = None
    for file in LOGINS.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        if file.suffix == ".json":
            record = json.loads(file.read_text())
    assert record["resource"] == RESOURCE and record["issuer"] == ISSUER
    for secret in [record["access_token"], record["refresh_token"]]:
        assert secret not in text() and secret not in status.stdout

    # After a logout, the proxy has the token until it expires.
    assert run("logout", "notes").returncode == 0
    assert "there was no login" in run("logout", "notes").stderr
    until(lambda: call("notes_read", {}).get("isError"))
finally:
    serving.terminate()
    assert serving.wait(timeout=30) == 0
print("the proxy logged in twice, and renewed its tokens")
