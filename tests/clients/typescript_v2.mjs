// The official TypeScript client, version 2, over HTTP and stdio, in each of its modes.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const modes = { legacy: "legacy", auto: "auto", pinned: { pin: "2026-07-28" } };
const transports = [
  () => new StreamableHTTPClientTransport(new URL(process.env.URL)),
  () => new StdioClientTransport({ command: process.env.FIXTURE, args: [] }),
];
for (const [name, mode] of Object.entries(modes)) {
  for (const transport of transports) {
    const client = new Client({ name: "v2", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(transport());
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

    // The parameters that the schema marks are repeated in headers, and checked there.
    const rows = await client.callTool({ name: "test_x_mcp_header", arguments: { region: "Zürich ", limit: 3 } });
    assert.match(rows.content[0].text, /^3 rows from Zürich $/, name);

    const { prompts } = await client.listPrompts();
    const review = prompts.find((prompt) => prompt.name === "code_review");
    assert.deepEqual(review.arguments.map((argument) => [argument.name, argument.required]), [["code", true], ["style", false], ["rounds", false]]);
    const { messages } = await client.getPrompt({ name: "code_review", arguments: { code: "a", style: "brief", rounds: "2" } });
    assert.deepEqual(messages.map((message) => [message.role, message.content.text]), [["user", "a Some(Brief) Some(2)"], ["assistant", "The first remark:"]], name);
    await assert.rejects(client.getPrompt({ name: "code_review", arguments: { style: "long" } }), /\/code is required(.|\n)*\/style must be one of/);
    const ref = { type: "ref/prompt", name: "code_review" };
    const { completion } = await client.complete({ ref, argument: { name: "style", value: "th" } });
    assert.deepEqual(completion.values, ["thorough"], name);

    const reports = [];
    await client.callTool({ name: "test_tool_with_progress" }, { onprogress: (p) => reports.push(p.progress) });
    assert.deepEqual(reports, [0, 50, 100], name);

    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    await assert.rejects(client.callTool({ name: "sleep", arguments: { ms: 60000 } }, { signal: abort.signal }));
    await client.callTool({ name: "math_add", arguments: { a: 1, b: 1 } });
    await client.close();

    // The client repeats the call with the answers by itself, or leaves that to the program.
    const asked = [];
    const answers = [{ action: "accept", content: { ok: true } }, { action: "decline" }, { action: "cancel" }];
    const capabilities = { elicitation: { form: {}, url: {} } };
    const user = new Client({ name: "v2", version: "1.0.0" }, { versionNegotiation: { mode }, capabilities });
    user.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params);
      return params.mode === "url" ? { action: "accept" } : answers[asked.length - 1];
    });
    await user.connect(transport());
    for (const expected of [/^state-ok: true$/, /the user declined$/, /the user closed the question/]) {
      const greeted = await user.callTool({ name: "test_input_required_result_request_state" });
      assert.match(greeted.content[0].text, expected, name);
    }
    assert.deepEqual(asked[0].requestedSchema.required, ["ok"], name);
    assert.equal((await user.callTool({ name: "test_url" })).content[0].text, "opened", name);
    await user.close();
  }
}
console.log(`${Object.keys(modes).length} modes, over HTTP and stdio`);
