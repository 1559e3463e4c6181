// A server of one tool, by one of the official TypeScript packages: `serve.mjs v1|v2 http|pipe`.
//
// Over HTTP it prints its address, and answers with JSON and without sessions: a server and a transport for each
// request, as their documents show.
import { createServer } from "node:http";
import { z } from "zod";

const [version, transport] = process.argv.slice(2);
const integer = z.number().int();
const config = { description: "Adds two integers.", inputSchema: { a: integer, b: integer }, outputSchema: { sum: integer } };

function withAdd(server, config) {
  server.registerTool("add", config, async ({ a, b }) => {
    const result = { sum: a + b };
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
  });
  return server;
}

async function v1() {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const make = () => withAdd(new McpServer({ name: "bench", version: "1.0.0" }), config);
  const answer = async (request, response) => {
    const server = make();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    response.on("close", () => server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response);
  };
  return { answer, pipe: () => make().connect(new StdioServerTransport()) };
}

async function v2() {
  const { McpServer, createMcpHandler } = await import("@modelcontextprotocol/server");
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  const { inputSchema, outputSchema } = config;
  const schemas = { inputSchema: z.object(inputSchema), outputSchema: z.object(outputSchema) };
  const make = () => withAdd(new McpServer({ name: "bench", version: "1.0.0" }), { ...config, ...schemas });
  const answer = toNodeHandler(createMcpHandler(make));
  return { answer, pipe: () => make().connect(new StdioServerTransport()) };
}

const { answer, pipe } = await { v1, v2 }[version]();
if (transport === "pipe") {
  await pipe();
} else {
  const listening = createServer(answer).listen(0, "127.0.0.1", () => {
    const { address, port } = listening.address();
    console.log(`${address}:${port}`);
  });
}
