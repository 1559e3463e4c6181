"""Lists the tools of freshly installed public servers: `servers.py PLACE`.

Installs the servers of `servers.json` in their newest versions into the folder, starts each over stdio, and writes its
`tools/list` to `PLACE/shared/data/manifests`. Fails if fewer than 15 servers list tools."""

import json
import os
import pathlib
import queue
import subprocess
import sys
import threading

PLACE = pathlib.Path(sys.argv[1]).absolute()
SERVERS = json.loads(pathlib.Path(__file__).with_name("servers.json").read_text())
LEAST = 15
# No server has a credential: those that need one to list tools get a text in its place.
ENV = {**os.environ, "PATH": ":".join([f"{PLACE}/node_modules/.bin", *(f"{PLACE}/venvs/{name}/bin" for name in SERVERS["pypi"]),
                          os.environ["PATH"]]),
       **{key: "none" for key in ("TAVILY_API_KEY", "FIRECRAWL_API_KEY", "EXA_API_KEY", "NOTION_TOKEN",
                                  "SENTRY_ACCESS_TOKEN", "JIRA_PERSONAL_TOKEN", "CONFLUENCE_PERSONAL_TOKEN")},
       "JIRA_URL": "http://127.0.0.1:9", "CONFLUENCE_URL": "http://127.0.0.1:9"}


def install():
    (PLACE / "package.json").write_text('{"private": true}')
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run([*npm, *(f"{name}@latest" for name in SERVERS["npm"])], cwd=PLACE, check=True)
    # In environments of their own, since they require different versions of the same packages.
    for name in SERVERS["pypi"]:
        place = PLACE / "venvs" / name
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", name]
        if subprocess.run(pip).returncode:
            print(f"  {name} cannot be installed")


def tools(command):
    """Returns the tools that a server lists, with 20 seconds for each answer."""
    server = subprocess.Popen(command, cwd=PLACE, env=ENV, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    lines = queue.Queue()

    def read():
        for line in server.stdout:
            lines.put(line)
        lines.put("")
    threading.Thread(target=read, daemon=True).start()

    def ask(number, method, params):
        send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while line := lines.get(timeout=20):
            message = json.loads(line) if line.lstrip().startswith("{") else {}
            if message.get("id") == number and "method" not in message:
                return message["result"]
        raise RuntimeError("the server ended")

    def send(message):
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()

    try:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "list", "version": "1"}}
        ask(1, "initialize", client)
        send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed, cursor, number = [], None, 2
        while True:
            page = ask(number, "tools/list", {"cursor": cursor} if cursor else {})
            listed += page["tools"]
            cursor, number = page.get("nextCursor"), number + 1
            if not cursor or number > 20:
                return listed
    finally:
        server.kill()
        server.wait()


folder = PLACE / "shared/data/manifests"
folder.mkdir(parents=True, exist_ok=True)
if "--installed" not in sys.argv:
    install()
n_servers = n_tools = 0
for name, command in {**SERVERS["npm"], **SERVERS["pypi"]}.items():
    try:
        listed = tools(command)
    except Exception as error:
        print(f"  {name}: {type(error).__name__} {error}")
        continue
    n_servers, n_tools = n_servers + bool(listed), n_tools + len(listed)
    (folder / f"{name.replace('/', '_')}.json").write_text(json.dumps({"tools": listed}))
print(f"{n_tools} tools of {n_servers} servers")
sys.exit(n_servers < LEAST)
