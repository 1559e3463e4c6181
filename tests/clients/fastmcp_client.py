"""fastmcp's command line, over HTTP and stdio."""

import json
import os
import subprocess

URL, FIXTURE = os.environ["URL"], os.environ["FIXTURE"]


def fastmcp(*arguments, exits=0):
    ran = subprocess.run(["fastmcp", *arguments], capture_output=True, text=True)
    assert ran.returncode == exits, f"{arguments}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


for server in ([URL], ["--command", FIXTURE]):
    tools = json.loads(fastmcp("list", *server, "--json"))["tools"]
    assert "math_add" in [tool["name"] for tool in tools], tools
result = json.loads(fastmcp("call", URL, "math_add", "a=40", "b=2", "--json"))
assert result["structured_content"] == {"sum": 42}, result
fastmcp("call", URL, "math_add", "a=x", "--json", exits=1)
print("over HTTP and stdio")
