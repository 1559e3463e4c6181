"""Checks that the haproxy of Kubernetes has the settings of `deploy/haproxy.cfg`, and that its servers are pods and services of
`deploy/k8s/mcp.yaml`: `haproxy.py CONFIGURATION MANIFEST REPLICAS`.
"""

import sys

import yaml


def settings(text):
    """Returns the lines that are no comments."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


configuration, manifest, replicas = sys.argv[1:]
expected = open(configuration).read().replace("bind 127.0.0.1:8080", "bind :8080")
for nth, name in enumerate("abc"):
    expected = expected.replace(f"server {name} 127.0.0.1:800{nth + 1}", f"server my-tools-{nth} my-tools-{nth}:8000")
found = next(document for document in yaml.safe_load_all(open(manifest)) if document["kind"] == "ConfigMap")
assert settings(found["data"]["haproxy.cfg"]) == settings(expected), f"{manifest} differs from {configuration}"

documents = list(yaml.safe_load_all(open(replicas)))
pods = next(document for document in documents if document["kind"] == "StatefulSet")
names = [f"{pods['metadata']['name']}-{nth}" for nth in range(pods["spec"]["replicas"])]
label = "statefulset.kubernetes.io/pod-name"
services = [it["spec"]["selector"].get(label) for it in documents if it["kind"] == "Service"]
assert [service for service in services if service] == names, services
servers = [line.split()[1] for line in settings(expected) if line.startswith("server ")]
assert servers == 2 * names, servers
print(f"{manifest}: haproxy has the servers {', '.join(names)}")
