"""Checks that a program has the options in the arguments of deployments: `arguments.py PROGRAM FILE...`.

A file is a manifest of Kubernetes, a unit of systemd, or a Containerfile.
"""

import json
import subprocess
import sys

import yaml


def commands(file):
    """Returns the arguments with which a file starts the program."""
    lines = open(file).read().splitlines()
    if file.endswith(".yaml"):
        kinds = ("Deployment", "StatefulSet")
        documents = [document for document in yaml.safe_load_all("\n".join(lines)) if document["kind"] in kinds]
        containers = [document["spec"]["template"]["spec"]["containers"] for document in documents]
        return [container["args"] for group in containers for container in group]
    if file.endswith(".service"):
        return [line.split()[1:] for line in lines if line.startswith("ExecStart=")]
    return [json.loads(line.removeprefix("CMD ")) for line in lines if line.startswith("CMD ")]


program, *files = sys.argv[1:]
for file in files:
    found = commands(file)
    assert found, file
    for command, *arguments in found:
        options = {word for word in arguments if word.startswith("--")}
        text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
        known = {word.rstrip(",") for word in text.split() if word.startswith("--")}
        assert options <= known, f"{file}: {command} has no {options - known}"
        print(f"{file}: {command} has {', '.join(sorted(options))}")
