"""A caller and a worker that use only the official Python client of NATS.

`peer.py call URL TOOL ARGUMENTS` finds the workers by the service API of NATS, calls a tool of theirs, and prints the reply.
`peer.py serve URL` serves a tool until its input ends.
"""

import asyncio
import hashlib
import json
import sys
import time

import nats
import nats.micro


async def call(url, tool, arguments):
    client = await nats.connect(url)
    # The verbs of services have one answer for each worker.
    inbox = client.new_inbox()
    answers = await client.subscribe(inbox)
    found = []
    for verb in ["PING", "INFO", "STATS"]:
        await client.publish(f"$SRV.{verb}.toolkit", b"", reply=inbox)
        answer = json.loads((await answers.next_msg(timeout=5)).data)
        assert answer["type"] == f"io.nats.micro.v1.{verb.lower()}_response", answer
        found.append(answer)
    ping, info, stats = found
    assert ping["id"] == info["id"] == stats["id"] and info["name"] == "toolkit", found
    endpoint = info["endpoints"][0]
    assert endpoint["queue_group"] == "q" and stats["endpoints"][0]["num_errors"] == 0, found
    subject = endpoint["subject"].removesuffix(">") + tool
    reply = await client.request(subject, arguments.encode(), timeout=5)
    print(json.dumps({"headers": dict(reply.headers or {}), "body": json.loads(reply.data)}))
    await client.close()


async def serve(url):
    client = await nats.connect(url)
    definition = json.dumps({
        "name": "shout",
        "namespace": "python",
        "description": "Writes a text in capital letters.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "string"},
    })
    def digest_of(lines):
        return hashlib.sha256(lines.encode()).hexdigest()[:32]

    # The index lists the digest of each namespace, and its digest is that of all definitions.
    definitions = definition + "\n"
    index = f"python 1 {digest_of(definitions)}\n"
    digest = digest_of(index)

    async def shout(request):
        await request.respond(json.dumps(json.loads(request.data)["text"].upper()).encode())

    async def tools(message):
        page, _, namespace = message.data.decode().partition(" ")
        await message.respond((definitions if namespace else index).encode())

    await client.subscribe(f"tk.tools.{digest}", queue="q", cb=tools)
    started = str(time.time_ns() // 1_000_000)
    metadata = {"protocol": "1", "digest": digest, "started": started}
    service = await nats.micro.add_service(client, name="toolkit", version="1.0.0", metadata=metadata)
    await service.add_endpoint(name="shout", subject=f"tk.call.{digest}.python.shout._", queue_group="q", handler=shout)
    await client.publish("tk.event.join", json.dumps({"id": service.id, "metadata": metadata}).encode())
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await client.close()


asyncio.run(call(*sys.argv[2:]) if sys.argv[1] == "call" else serve(sys.argv[2]))
