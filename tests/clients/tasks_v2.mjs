// Tasks with the official package for requesters of tasks, on the TypeScript client of version 2, in both eras.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";

const MODERN = "2026-07-28";
const clientInfo = { name: "v2", version: "1.0.0" };
const capabilities = { elicitation: { form: {} } };
const modes = { legacy: "legacy", modern: { pin: MODERN } };
const transports = {
  http: () => new StreamableHTTPClientTransport(new URL(process.env.URL)),
  stdio: () => new StdioClientTransport({ command: process.env.FIXTURE, args: [] }),
};

// The client cannot read results with the shape of a task, so the package leaves it to programs to send its requests
// past the client.
function dispatch(transport) {
  const open = new Map();
  const received = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = message.method === undefined ? open.get(message.id) : undefined;
    if (!settle) return received.call(transport, message, extra);
    open.delete(message.id);
    const { error, result } = message;
    settle(error ? { kind: "error", error } : { kind: "result", result });
  };
  let n = 0;
  return (request, options) =>
    new Promise((resolve, reject) => {
      const id = `task-${++n}`;
      open.set(id, resolve);
      const headers = options?.context?.headers;
      transport.send({ jsonrpc: "2.0", id, ...request }, headers && { headers }).catch(reject);
    });
}

async function connect(era, transport, onInputRequest) {
  const client = new Client(clientInfo, { versionNegotiation: { mode: modes[era] }, capabilities });
  await client.connect(transport());
  const framing = { protocolVersion: MODERN, clientInfo, clientCapabilities: capabilities };
  const raw = { rawDispatch: dispatch(client.transport), v2RequestFraming: framing };
  const errors = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: "fixture",
    onInputRequest,
    onError: (error) => errors.push(error),
    ...(era === "modern" ? raw : {}),
  });
  const close = async () => {
    await session.close();
    await client.close();
    assert.deepEqual(errors, []);
  };
  return { session, close };
}

// Returns the statuses of a task, without repetitions, and its outcome.
async function settle(execution) {
  const seen = [];
  const { outcome, lastTask } = await execution.settle({
    onEvent: ({ task }) => task && seen.at(-1) !== task.status && seen.push(task.status),
  });
  return { seen, outcome, lastTask };
}

async function content(era, kind, transport) {
  const here = `${era}, ${kind}`;
  const asked = [];
  let answer;
  const user = (request, context) => {
    asked.push({ message: request.params.message, context });
    return answer(request.params.message);
  };
  const { session, close } = await connect(era, transport, user);
  const call = (name, args, task = {}) => session.callTool(name, args, { task });
  const run = async (name, args, task) => settle(await call(name, args, task));
  const { inventory, execution, cancellation, inputResponses } = session.capabilities;
  assert.deepEqual({ execution, cancellation }, { execution: true, cancellation: true }, here);
  assert.equal(inputResponses, era === "modern", here);
  assert.equal(inventory, "known-handles", here);

  const required = await run("only_as_a_task", { ms: 300 }, { preference: "require" });
  assert.deepEqual(resultFromTaskOutcome(required.outcome).content, [{ type: "text", text: "300" }], here);
  assert.equal(required.lastTask.status, "completed", here);
  assert.ok(required.lastTask.retentionMs >= 300_000, here);
  const optional = await run("slow_compute", { seconds: 0.3, label: "x" }, { preference: "prefer", retentionMs: 60_000 });
  assert.equal(resultFromTaskOutcome(optional.outcome).content[0].text, "x after 0.3 s", here);
  assert.equal(optional.lastTask.status, "completed", here);
  // Quick calls, and tools without support for tasks, have their results at once.
  const quick = await call("greet", { name: "Ada" });
  assert.equal(quick.kind, "immediate", here);
  assert.equal(resultFromTaskOutcome(await quick.result()).content[0].text, "Hello, Ada!", here);

  // A tool that has failed, which is a failed task up to 2025-11-25.
  const failed = await run("failing_job", {});
  if (era === "legacy") {
    assert.equal(failed.outcome.status, "failed", here);
    assert.equal(failed.outcome.error.message, "failing_job: the job has failed", here);
  } else {
    const result = resultFromTaskOutcome(failed.outcome);
    assert.deepEqual([result.isError, result.content[0].text], [true, "failing_job: the job has failed"], here);
  }
  const broken = await run("protocol_error_job", {}, { preference: "prefer" });
  assert.equal(broken.outcome.status, "failed", here);
  assert.match(broken.outcome.error.message, /the client cannot do this/, here);
  assert.equal(broken.outcome.error.code, era === "modern" ? -32021 : undefined, here);

  // Questions while a task runs. Up to 2025-11-25, the package polls only, and never waits for the result.
  answer = () => ({ action: "accept", content: { confirm: true } });
  const deleted = await run("confirm_delete", { filename: "a.txt" }, { preference: "prefer" });
  assert.equal(resultFromTaskOutcome(deleted.outcome).content[0].text, "a.txt deleted", here);
  assert.deepEqual(asked.map(({ message }) => message), ["Delete a.txt?"], here);
  assert.equal(asked[0].context.scope, "task", here);
  assert.ok(deleted.seen.includes("input_required"), here);
  answer = (message) => ({ action: "accept", content: { name: message.includes("first") ? "Ada" : "Bob" } });
  const both = await run("multi_input", {}, { preference: "prefer" });
  assert.equal(resultFromTaskOutcome(both.outcome).content[0].text, "Ada and Bob", here);
  answer = () => ({ action: "decline" });
  const declined = await run("confirm_delete", { filename: "a.txt" }, { preference: "prefer" });
  const reason = declined.outcome.error?.message ?? declined.outcome.result.content[0].text;
  assert.match(reason, /the user declined/, here);
  assert.equal(asked.length, 4, `${here}: nothing is asked twice`);

  // The question of `test_tool_with_task` opens before the call becomes a task, if the server decides.
  answer = () => ({ action: "accept", content: { name: "Ada" } });
  const mixed = await run("test_tool_with_task", {});
  assert.equal(resultFromTaskOutcome(mixed.outcome).content[0].text, "Task completed for Ada", here);
  assert.equal(asked.at(-1).context.scope, era === "modern" ? "request" : "task", here);

  const running = await call("only_as_a_task", { ms: 60_000 });
  await running.cancel();
  assert.equal((await running.result()).status, "cancelled", here);
  const controller = session.task(running.handle.taskId);
  while ((await controller.snapshot()).status === "working");
  assert.equal((await controller.snapshot()).status, "cancelled", here);
  assert.equal((await controller.result()).status, "cancelled", here);
  await assert.rejects(session.task("0123456789").snapshot(), { code: -32602 }, here);

  // Another connection takes a task over. A server over stdio ends with its connection, and so do its tasks.
  if (kind === "http") {
    let reference;
    const left = await call("only_as_a_task", { ms: 700 });
    await left.handoff((it) => void (reference = JSON.stringify(it)));
    await close();
    const again = await connect(era, transport, user);
    const resumed = await settle(await again.session.resumeTask(JSON.parse(reference)));
    assert.equal(resultFromTaskOutcome(resumed.outcome).content[0].text, "700", here);
    await again.close();
  } else {
    await close();
  }
}

// The package waits for a second before each poll, so all of them run at the same time.
const all = Object.keys(modes).flatMap((era) => Object.entries(transports).map((entry) => [era, ...entry]));
await Promise.all(all.map((one) => content(...one)));
console.log("both eras, over HTTP and stdio");
