"""Checks that a program has the options in the arguments of manifests: `arguments.py PROGRAM FILE...`."""

import subprocess
import sys

import yaml

program, *files = sys.argv[1:]
for file in files:
    documents = [document for document in yaml.safe_load_all(open(file)) if document["kind"] == "Deployment"]
    assert documents, file
    for document in documents:
        for container in document["spec"]["template"]["spec"]["containers"]:
            command, *arguments = container["args"]
            options = {word for word in arguments if word.startswith("--")}
            text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
            known = {word.rstrip(",") for word in text.split() if word.startswith("--")}
            assert options <= known, f"{file}: {command} has no {options - known}"
            print(f"{file}: {command} has {', '.join(sorted(options))}")
