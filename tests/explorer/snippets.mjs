// Snippets do what they promise: each is executed as it is shown.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { callTool, check, counts, field, openTool, opened } from "./harness.mjs";

const TRICKY = `it's "quoted" $HOME \`date\` \\n\n!! %s`;

async function snippet(page, name) {
  await page.click(`[role=tab]:text-is("${name}")`);
  return page.locator(".snippet").textContent();
}

function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: "utf8", timeout: 60_000, ...options });
}

export function snippets(open, locked, examples) {
  const folder = `${process.cwd()}/snippets`;
  mkdirSync(folder, { recursive: true });
  const python = `${process.cwd()}/venv/bin/python`;

  for (const [what, server, fragment, env] of [
    ["without a token", open, "", {}],
    ["with the token in a variable", locked, "#token=s3cr3t-t0ken-mark", { TOKEN: "s3cr3t-t0ken-mark" }],
  ]) {
    check(`curl, Python and TypeScript return what the page shows, ${what}`, async () => {
      await opened(server().origin, { fragment }, async (page) => {
        await page.waitForSelector("nav a");
        await openTool(page, "json_echo");
        const args = JSON.stringify({ value: { text: TRICKY, list: [1, -2.5, null, true], "a b": "ü🦀" } });
        await page.click(".modes label:has-text('JSON')");
        await page.fill(".json.whole", args);
        await callTool(page);
        const expected = { value: JSON.parse(args).value, optional: null };
        const options = { env: { ...process.env, ...env }, cwd: process.cwd() };
        const curl = run("bash", ["-c", await snippet(page, "curl")], options);
        assert.deepEqual(JSON.parse(curl).result.structuredContent, expected);
        const module = `${process.cwd()}/snippet.mjs`;
        writeFileSync(module, await snippet(page, "TypeScript"));
        assert.deepEqual(JSON.parse(run(process.execPath, [module], options)).structuredContent, expected);
        await page.fill(".json.whole", `{"value": {"n": 12345678901234567890, "small": 7}}`);
        assert.match(await snippet(page, "TypeScript"), /^\/\/ JavaScript rounds 12345678901234567890: /);
        assert.match(run("bash", ["-c", await snippet(page, "curl")], options), /"n":12345678901234567890/);
        await page.fill(".json.whole", args);
        assert.doesNotMatch(await snippet(page, "TypeScript"), /rounds/);
        if (!existsSync(python)) {
          counts.skipped += 1;
          return;
        }
        writeFileSync(`${folder}/snippet.py`, await snippet(page, "Python"));
        assert.deepEqual(JSON.parse(run(python, [`${folder}/snippet.py`], options)).structuredContent, expected);
      });
    });
  }

  check("the tokens of each tool are those of `cost --format mcp`", async () => {
    const server = examples();
    const { tools } = await (await fetch(`${server.origin}/explorer/catalog`)).json();
    const cost = JSON.parse(run(server.program, ["cost", "--json", "--format", "mcp", "--top", "1000"], { stdio: ["ignore", "pipe", "ignore"] }));
    const counted = Object.fromEntries(cost.tools.map(({ id, total }) => [id, total]));
    assert.ok(tools.length > 10);
    assert.deepEqual(Object.fromEntries(tools.map(({ id, tokens }) => [id, tokens])), counted);
  });

  check("the command line and the configurations of clients start the program that serves", async () => {
    const server = examples();
    await opened(server.origin, {}, async (page) => {
      await openTool(page, "math_add");
      await field(page, "a").locator("input").fill("40");
      await field(page, "b").locator("input").fill("2");
      await callTool(page);
      assert.match(await page.innerText(".result .structured, .result .content"), /42/);
      if (!existsSync(`${folder}/toolkit-examples`)) symlinkSync(server.program, `${folder}/toolkit-examples`);
      const cli = run("bash", ["-c", await snippet(page, "CLI")], { env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
      assert.match(cli, /42/);
      const desktop = JSON.parse(await snippet(page, "Claude Desktop")).mcpServers["toolkit-examples"];
      const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      const listed = run(desktop.command, desktop.args, { input: `${message}\n` });
      assert.match(listed, /"math_add"/);
      const cursor = JSON.parse(await snippet(page, "Cursor")).mcpServers["toolkit-examples"];
      assert.equal(cursor.url, `${server.origin}/mcp`);
      const code = JSON.parse(await snippet(page, "VS Code")).servers["toolkit-examples"];
      assert.deepEqual(code, { type: "http", url: `${server.origin}/mcp` });
      assert.match(await snippet(page, "Rust"), /handle!\(dispatcher, add\)[^]*add\.call\(\(40, 2\)\)/);
    });
  });
}
