// The same call in other programs, and the configuration of clients. The texts never contain the token or secrets.

import { h, uniqueId } from "./dom.js";
import { at, entriesAt, write } from "./json.js";
import { argumentHeaders, requestHeaders, REVISION } from "./mcp.js";
import { copyButton } from "./result.js";
import { hasToken, paths } from "./session.js";

const VARIABLE = "TOKEN";

/** Quotes a word for a POSIX shell. */
export function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function json(value) {
  return JSON.stringify(value, null, 2);
}

function pythonString(text) {
  // JSON escapes are those of Python, except for surrogates, which Python reads as they are.
  return JSON.stringify(text);
}

function serverName(info) {
  return (info.program?.name ?? info.title).toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "") || "tools";
}

const endpoint = () => location.origin + paths.endpoint;

/** Returns the numbers that JavaScript would round. */
function roundedNumbers(node) {
  if (node.type === "object") return node.entries.flatMap(([, value]) => roundedNumbers(value));
  if (node.type === "array") return node.items.flatMap(roundedNumbers);
  return node.type === "number" && /^-?\d+$/.test(node.text) && !Number.isSafeInteger(Number(node.text)) ? [node.text] : [];
}

function claudeDesktop({ info, isLinked }) {
  const server = info.program && isLinked
    ? { command: info.program.command, args: ["serve"] }
    : { command: "npx", args: ["mcp-remote", endpoint()] };
  return json({ mcpServers: { [serverName(info)]: server } });
}

function cursor({ info }) {
  const server = { url: endpoint(), ...(hasToken() ? { headers: { Authorization: `Bearer \${env:${VARIABLE}}` } } : {}) };
  return json({ mcpServers: { [serverName(info)]: server } });
}

function vsCode({ info }) {
  const server = { type: "http", url: endpoint() };
  const entry = { servers: { [serverName(info)]: server } };
  if (!hasToken()) return json(entry);
  server.headers = { Authorization: "Bearer ${input:token}" };
  return json({ inputs: [{ type: "promptString", id: "token", description: "Token of the server", password: true }], ...entry });
}

function curl({ name, args, schema }) {
  const headers = { ...requestHeaders("tools/call", name), ...argumentHeaders(schema, args) };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${write(args)},"_meta":${JSON.stringify(meta)}}}`;
  const lines = Object.entries(headers).map(([header, value]) => `  -H ${shellWord(`${header}: ${value}`)}`);
  if (hasToken()) lines.push(`  -H "Authorization: Bearer $${VARIABLE}"`);
  return [`curl -sS ${shellWord(endpoint())}`, ...lines, `  --data-raw ${shellWord(body)}`].join(" \\\n");
}

function python({ name, args }) {
  const needsToken = hasToken();
  const client = needsToken ? "streamable_http_client(URL, http_client=create_mcp_http_client(HEADERS))" : "URL";
  const transport = needsToken ? "from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client\n" : "";
  const headers = needsToken ? `HEADERS = {"Authorization": "Bearer " + os.environ["${VARIABLE}"]}\n` : "";
  return `import asyncio
import json
${needsToken ? "import os\n" : ""}
from mcp import Client
${transport}
${headers}URL = ${pythonString(endpoint())}
ARGUMENTS = json.loads(${pythonString(write(args))})


async def main():
    async with Client(${client}) as client:
        result = await client.call_tool(${pythonString(name)}, ARGUMENTS)
        print(result.model_dump_json(by_alias=True, exclude_none=True))


asyncio.run(main())
`;
}

function typeScript({ name, args, info }) {
  const rounded = roundedNumbers(args);
  const warning = rounded.length > 0 ? `// JavaScript rounds ${rounded.join(", ")}: the call of curl and of Python is exact.\n` : "";
  const options = hasToken() ? ", {\n  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },\n}" : "";
  return `${warning}import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const transport = new StreamableHTTPClientTransport(new URL(${JSON.stringify(endpoint())})${options});
const client = new Client({ name: ${JSON.stringify(serverName(info))}, version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(transport);
const result = await client.callTool({
  name: ${JSON.stringify(name)},
  arguments: ${write(args, 2).replaceAll("\n", "\n  ")},
});
console.log(JSON.stringify(result));
await client.close();
`;
}

function commandLine({ info, id, args }) {
  if (!info.program) return "# The server does not say with which program it serves the tools.\n";
  return `${shellWord(info.program.name)} call ${shellWord(id)} ${shellWord(write(args))} --json\n`;
}

function rust({ id, args }) {
  const path = id.split(":").at(-1).replace(/[^\w]/g, "_");
  const values = args.type === "object" ? entriesAt(args).map(([, value]) => rustValue(value)) : [];
  return `use toolkit::{Catalog, Dispatcher, handle};

// The arguments are those of the function \`${path}\`, in its order and with its types.
let dispatcher = Dispatcher::new(Catalog::linked()?)?;
let ${path} = handle!(dispatcher, ${path})?;
let result = ${path}.call((${values.join(", ")}${values.length === 1 ? "," : ""})).await?;
`;
}

function rustValue(node) {
  switch (node.type) {
    case "string":
      return `${JSON.stringify(node.value)}.to_owned()`;
    case "null":
      return "None";
    case "array":
      return `vec![${node.items.map(rustValue).join(", ")}]`;
    case "object":
      return `serde_json::from_str(${JSON.stringify(write(node))})?`;
    default:
      return write(node);
  }
}

/** The kinds; those that are marked work for the functions of the program alone, and not for tools of other servers. */
const KINDS = [
  ["curl", curl, "Calls the tool once."],
  ["Python", python, "With the package mcp."],
  ["TypeScript", typeScript, "With the package @modelcontextprotocol/client."],
  ["CLI", commandLine, "On this machine, without the server.", "linked"],
  ["Rust", rust, "In the program that has the tool.", "linked"],
  ["Claude Desktop", claudeDesktop, "In claude_desktop_config.json; connects all tools."],
  ["Cursor", cursor, "In ~/.cursor/mcp.json or .cursor/mcp.json; connects all tools."],
  ["VS Code", vsCode, "In .vscode/mcp.json; connects all tools."],
];

/** Creates the snippets of a tool. `current` returns `{info, name, id, schema, args}`; call `update` after a change. */
export function snippets(current) {
  const panel = uniqueId("snippet");
  const code = h("code");
  const note = h("p", { class: "note" });
  const { isLinked } = current();
  const kinds = KINDS.filter(([, , , of]) => of !== "linked" || isLinked);
  let kind = kinds[0];
  const text = () => kind[1](current());
  const tabs = kinds.map((one) => {
    const tab = h("button", { type: "button", role: "tab", "aria-controls": panel }, one[0]);
    tab.addEventListener("click", () => {
      kind = one;
      update();
    });
    return tab;
  });
  const list = h("div", { role: "tablist", class: "tabs", "aria-label": "Client" }, tabs);
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length];
    next.focus();
    next.click();
    event.preventDefault();
  });
  const update = () => {
    tabs.forEach((tab, idx) => {
      tab.setAttribute("aria-selected", String(kinds[idx] === kind));
      tab.setAttribute("tabindex", kinds[idx] === kind ? "0" : "-1");
    });
    note.textContent = hasToken() && kind[0] !== "CLI" ? `${kind[2]} The token is in the variable ${VARIABLE}.` : kind[2];
    code.textContent = text();
  };
  const element = h("div", { class: "snippets" }, list,
    h("div", { id: panel, role: "tabpanel", "aria-label": "Snippet" },
      h("div", { class: "snippet-head" }, note, copyButton(text)), h("pre", { tabindex: 0, class: "snippet" }, code)));
  update();
  return { element, update };
}
