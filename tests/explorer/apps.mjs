// Two public App servers behind the proxy, and a host that shows their pages: a page calls the tools of its server by their
// names there, which the proxy lists under other names.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { browser, check } from "./harness.mjs";

/** Returns the entry of a server in a configuration file. */
function server(name) {
  return { command: process.execPath, args: [join(import.meta.dirname, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), "--stdio"] };
}

/** Serves the page of the host, and returns its origin. */
async function serveHost() {
  const bundle = { entryPoints: [join(import.meta.dirname, "app_host.mjs")], bundle: true, format: "esm", write: false };
  const [{ text }] = (await build({ ...bundle, platform: "browser", logLevel: "error" })).outputFiles;
  const page = `<!doctype html><meta charset="utf-8"><title>host</title><body><script type="module">${text.replaceAll("</script", "<\\/script")}</script>`;
  const listening = createServer((_, response) => response.setHeader("content-type", "text/html").end(page));
  await new Promise((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${listening.address().port}`, stop: () => listening.close() };
}

/** Starts `serve --proxy` with the servers, for pages of `origin`. */
async function serveProxy(program, origin) {
  const folder = mkdtempSync(join(tmpdir(), "toolkit-apps-"));
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { clock: server("basic-vanillajs"), monitor: server("system-monitor") } }));
  const args = ["serve", "--http", "127.0.0.1:0", "--proxy", file, "--proxy-wait", "30s", "--allow-origin", origin];
  const proxy = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const stop = () => {
    proxy.kill();
    rmSync(folder, { recursive: true });
  };
  const lines = [];
  for await (const line of createInterface(proxy.stderr)) {
    lines.push(line);
    const url = /serving at (http:\S+)/.exec(line)?.[1];
    if (url) return { url, stop };
  }
  stop();
  return assert.fail(`the proxy ended: ${lines.join("\n")}`);
}

export function apps(program) {
  check("pages of two public App servers behind the proxy call their tools", async () => {
    const host = await serveHost();
    const proxy = await serveProxy(program, host.origin);
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const called = [];
      page.on("request", (request) => {
        const message = request.method() === "POST" ? request.postDataJSON() : {};
        if (message.method === "tools/call") called.push(message.params.name);
      });
      await page.goto(host.origin);
      await page.waitForFunction(() => globalThis.connectTo);
      const { tools, declares } = await page.evaluate((url) => globalThis.connectTo(url), proxy.url);
      assert.ok(declares, "the proxy declares the extension");
      assert.ok(tools.includes("clock_get-time") && tools.includes("monitor_get-system-info"), String(tools));
      assert.ok(!tools.some((tool) => tool.endsWith("poll-system-stats")), "a tool for the page is none for the model");

      await page.evaluate(() => globalThis.show("clock_get-time"));
      const clock = page.frameLocator("[name='clock_get-time']");
      const time = clock.locator("#server-time");
      await time.filter({ hasText: /^\d{4}-\d\d-\d\dT/ }).waitFor();
      const before = await time.innerText();
      await clock.locator("#get-time-btn").click();
      await time.filter({ hasNotText: before }).waitFor();
      assert.match(await time.innerText(), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

      await page.evaluate(() => globalThis.show("monitor_get-system-info"));
      const monitor = page.frameLocator("[name='monitor_get-system-info']");
      await monitor.locator("#info-hostname").filter({ hasNotText: "--" }).waitFor();
      await monitor.locator("#poll-toggle-btn").click();
      await monitor.locator("#memory-percent").filter({ hasText: /^\d+%$/ }).waitFor();
      assert.deepEqual(called.slice(0, 4), ["clock_get-time", "get-time", "monitor_get-system-info", "poll-system-stats"]);
    } finally {
      await context.close();
      proxy.stop();
      host.stop();
    }
  });
}
