// A catalog of many tools that exist: how fast it is there, and whether a new user gets along.

import assert from "node:assert/strict";
import { browser, callTool, check, counts, field, opened } from "./harness.mjs";

const N_RUNS = 5;

/** Returns the time to the first paint of a page, and until it has an element, in ms. */
async function times(url, selector) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector(selector);
  const paint = await page.evaluate(async (selector) => {
    const painted = await new Promise((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntriesByName("first-contentful-paint")[0].startTime)).observe({ type: "paint", buffered: true });
    });
    return [painted, performance.getEntriesByName("tools-shown")[0]?.startTime ?? painted, document.querySelectorAll(selector).length];
  }, selector);
  await context.close();
  return paint;
}

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

export function real(server) {
  check("a catalog of more than 500 tools is shown", async () => {
    if (!server()) {
      counts.skipped += 1;
      return;
    }
    const { origin } = server();
    const [page, bare] = [[], []];
    let nTools = 0;
    for (let run = 0; run < N_RUNS; run += 1) {
      bare.push((await times(`${origin}/healthz`, "body"))[0]);
      const [, shown, n] = await times(`${origin}/explorer`, "nav a");
      page.push(shown);
      nTools = n;
    }
    console.log(`     ${nTools} tools are painted after ${median(page).toFixed(0)} ms, a bare page after ${median(bare).toFixed(0)} ms: ratio ${(median(page) / median(bare)).toFixed(1)}`);
    assert.ok(nTools > 500, `${nTools}`);
  }, true);

  check("a new user finds a tool, corrects a nested argument and copies a configuration", async () => {
    if (!server()) {
      counts.skipped += 1;
      return;
    }
    await opened(server().origin, {}, async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("create pull request review");
      await page.click("nav a:has-text('review') >> nth=0");
      await page.waitForSelector("article.tool");
      await page.fill("[type=search]", "memory create entities");
      await page.click("nav a:has-text('create_entities') >> nth=0");
      await page.waitForFunction(() => document.title.includes("create_entities"));
      await field(page, "entities").getByRole("button", { name: "Add an item" }).click();
      await field(page, "name").locator("textarea").fill("Ada");
      await callTool(page);
      const pointers = await page.locator(".violations li").evaluateAll((all) => all.map((one) => one.dataset.pointer));
      assert.ok(pointers.includes("/entities/0/entityType"), pointers.join());
      await page.click(".violations button:has-text('/entities/0/entityType')");
      await page.keyboard.type("person");
      await field(page, "observations").getByRole("button", { name: "Add an item" }).click();
      await field(page, "observations").locator("textarea").fill("wrote the first program");
      await callTool(page);
      assert.equal(await page.locator(".violations").count(), 0);
      await page.context().grantPermissions(["clipboard-write"]);
      // The policy lets nobody read the clipboard, so that the test waits for what was written.
      await page.evaluate(() => {
        const write = navigator.clipboard.writeText.bind(navigator.clipboard);
        navigator.clipboard.writeText = (text) => (globalThis.copied = write(text).then(() => text));
      });
      await page.click("[role=tab]:text-is('Claude Desktop')");
      await page.click(".snippet-head .copy");
      assert.ok(JSON.parse(await page.evaluate(() => globalThis.copied)).mcpServers);
    });
  });
}
