// What all checks use: the server, the browser, and pages that must be silent.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [, , fixture, program, browserPath, shots] = process.argv;
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The number of checks that run at the same time. */
const N_WORKERS = 3;

export const SHOTS = shots;
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const counts = { checks: 0, axe: 0, hostile: 0, roundTrips: 0, skipped: 0 };

const servers = [];

/** Starts the fixture with variables and returns its origin. */
export async function serve(variables = {}, command = [fixture]) {
  const server = spawn(command[0], command.slice(1), { env: { ...process.env, ...variables }, stdio: ["ignore", "pipe", "pipe"] });
  servers.push(server);
  let log = "";
  server.stderr.on("data", (data) => (log += data));
  const [line] = await Promise.race([
    once(createInterface(server.stdout), "line"),
    once(server, "exit").then(() => assert.fail(`the server ended: ${log}`)),
  ]);
  return { origin: `http://${line}`, log: () => log, stop: () => server.kill() };
}

/** Starts `serve --explorer` of the example program. */
export async function serveProgram() {
  const server = spawn(program, ["serve", "--http", "127.0.0.1:0", "--explorer"], { stdio: ["ignore", "ignore", "pipe"] });
  servers.push(server);
  for await (const line of createInterface(server.stderr)) {
    const origin = /explorer at (http:\/\/[^/]+)/.exec(line)?.[1];
    if (origin) return { origin, program };
  }
  return assert.fail("the program does not serve the explorer");
}

export function stopAll() {
  for (const server of servers) server.kill();
}

export const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--force-color-profile=srgb", "--host-resolver-rules=MAP evil.example 127.0.0.1, MAP tools.example 127.0.0.1"],
});

/** Opens a page that must report nothing, load nothing from elsewhere, and violate no policy. */
export async function opened(origin, options, check) {
  const { fragment = "", expects = [], path = "/explorer", prepare, ...contextOptions } = options;
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 860 }, ...contextOptions });
  await context.addInitScript(() => {
    globalThis.reports = [];
    document.addEventListener("securitypolicyviolation", (event) => globalThis.reports.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  const page = await context.newPage();
  const complaints = [];
  // Advice of Chromium about password managers, which it logs and no page can answer for arguments of tools.
  page.on("console", (message) => message.text().startsWith("[DOM] Password") || complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => complaints.push(dialog.message()));
  page.on("popup", () => complaints.push("a popup"));
  const urls = [];
  page.on("request", (request) => urls.push(request.url()));
  if (process.env.EXPLORER_SOURCE) await fromSource(page, process.env.EXPLORER_SOURCE);
  await prepare?.(page, context);
  await page.goto(origin + path + fragment);
  if (!options.raw) await page.waitForSelector("#side nav, .token input, .notice");
  await check(page, { urls, complaints, context });
  const reports = await page.evaluate(() => globalThis.reports);
  assert.deepEqual(reports, [], "the policy was violated");
  const unexpected = complaints.filter((text) => !expects.some((expected) => text.includes(expected)));
  assert.deepEqual(unexpected, [], "the page complained");
  const foreign = urls.filter((url) => !url.startsWith(origin + "/") && !/^(data|blob):/.test(url));
  assert.deepEqual(foreign, [], "the page asked somebody else");
  await context.close();
}

/** Serves the files from their folder, so that a change of them needs no build. */
async function fromSource(page, folder) {
  await page.route(/\/explorer\/[0-9a-f]{16}\//, async (route) => {
    const response = await route.fetch();
    const file = new URL(route.request().url()).pathname.split("/").at(-1);
    await route.fulfill({ response, body: readFileSync(`${folder}/${file}`) });
  });
}

/** Checks accessibility. Returns the ids of violated rules. */
export async function axe(page, what) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  counts.axe += 1;
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200)}`).join(" | ")}`);
  assert.deepEqual(found, [], `${what}: axe`);
}

/** Nothing is wider than the page. */
export async function fits(page) {
  const [content, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= shown, `the page is ${content} px wide at ${shown} px`);
}

export async function shot(page, name) {
  await page.screenshot({ path: `${SHOTS}/${name}.png` });
}

/** Opens a tool by its link. */
export async function openTool(page, name) {
  await page.evaluate((name) => (location.hash = `tool/${name}`), name);
  await page.waitForFunction((name) => document.title.startsWith(name), name);
}

/** Calls the open tool and waits for its result. */
export async function callTool(page) {
  await page.click(".actions .primary");
  await page.waitForSelector(".result .content, .result .violations, .result .notice");
}

/** Returns the field with a label, within the arguments. */
export function field(page, label) {
  return page.locator(".arguments .field", { has: page.locator(`:scope > .field-head > .label:text-is("${label}"), :scope > .label:text-is("${label}")`) }).last();
}

const checks = [];

/** Adds a check. One that measures time runs alone. */
export function check(name, run, isAlone = false) {
  checks.push({ name, run, isAlone });
}

/** Runs all checks, or those whose names match ONLY, a few at a time. Returns the number of those that failed. */
export async function runAll() {
  const wanted = checks.filter(({ name }) => !process.env.ONLY || new RegExp(process.env.ONLY).test(name));
  let failed = 0;
  const runOne = async ({ name, run }) => {
    const began = performance.now();
    try {
      await run();
      counts.checks += 1;
      console.log(`ok   ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  };
  for (const one of wanted.filter(({ isAlone }) => isAlone)) await runOne(one);
  const left = wanted.filter(({ isAlone }) => !isAlone);
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift()) await runOne(one);
  };
  await Promise.all(Array.from({ length: N_WORKERS }, worker));
  await browser.close();
  stopAll();
  return failed;
}
