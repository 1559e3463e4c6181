// A host of MCP Apps in a page, of the bridge of the MCP Apps project: it calls a tool, and shows the page of the tool.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, getToolUiResourceUri, isToolVisibilityAppOnly, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const MEDIA_TYPE = "text/html;profile=mcp-app";
const INFO = { name: "app-host", version: "1.0.0" };

/** Connects to the server at `url`. Returns the tools for the model, and whether the server declares the extension. */
globalThis.connectTo = async (url) => {
  const client = new Client(INFO, { capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [MEDIA_TYPE] } } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  Object.assign(globalThis, { client, tools });
  return {
    tools: tools.filter((tool) => !isToolVisibilityAppOnly(tool)).map(({ name }) => name),
    declares: Boolean(client.getServerCapabilities()?.extensions?.["io.modelcontextprotocol/ui"]),
  };
};

/** Calls a tool without arguments, and shows its page. */
globalThis.show = async (name) => {
  const { client, tools } = globalThis;
  const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name));
  const { contents } = await client.readResource({ uri });
  if (contents[0].mimeType !== MEDIA_TYPE) throw new Error(`the page has the type ${contents[0].mimeType}`);
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.name = name;
  Object.assign(frame.style, { width: "800px", height: "600px" });
  document.body.append(frame);
  const bridge = new AppBridge(client, INFO, { serverTools: {}, serverResources: {}, openLinks: {}, logging: {} });
  const initialized = new Promise((resolve) => (bridge.oninitialized = resolve));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = contents[0].text;
  await initialized;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(await client.callTool({ name, arguments: {} }));
};
