// Tasks with the official TypeScript client, version 1, over HTTP and stdio.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const RELATED = "io.modelcontextprotocol/related-task";
const connections = [
  () => new StreamableHTTPClientTransport(new URL(process.env.URL)),
  () => new StdioClientTransport({ command: process.env.FIXTURE, args: [] }),
];

for (const connection of connections) {
  const asked = [];
  let answer;
  const connect = async () => {
    const capabilities = { elicitation: { form: {} } };
    const client = new Client({ name: "v1", version: "1.0.0" }, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params);
      return answer(params);
    });
    await client.connect(connection());
    await client.listTools();
    return client;
  };
  // Returns the statuses of a task, and the last message of the client.
  const run = async (client, name, args, options) => {
    const statuses = [];
    const params = { name, arguments: args };
    for await (const message of client.experimental.tasks.callToolStream(params, undefined, options)) {
      if (message.task) statuses.push(message.task);
      else return { statuses, last: message };
    }
  };
  const client = await connect();
  const tasks = client.experimental.tasks;
  assert.deepEqual(client.getServerCapabilities().tasks.requests, { tools: { call: {} } });

  // The client runs each tool that supports tasks as one.
  const required = await run(client, "only_as_a_task", { ms: 300 });
  assert.equal(required.last.type, "result");
  assert.deepEqual(required.last.result.content, [{ type: "text", text: "300" }]);
  assert.deepEqual(required.last.result.structuredContent, { result: 300 });
  assert.equal(required.last.result._meta[RELATED].taskId, required.statuses[0].taskId);
  assert.deepEqual(required.statuses.map((task) => task.status), ["working", "working", "completed"]);
  const optional = await run(client, "slow_compute", { seconds: 0.1, label: "x" }, { task: { ttl: 60000 } });
  assert.equal(optional.last.result.content[0].text, "x after 0.1 s");
  assert.equal(optional.statuses[0].ttl, 60000);
  const ordinary = await client.callTool({ name: "slow_compute", arguments: { seconds: 0.3 } });
  assert.equal(ordinary.content[0].text, "computed after 0.3 s");
  await assert.rejects(client.callTool({ name: "only_as_a_task", arguments: { ms: 1 } }), { code: -32600 });
  const forbidden = await run(client, "greet", { name: "x" }, { task: {} });
  assert.equal(forbidden.last.error.code, -32601, "the tool cannot be called as a task");

  // The client does not request the result of a failed task, so its message has the reason.
  const failed = await run(client, "failing_job", {});
  assert.equal(failed.last.type, "error");
  const end = failed.statuses.at(-1);
  assert.deepEqual([end.status, end.statusMessage], ["failed", "failing_job: the job has failed"]);
  const result = await tasks.getTaskResult(end.taskId, CallToolResultSchema);
  assert.equal(result.isError, true);
  assert.equal(result.content[0].text, "failing_job: the job has failed");
  const broken = await run(client, "protocol_error_job", {}, { task: {} });
  assert.equal(broken.last.type, "error");
  assert.equal(broken.statuses.at(-1).status, "failed");
  await assert.rejects(client.callTool({ name: "protocol_error_job" }), { code: -32021 });

  // The user is asked while the client waits for the result.
  answer = () => ({ action: "accept", content: { confirm: true } });
  const deleted = await run(client, "confirm_delete", { filename: "a.txt" }, { task: {} });
  assert.equal(deleted.last.result.content[0].text, "a.txt deleted");
  assert.deepEqual(asked.map((params) => params.message), ["Delete a.txt?"], "nothing is asked twice");
  assert.equal(asked[0]._meta[RELATED].taskId, deleted.statuses[0].taskId);
  assert.ok(deleted.statuses.some((task) => task.status === "input_required"));
  answer = ({ message }) => ({ action: "accept", content: { name: message.includes("first") ? "Ada" : "Bob" } });
  const both = await run(client, "multi_input", {}, { task: {} });
  assert.equal(both.last.result.content[0].text, "Ada and Bob");
  answer = () => ({ action: "decline" });
  const declined = await run(client, "test_tool_with_task", {});
  assert.equal(declined.last.result.isError, true);
  assert.match(declined.last.result.content[0].text, /the user declined/);

  // A task that is cancelled stays so.
  const stream = tasks.callToolStream({ name: "only_as_a_task", arguments: { ms: 60000 } });
  const { taskId } = (await stream.next()).value.task;
  assert.equal((await tasks.cancelTask(taskId)).status, "cancelled");
  assert.equal((await stream.next()).value.task.status, "cancelled");
  assert.match((await stream.next()).value.error.message, /was cancelled/);
  assert.equal((await tasks.getTask(taskId)).status, "cancelled");
  await assert.rejects(tasks.cancelTask(taskId), { code: -32602 });
  await assert.rejects(tasks.getTask("0123456789"), { code: -32602 });

  // Another connection finds the task. A server over stdio ends with its connection, and so do its tasks.
  const left = tasks.callToolStream({ name: "only_as_a_task", arguments: { ms: 700 } });
  const created = (await left.next()).value.task;
  if (connection === connections[0]) {
    await client.close();
    const again = await connect();
    assert.equal((await again.experimental.tasks.getTask(created.taskId)).status, "working");
    const late = await again.experimental.tasks.getTaskResult(created.taskId, CallToolResultSchema);
    assert.deepEqual(late.structuredContent, { result: 700 });
    await again.close();
  }
  await client.close();
}
console.log("over HTTP and stdio");
