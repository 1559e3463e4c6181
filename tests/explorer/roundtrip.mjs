// Arguments pass through the form unchanged, token by token. The witness is what the server received.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { check, counts, opened, openTool, serve } from "./harness.mjs";
import { instance, random, schema } from "./generate.mjs";

const N_REAL = Number(process.env.EXPLORER_TOOLS ?? 60);
const N_GENERATED = Number(process.env.EXPLORER_GENERATED ?? 40);

async function roundTrips(origin, witness, choose, n) {
  let inJson = 0;
  let inForm = 0;
  await opened(origin, {}, async (page) => {
    const { tools } = await (await fetch(`${origin}/explorer/catalog`)).json();
    const next = random(20);
    for (const { name, hints } of choose(tools).slice(0, n)) {
      const details = await (await fetch(`${origin}/explorer/tool?name=${name}`)).json();
      const { inputSchema } = details.tool;
      const args = instance(inputSchema, next);
      if (!args.startsWith("{")) continue;
      await openTool(page, name);
      await page.click(".modes label:has-text('JSON')");
      await page.fill(".json.whole", args);
      await page.click(".modes label:has-text('Form')");
      const [json, all] = await page.evaluate(() => ["[data-state=json]", "[data-state]"].map((one) => document.querySelectorAll(`.arguments ${one}`).length));
      inJson += json;
      inForm += all - json;
      assert.ok(await page.locator(".form-fields").isVisible(), `${name} shows ${args} as a form`);
      const before = existsSync(witness) ? readFileSync(witness, "utf8").length : 0;
      await page.click(".actions .primary");
      if (hints?.includes("destructive")) await page.click("dialog .danger");
      await page.waitForSelector(".result .content, .result .violations, .result .notice");
      const received = JSON.parse(readFileSync(witness, "utf8").slice(before)).arguments;
      assert.equal(received, args, name);
      counts.roundTrips += 1;
    }
  });
  console.log(`     ${inForm} fields in the form, ${inJson} as JSON`);
  assert.ok(inJson < inForm, "most values have controls");
}

export function roundTrip(real) {
  const folder = mkdtempSync(`${tmpdir()}/explorer-`);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

  check("arguments of tools that exist arrive as they were given to the form", async () => {
    const server = real();
    if (!server) {
      counts.skipped += 1;
      return;
    }
    // Tools of every server, evenly, without those of the fixture that wait or ask.
    const others = (tools) => tools.filter(({ namespace }) => !["shop", "slow"].includes(namespace));
    const spread = (tools) => others(tools).map((tool, idx) => [(idx * 7919) % tools.length, tool]).sort(([a], [b]) => a - b).map(([, tool]) => tool);
    await roundTrips(server.origin, server.witness, spread, N_REAL);
  });

  check("arguments of generated schemas arrive as they were given to the form", async () => {
    const next = random(7);
    const schemas = Array.from({ length: N_GENERATED }, () => ({ type: "object", properties: { a: schema(next), b: schema(next), c: schema(next) } }));
    writeFileSync(`${folder}/schemas.json`, JSON.stringify(schemas));
    const witness = `${folder}/generated`;
    const server = await serve({ EXPLORER_SCHEMAS: `${folder}/schemas.json`, EXPLORER_WITNESS: witness });
    const before = counts.roundTrips;
    await roundTrips(server.origin, witness, (tools) => tools.filter((tool) => tool.namespace === "generated"), N_GENERATED);
    assert.ok(counts.roundTrips - before > N_GENERATED / 2, "most generated schemas are accepted");
    server.stop();
  });
}
