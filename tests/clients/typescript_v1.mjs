// The official TypeScript client, version 1, over HTTP and stdio.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const connections = [
  () => new StreamableHTTPClientTransport(new URL(process.env.URL)),
  () => new StdioClientTransport({ command: process.env.FIXTURE, args: [] }),
];
for (const connection of connections) {
  const transport = connection();
  const client = new Client({ name: "v1", version: "1.0.0" });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.equal(tools.find((tool) => tool.name === "math_add")._meta["rs.toolkit/tool"].id, "math:add:1.0.0");

  const sum = await client.callTool({ name: "math_add", arguments: { a: 40, b: 2 } });
  assert.deepEqual(sum.structuredContent, { sum: 42 });
  const mixed = await client.callTool({ name: "test_multiple_content_types" });
  assert.deepEqual(mixed.content.map((block) => block.type), ["text", "image", "resource"]);
  const refused = await client.callTool({ name: "math_add", arguments: { a: "x", c: 1 } });
  assert.equal(refused.isError, true);
  for (const place of ["/a", "/b", "/c"]) assert.ok(refused.content[0].text.includes(place), refused.content[0].text);
  await assert.rejects(client.callTool({ name: "no_such_tool" }), { code: -32602 });

  const { prompts } = await client.listPrompts();
  assert.equal(prompts.find((prompt) => prompt.name === "code_review").title, "Review a change");
  const { messages } = await client.getPrompt({ name: "test_prompt_with_image" });
  assert.deepEqual(messages.map((message) => message.content.type), ["image", "text"]);
  await assert.rejects(client.getPrompt({ name: "code_review", arguments: { rounds: "two" } }), { code: -32602 });
  const ref = { type: "ref/prompt", name: "code_review" };
  const { completion } = await client.complete({ ref, argument: { name: "style", value: "" } });
  assert.deepEqual(completion.values, ["brief", "thorough"]);

  const reports = [];
  await client.callTool({ name: "test_tool_with_progress" }, undefined, { onprogress: (p) => reports.push(p.progress) });
  assert.deepEqual(reports, [0, 50, 100]);

  const abort = new AbortController();
  setTimeout(() => abort.abort(), 100);
  await assert.rejects(client.callTool({ name: "sleep", arguments: { ms: 60000 } }, undefined, { signal: abort.signal }));
  await client.ping();

  // Told of a change, over the stream that the client opened by itself.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await client.callTool({ name: "test_trigger_tool_change" });
  for (let i = 0; i < 50 && !changes; i++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(changes > 0, "the client was told of the change");
  await client.close();

  // The user is asked while the call waits.
  const asked = [];
  const answers = [{ action: "accept", content: { ok: true } }, { action: "decline" }, { action: "cancel" }];
  const user = new Client({ name: "v1", version: "1.0.0" }, { capabilities: { elicitation: { form: {}, url: {} } } });
  user.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params);
    return params.mode === "url" ? { action: "accept" } : answers[asked.length - 1];
  });
  await user.connect(connection());
  for (const expected of [/^state-ok: true$/, /the user declined$/, /the user closed the question/]) {
    const greeted = await user.callTool({ name: "test_input_required_result_request_state" });
    assert.match(greeted.content[0].text, expected);
  }
  assert.deepEqual(asked[0].requestedSchema.required, ["ok"]);
  assert.equal((await user.callTool({ name: "test_url" })).content[0].text, "opened");
  await user.close();
}
console.log("over HTTP and stdio");
