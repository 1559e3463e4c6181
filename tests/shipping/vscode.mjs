// Prints what VS Code reads in a home directory: its schema of `mcp.json`, and the servers that it finds in the
// configurations of Claude Desktop and Cursor: `node vscode.mjs HOME`.
import { readFileSync } from "node:fs";

const api = "@codingame/monaco-vscode-api/vscode/vs";
const { mcpServerSchema } = await import(`${api}/workbench/contrib/mcp/common/mcpConfiguration`);
const { URI } = await import(`${api}/base/common/uri`);
const { Platform } = await import(`${api}/base/common/platform`);
const discovery = "@codingame/monaco-vscode-mcp-service-override/vscode/vs/workbench/contrib/mcp/common/discovery";
const { ClaudeDesktopMpcDiscoveryAdapter, CursorDesktopMpcDiscoveryAdapter } = await import(
    `${discovery}/nativeMcpDiscoveryAdapters`
);

const homedir = URI.file(process.argv[2]);
const places = { platform: Platform.Linux, homedir };
const found = async (Adapter) => {
    const adapter = new Adapter(null);
    const path = adapter.getFilePath(places).fsPath;
    return { path, servers: await adapter.adaptFile(readFileSync(path), places) };
};
console.log(
    JSON.stringify({
        schema: mcpServerSchema,
        claudeDesktop: await found(ClaudeDesktopMpcDiscoveryAdapter),
        cursor: await found(CursorDesktopMpcDiscoveryAdapter),
    }),
);
