// Prints how the official library starts the server of an unpacked bundle: `node launch.mjs DIRECTORY SETTINGS`.
import { readFileSync } from "node:fs";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";

const [directory, settings] = process.argv.slice(2);
const config = await getMcpConfigForManifest({
    manifest: JSON.parse(readFileSync(`${directory}/manifest.json`, "utf8")),
    extensionPath: directory,
    systemDirs: {},
    userConfig: JSON.parse(settings),
    pathSeparator: "/",
});
console.log(JSON.stringify(config ?? null));
