// Screenshots of the main states, for looking at: light, dark and on a phone.

import { axe, callTool, check, field, fits, openTool, opened, PHONE, shot } from "./harness.mjs";

const DESKTOP = { viewport: { width: 1440, height: 900 } };
const TABLET = { viewport: { width: 768, height: 1024 } };
const SMALL = { ...PHONE, viewport: { width: 360, height: 740 } };
const LOOKS = [
  ...[["1440", DESKTOP], ["768", TABLET], ["360", SMALL]].flatMap(([name, options]) =>
    ["light", "dark"].map((colorScheme) => [`${name}-${colorScheme}`, { ...options, colorScheme }])),
  ["320-light", { viewport: { width: 320, height: 700 }, colorScheme: "light" }],
];

async function fillOrder(page) {
  await field(page, "street").locator("textarea").fill("Main Street 1");
  await field(page, "city").locator("textarea").fill("Zürich");
  await field(page, "lines").getByRole("button", { name: "Add an item" }).click();
  await field(page, "article").locator("textarea").fill("B-17");
  await field(page, "count").locator("input").fill("2");
}

export function shots(server, locked) {
  for (const [look, options] of LOOKS) {
    check(`all states in ${look}: no violation of axe, nothing wider than the page`, async () => {
      const state = async (page, name) => {
        await axe(page, `${look} ${name}`);
        await fits(page);
        await shot(page, `${look}-${name}`);
      };
      await opened(server().origin, options, async (page) => {
        await state(page, "1-catalog");
        await openTool(page, "shop_place_order");
        await state(page, "2-form");
        await callTool(page);
        await state(page, "3-violations");
        await page.click(".actions button:text-is('Reset')");
        await fillOrder(page);
        await field(page, "token").locator("input").fill("tok_1");
        await callTool(page);
        await state(page, "4-result");
        await page.getByRole("radio", { name: "JSON" }).check({ force: true });
        await state(page, "5-json");
        await openTool(page, "media_show_everything");
        await callTool(page);
        await page.waitForTimeout(100);
        await state(page, "6-content");
        await openTool(page, "slow_fail");
        await field(page, "why").locator("textarea").fill("the disk is full");
        await callTool(page);
        await state(page, "7-error");
        await openTool(page, "slow_count_up");
        await field(page, "to").locator("input").fill("100");
        await page.click(".actions .primary");
        await page.waitForSelector("progress[value]");
        await state(page, "8-running");
        await page.keyboard.press("Escape");
        await page.waitForSelector(".result .notice");
        await openTool(page, "shop_delete_order");
        await field(page, "number").locator("input").fill("7");
        await page.click(".actions .primary");
        await page.waitForSelector("dialog[open]");
        await state(page, "9-confirm");
        await page.click("dialog .danger");
        await page.waitForSelector("dialog .form");
        await state(page, "10-ask");
        await page.click("dialog button:text-is('Decline')");
        await page.waitForSelector(".result .notice");
        await page.evaluate(() => (location.hash = "calls"));
        await page.waitForSelector(".calls tbody tr");
        await state(page, "11-calls");
        await openTool(page, "shop_find_articles");
        await state(page, "13-optional");
        await page.click(".tool-head .more");
        await page.click("button.optional");
        // Above the end, the bar with the button covers a part of the field below it.
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
        await state(page, "14-opened");
        await page.evaluate(() => (location.hash = ""));
        await page.waitForFunction(() => document.body.dataset.view === "list");
        await state(page, "15-start");
      });
      await opened(locked().origin, { ...options, expects: ["401"] }, async (page) => state(page, "12-token"));
    });
  }

  // Copy it to `docs/images/explorer.png` when the page has changed.
  check("the picture of README is taken", async () => {
    await opened(server().origin, { viewport: { width: 1280, height: 640 }, colorScheme: "light" }, async (page) => {
      await openTool(page, "shop_find_orders");
      await field(page, "query").locator("textarea").fill("Zürich");
      await field(page, "limit").locator("input").fill("2");
      await callTool(page);
      await page.waitForSelector(".result .facts:has-text('in the server')");
      await page.evaluate(() => document.activeElement.blur());
      await shot(page, "readme");
    });
  });

  check("the page prints", async () => {
    await opened(server().origin, {}, async (page) => {
      await openTool(page, "shop_place_order");
      await page.emulateMedia({ media: "print" });
      await shot(page, "print");
      for (const hidden of ["#side", ".actions"]) {
        if (await page.locator(hidden).first().isVisible()) throw new Error(`${hidden} is printed`);
      }
    });
  });
}
