// Who may use the page, and where the token goes.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, existsSync } from "node:fs";
import http from "node:http";
import { browser, callTool, check, field, openTool, opened, serve } from "./harness.mjs";

const TOKEN = "s3cr3t-t0ken-mark";

/** Sends a request whose headers a browser would set. */
async function send(origin, { method = "GET", path = "/explorer", headers = {}, body } = {}) {
  const { hostname, port } = new URL(origin);
  const request = http.request({ hostname, port, method, path, headers });
  request.end(body);
  const [response] = await once(request, "response");
  response.resume();
  return response;
}

export function security(open, locked) {
  check("the token is asked for, kept in memory, and found nowhere else", async () => {
    await opened(locked().origin, { expects: ["401"] }, async (page, { urls }) => {
      await page.fill(".token input[type=password]", "wrong");
      const form = await page.$(".token");
      await page.click(".token .primary");
      // Another form replaces it once the server has rejected the token.
      await page.waitForFunction((form) => !form.isConnected, form);
      assert.match(await page.innerText(".token"), /The server rejected this token\. Enter another one/);
      await page.fill(".token input[type=password]", TOKEN);
      await page.click(".token .primary");
      await page.waitForSelector("nav a");
      await openTool(page, "shop_find_orders");
      await field(page, "query").locator("textarea").fill("x");
      await callTool(page);
      for (const tab of await page.locator("[role=tab]").all()) {
        await tab.click();
        assert.doesNotMatch(await page.innerText(".snippet"), new RegExp(TOKEN));
      }
      await page.click(".calls-link");
      await page.waitForSelector(".calls tbody tr");
      const places = await page.evaluate(() => [
        document.documentElement.outerHTML, location.href, JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie,
        JSON.stringify(history.state), [...document.querySelectorAll("input, textarea")].map((one) => one.value).join(),
        performance.getEntries().map((entry) => entry.name).join(),
      ]);
      for (const place of [...places, ...urls, locked().log()]) assert.ok(!place.includes(TOKEN), place.slice(0, 200));
    });
  });

  check("a token in the fragment is taken and removed, and kept for the tab only if wanted", async () => {
    await opened(locked().origin, { fragment: `#token=${TOKEN}` }, async (page) => {
      await page.waitForSelector("nav a");
      assert.equal(await page.evaluate(() => location.href), `${locked().origin}/explorer`);
      assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    });
    await opened(locked().origin, { expects: ["401"] }, async (page) => {
      await page.fill(".token input[type=password]", TOKEN);
      await page.check(".token [type=checkbox]");
      await page.click(".token .primary");
      await page.waitForSelector("nav a");
      await page.reload();
      await page.waitForSelector("nav a");
    });
  });

  check("a token that is put into the address of an open page is taken and removed", async () => {
    await opened(locked().origin, { expects: ["401"] }, async (page) => {
      await page.evaluate((token) => (location.hash = `token=${token}`), TOKEN);
      await page.waitForSelector("nav a");
      assert.equal(await page.evaluate(() => location.href), `${locked().origin}/explorer`);
    });
  });

  check("the page works at an address that other machines reach", async () => {
    const server = await serve({ EXPLORER_TOKEN: TOKEN, EXPLORER_HOST: "0.0.0.0" });
    const origin = server.origin.replace("0.0.0.0", "tools.example");
    // The header is for addresses with TLS.
    await opened(origin, { fragment: `#token=${TOKEN}`, expects: ["Cross-Origin-Opener-Policy"] }, async (page) => {
      await page.waitForSelector("nav a");
      await openTool(page, "shop_find_orders");
      await field(page, "query").locator("textarea").fill("x");
      await callTool(page);
      assert.equal(await page.locator(".result .content").count(), 1);
    });
    server.stop();
  });

  check("foreign hosts, origins and pages are rejected, also with a simple form", async () => {
    const { origin } = open();
    const host = new URL(origin).host;
    const paths = ["/explorer", "/explorer/catalog", "/explorer/tool?name=json_echo", "/explorer/events", "/explorer/export"];
    for (const path of paths) {
      for (const headers of [{ host: "evil.example" }, { host, origin: "http://evil.example" }, { host, "sec-fetch-site": "cross-site" }, { host, "sec-fetch-site": "same-site" }]) {
        assert.equal((await send(origin, { path, headers })).statusCode, 403, `${path} ${JSON.stringify(headers)}`);
      }
      assert.equal((await send(origin, { path, method: "POST", headers: { host } })).statusCode, 405);
      const allowed = await send(origin, { path, headers: { host, origin, "sec-fetch-site": "same-origin" } });
      assert.equal(allowed.headers["access-control-allow-origin"], undefined);
      allowed.destroy();
    }
    const form = { method: "POST", path: "/mcp", headers: { host, "content-type": "text/plain" }, body: "{}" };
    assert.equal((await send(origin, form)).statusCode, 415);
  });

  check("a page of another origin cannot read, embed or call anything", async () => {
    const witness = `${process.cwd()}/witness-foreign-${process.pid}`;
    const server = await serve({ EXPLORER_WITNESS: witness });
    const { port } = new URL(server.origin);
    const page = "<!DOCTYPE html><title>evil</title><body></body>";
    const evil = http.createServer((_, response) => response.setHeader("content-type", "text/html").end(page)).listen(0, "127.0.0.1");
    await once(evil, "listening");
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(`http://evil.example:${evil.address().port}/`);
    const outcome = await tab.evaluate(async (target) => {
      const load = (tag, attributes) => new Promise((resolve) => {
        const element = Object.assign(document.createElement(tag), attributes);
        element.onload = () => resolve("loaded");
        element.onerror = () => resolve("refused");
        document.body.append(element);
        setTimeout(() => resolve("silent"), 2000);
      });
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow_fail", arguments: { why: "x" } } });
      const attempt = (path, options) => fetch(target + path, options).then(() => "read", () => "refused");
      const source = new EventSource(`${target}/explorer/events`);
      const events = await new Promise((resolve) => {
        source.onopen = () => resolve("open");
        source.onerror = () => resolve("refused");
      });
      source.close();
      await fetch(`${target}/mcp`, { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body }).catch(() => {});
      return {
        catalog: await attempt("/explorer/catalog"),
        call: await attempt("/mcp", { method: "POST", headers: { "content-type": "application/json" }, body }),
        script: await load("script", { src: `${target}/explorer/catalog` }),
        image: await load("img", { src: `${target}/explorer` }),
        events,
      };
    }, server.origin);
    assert.deepEqual(outcome, { catalog: "refused", call: "refused", script: "refused", image: "refused", events: "refused" });
    const frame = await tab.evaluate(async (target) => {
      const frame = Object.assign(document.createElement("iframe"), { src: `${target}/explorer` });
      document.body.append(frame);
      await new Promise((resolve) => (frame.onload = resolve));
      return true;
    }, server.origin);
    assert.ok(frame);
    const inner = tab.frames().find((one) => one !== tab.mainFrame());
    assert.equal(await inner.locator("nav a").count().catch(() => 0), 0, "the page is not embedded");
    // A name that the attacker lets point to this machine.
    const rebound = await tab.goto(`http://evil.example:${port}/explorer`);
    assert.equal(rebound.status(), 403);
    const stolen = await tab.evaluate(() => fetch("/mcp", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }).then((response) => response.status));
    assert.equal(stolen, 403);
    assert.equal(existsSync(witness) ? readFileSync(witness, "utf8") : "", "", "no tool was called");
    await context.close();
    evil.close();
    server.stop();
  });

  check("callers see their own calls, and operators those of all", async () => {
    const server = await serve({ EXPLORER_USERS: "1" });
    const call = (user) => fetch(`${server.origin}/mcp`, {
      method: "POST", headers: { "content-type": "application/json", authorization: `Bearer user-${user}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow_fail", arguments: { why: `reason-of-${user}` } } }),
    });
    await call("ann");
    await call("bob");
    for (const [user, sees, not] of [["ann", ["reason-of-ann"], ["reason-of-bob"]], ["operator", ["reason-of-ann", "reason-of-bob"], []]]) {
      await opened(server.origin, { fragment: `#token=user-${user}` }, async (page) => {
        await page.waitForSelector("nav a");
        await page.click(".calls-link");
        for (const text of sees) await page.waitForSelector(`td:has-text('${text}')`);
        for (const text of not) assert.equal(await page.locator(`td:has-text('${text}')`).count(), 0);
      });
    }
    server.stop();
  });
}
