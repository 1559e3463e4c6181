// Each feature, as a person uses it.

import assert from "node:assert/strict";
import { axe, callTool, check, field, fits, openTool, opened, PHONE } from "./harness.mjs";

const N_TOOLS = 12;

// The text in the document, not the rendered one: entries that were never on the screen are not rendered yet.
const texts = (page, selector) => page.locator(selector).allTextContents();
const data = async (page) => (await page.locator(".result .structured .json-tree").innerText()).replaceAll(/\s+/g, " ");

export function features(server) {
  const at = (options, run) => () => opened(server().origin, options, run);

  check("tools are found by words, filtered by hints and tags, and opened", at({}, async (page) => {
    assert.equal(await page.locator("nav a").count(), N_TOOLS);
    await page.keyboard.press("/");
    await page.keyboard.type("order place");
    assert.match((await texts(page, "nav a .tool-name"))[0], /place_order/);
    assert.match(await page.innerText(".found"), new RegExp(`of ${N_TOOLS} tools`));
    await page.keyboard.press("Escape");
    await page.click(".chip:text-is('destructive')");
    assert.deepEqual(await texts(page, "nav a .tool-name"), ["delete_order"]);
    assert.equal(await page.inputValue("[type=search]"), "is:destructive");
    await page.click(".chip:text-is('destructive')");
    const rows = () => page.locator(".chip:visible").evaluateAll((all) => new Set(all.map((one) => one.offsetTop)).size);
    assert.equal(await rows(), 1, "the filters take one row");
    await page.click(".chip.more");
    assert.ok((await rows()) > 1);
    await page.click(".chip:text-is('#orders')");
    assert.equal(await page.locator("nav a").count(), 2);
    await page.click(".chip.more");
    assert.ok(await page.locator(".chip:text-is('#orders')").isVisible(), "a filter that is set stays visible");
    await page.click(".chip:text-is('#orders')");
    assert.equal(await rows(), 1);
    await page.fill("[type=search]", "xylophone");
    assert.match(await page.innerText("nav"), /No tool matches/);
    await page.fill("[type=search]", "spell");
    await page.press("[type=search]", "Enter");
    await page.waitForSelector("article.tool");
    assert.equal(await page.getAttribute("nav a[aria-current]", "aria-current"), "page");
    assert.match(await page.innerText(".tool-head"), /read only[^]*tokens/);
  }));

  check("a nested form is filled, and what the server corrects is marked at its field and focused", at({}, async (page) => {
    await openTool(page, "shop_place_order");
    const described = await field(page, "speed").innerText();
    assert.match(described, /default/);
    assert.equal(await field(page, "speed").locator("input:checked").count(), 1, "the default is filled in");
    await field(page, "street").locator("textarea").fill("Main Street 1");
    await field(page, "lines").getByRole("button", { name: "Add an item" }).click();
    await field(page, "count").locator("input").fill("100");
    await page.selectOption("select.branches", { label: "kind: invoice" });
    await field(page, "days").locator("input").fill("many");
    const answer = page.waitForResponse((response) => response.url().endsWith("/mcp"));
    await callTool(page);
    const text = await (await answer).text();
    const message = JSON.parse(text.startsWith("{") ? text : text.split("data: ").at(-1));
    const expected = message.result._meta["rs.toolkit/error"].violations.map((violation) => violation.pointer);
    assert.deepEqual([...expected].sort(), ["/address/city", "/lines/0/article", "/lines/0/count", "/payment/days"]);
    const listed = await page.locator(".violations li").evaluateAll((all) => all.map((one) => one.dataset.pointer));
    assert.deepEqual(listed, expected);
    const marked = await page.locator(".arguments [aria-invalid=true]").evaluateAll((all) => all.map((one) => one.closest(".field").querySelector(".label").textContent));
    assert.deepEqual(marked.sort(), ["article", "city", "count", "days"]);
    const focused = await page.evaluate(() => [document.activeElement.getAttribute("aria-invalid"), document.getElementById(document.activeElement.getAttribute("aria-errormessage"))?.textContent]);
    assert.equal(focused[0], "true");
    assert.ok(focused[1].length > 0, "the focused field names its mistake");
    await page.click(".violations button:has-text('/payment/days')");
    assert.equal(await page.evaluate(() => document.activeElement.value), "many");

    await page.keyboard.type("\u0008");
    await field(page, "days").locator("input").fill("14");
    await field(page, "city").locator("textarea").fill("Zürich");
    await field(page, "article").locator("textarea").fill("B-17");
    await field(page, "count").locator("input").fill("2");
    assert.equal(await page.locator(".arguments [aria-invalid]").count(), 0, "a corrected field is not marked");
    await callTool(page);
    assert.match(await data(page), /number: 9007199254740993 lines: 1 city: "Zürich"/);
    await page.waitForSelector(".result .facts:has-text('in the server')");
    assert.match(await page.innerText(".result .facts"), /ms.*in the server.*→.*tokens/s);
  }));

  check("absent, null and an empty text are different arguments, and JSON is edited both ways", at({}, async (page) => {
    await openTool(page, "json_echo");
    const optional = field(page, "optional");
    const text = async () => {
      await page.getByRole("radio", { name: "JSON" }).check({ force: true });
      const text = JSON.stringify(JSON.parse(await page.inputValue(".json.whole")));
      await page.getByRole("radio", { name: "Form" }).check({ force: true });
      return text;
    };
    assert.equal(await text(), "{}");
    await field(page, "value").locator("textarea").fill('""');
    assert.equal(await text(), '{"value":""}');
    await optional.locator("textarea").fill("null");
    assert.equal(await text(), '{"value":"","optional":null}');
    await openTool(page, "shop_place_order");
    assert.doesNotMatch(await text(), /note/);
    await field(page, "note").locator("select.state").selectOption("null");
    assert.match(await text(), /"note":null/);
    await field(page, "note").locator("select.state").selectOption("value");
    assert.match(await text(), /"note":""/);
    await field(page, "note").locator("select.state").selectOption("json");
    await field(page, "note").locator("textarea").fill('{"free": [1');
    await page.click(".actions .primary");
    assert.match(await page.innerText(".field-error:visible"), /not JSON: .*line 1, column/);
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
    await field(page, "note").locator("textarea").fill('{"free":[1]}');
    assert.match(await text(), /"note":\{"free":\[1\]\}/);
    await page.getByRole("radio", { name: "JSON" }).check({ force: true });
    await page.fill(".json.whole", '{"labels": {"a": "b"}, "speed": "express", "speed": "slow"}');
    await page.click(".modes label:has-text('Form')");
    assert.match(await page.innerText(".form-json .field-error"), /"speed" appears twice/);
    await page.fill(".json.whole", '{"labels": {"a": "b"}, "speed": "express"}');
    await page.getByRole("radio", { name: "Form" }).check({ force: true });
    assert.equal(await page.inputValue(".row .key"), "a");
    assert.equal(await field(page, "speed").locator("input:checked").getAttribute("value"), "2");
  }));

  check("items of a list are added, moved and removed, and focus stays near", at({}, async (page) => {
    await openTool(page, "shop_place_order");
    const lines = field(page, "lines");
    for (const article of ["A", "B", "C"]) {
      await lines.getByRole("button", { name: "Add an item" }).click();
      await lines.locator("textarea").last().fill(article);
    }
    const articles = () => lines.locator("textarea").evaluateAll((all) => all.map((one) => one.value).join(""));
    await lines.getByRole("button", { name: "Move up" }).last().click();
    assert.equal(await articles(), "ACB");
    await lines.getByRole("button", { name: "Remove the item" }).first().click();
    assert.equal(await articles(), "CB");
    assert.ok(await page.evaluate(() => document.activeElement.closest(".items") !== null));
  }));

  check("progress is shown while the tool runs, and a canceled call ends in the server", at({}, async (page) => {
    await openTool(page, "slow_count_up");
    await field(page, "to").locator("input").fill("200");
    await page.click(".actions .primary");
    await page.waitForFunction(() => document.querySelector("progress")?.value > 0);
    assert.match(await page.innerText(".progress-message"), /counted to \d+/);
    assert.match(await page.innerText(".elapsed"), /\d\.\d s/);
    await page.click(".actions button:text-is('Cancel')");
    await page.waitForSelector(".result .notice");
    assert.match(await page.innerText(".result"), /canceled/);
    await page.click(".calls-link");
    await page.waitForSelector("td:has-text('canceled')");
  }));

  check("chunks are shown one after the other", at({}, async (page) => {
    await openTool(page, "slow_spell");
    await field(page, "word").locator("textarea").fill("abc");
    await callTool(page);
    await page.click(".result summary:text-is('Chunks')");
    assert.deepEqual(await texts(page, ".chunks li"), ['"a"', '"b"', '"c"']);
  }));

  check("content of each kind is shown, and linked resources are read on request", at({}, async (page, { urls }) => {
    await openTool(page, "media_show_everything");
    await callTool(page);
    assert.deepEqual(await texts(page, ".block > h4"), ["Text", "Image", "Image", "Audio", "Resource", "Link", "Link"]);
    const widths = await page.locator(".block img").evaluateAll((all) => Promise.all(all.map(async (one) => (await one.decode(), one.naturalWidth))));
    assert.deepEqual(widths, [320, 1]);
    assert.equal(await page.locator(".block audio").count(), 1);
    assert.equal(await page.title().then((title) => title.includes("hacked")), false);
    assert.equal(await page.locator(".block a").count(), 0, "addresses of other schemes are no links");
    assert.ok(!urls.some((url) => url.includes("javascript")));
    await page.getByRole("button", { name: "Read", exact: true }).first().click();
    await page.waitForSelector("text=Read on request.");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).first().click();
    assert.match((await download).suggestedFilename(), /^image/);
  }));

  check("the error of a tool is shown with its kind", at({}, async (page) => {
    await openTool(page, "slow_fail");
    await field(page, "why").locator("textarea").fill("<b>the disk</b> is full");
    await callTool(page);
    assert.match(await page.innerText(".result"), /The tool failed[^]*<b>the disk<\/b> is full/);
  }));

  check("a destructive call is confirmed, and the question of the tool is a dialog", at({}, async (page) => {
    await openTool(page, "shop_delete_order");
    await field(page, "number").locator("input").fill("7");
    await page.click(".actions .primary");
    assert.match(await page.innerText("dialog"), /shop_delete_order[^]*"number": 7/);
    await page.click("dialog button:text-is('Cancel')");
    await page.waitForSelector("dialog", { state: "detached" });
    assert.equal(await page.locator(".result .content, .result .progress").count(), 0, "nothing was called");
    await page.click(".actions .primary");
    await page.check("dialog [type=checkbox]");
    await page.click("dialog .danger");
    await page.waitForSelector("dialog .form");
    assert.match(await page.innerText("dialog .message"), /Why is order 7 deleted\?/);
    await page.keyboard.type("it was <i>returned</i>");
    await page.click("dialog button:text-is('Answer')");
    await page.waitForSelector(".result .content");
    assert.match(await page.innerText(".result"), /order 7 is deleted: it was <i>returned<\/i>/);
    await page.click(".actions .primary");
    await page.waitForSelector("dialog .form");
    await page.click("dialog button:text-is('Decline')");
    await page.waitForSelector(".result .notice");
    assert.match(await page.innerText(".result"), /declined/);
  }));

  check("a question with an address is a dialog with a link", at({}, async (page) => {
    await openTool(page, "shop_pay");
    assert.match(await page.innerText(".tool-head"), /Deprecated\. place_order has a payment/);
    await page.click(".actions .primary");
    await page.waitForSelector("dialog a");
    assert.equal(await page.getAttribute("dialog a", "href"), "https://example.com/pay");
    assert.equal(await page.getAttribute("dialog a", "rel"), "noopener noreferrer nofollow");
    await page.click("dialog .primary");
    await page.waitForSelector(".result .content");
    assert.match(await page.innerText(".result"), /Accepted/i);
  }));

  check("a call that becomes a task is followed to its end, and canceled", at({}, async (page) => {
    await openTool(page, "slow_build");
    await field(page, "ms").locator("input").fill("300");
    await callTool(page);
    assert.match(await page.innerText(".result"), /built/);
    await field(page, "ms").locator("input").fill("60000");
    await page.click(".actions .primary");
    await page.waitForFunction(() => /task|building/.test(document.querySelector(".progress-message")?.textContent));
    await page.keyboard.press("Escape");
    await page.waitForSelector(".result .notice");
    await page.click(".calls-link");
    await page.waitForSelector("tr.ended:has-text('slow:build'), tr:has-text('slow:build') .outcome.ended");
  }));

  check("a secret is masked in the form, the snippets and the recent calls", at({}, async (page) => {
    await openTool(page, "json_sign_in");
    assert.equal(await field(page, "password").locator("input").getAttribute("type"), "password");
    await field(page, "user").locator("textarea").fill("ann");
    await field(page, "password").locator("input").fill("hunter2");
    await callTool(page);
    assert.match(await page.innerText(".result"), /ann signed in with 7 characters/);
    assert.doesNotMatch(await page.content(), /hunter2/);
    // The text of the JSON editor is a property of its element, and not part of the content.
    await page.click(".modes label:has-text('JSON')");
    await page.fill(".json.whole", JSON.stringify({ user: "ann", password: "hunter2", more: { password: ["hunter2"] } }));
    for (const tab of await page.locator("[role=tab]").all()) {
      await tab.click();
      assert.doesNotMatch(await page.innerText(".snippet"), /hunter2/);
    }
    await page.click(".calls-link");
    await page.waitForSelector("td:has-text('ann')");
    assert.doesNotMatch(await page.content(), /hunter2/);
  }));

  check("optional fields without a value are collapsed, keep the order of the schema, and open where a mistake is", at({}, async (page) => {
    const labels = () => page.locator(".arguments .label:visible").allTextContents();
    await openTool(page, "shop_find_articles");
    assert.deepEqual(await labels(), ["text"]);
    assert.match(await page.innerText("button.optional"), /7 optional fields\s+brand, color, min_price, max_price, …/);
    await field(page, "text").locator("textarea").fill("lamp");
    await page.click(".modes label:has-text('JSON')");
    await page.fill(".json.whole", '{"text": "lamp", "max_price": "cheap"}');
    await page.click(".modes label:has-text('Form')");
    assert.deepEqual(await labels(), ["text", "max_price"]);
    await page.click(".arguments button:text-is('Reset')");
    await field(page, "text").locator("textarea").fill("lamp");
    await page.click("button.optional");
    assert.deepEqual(await labels(), ["text", "brand", "color", "min_price", "max_price", "in_stock", "since", "order"]);
    assert.equal(await page.locator("button.optional").isVisible(), false);
    assert.match(await field(page, "since").innerText(), /date[^]*the format is a hint/);
    await field(page, "max_price").locator("input").fill("cheap");
    await callTool(page);
    const invalid = await page.locator(".arguments [aria-invalid=true]").evaluateAll((all) => all.map((one) => one.closest(".field").querySelector(".label").textContent));
    assert.deepEqual(invalid, ["max_price"]);
  }));

  check("a long description shows its beginning, and the rest on request", at({}, async (page) => {
    await openTool(page, "shop_find_articles");
    const more = page.locator(".tool-head .more");
    assert.equal(await page.getByText("At most 100 articles are returned").isVisible(), false);
    await more.click();
    assert.ok(await page.getByText("At most 100 articles are returned").isVisible());
    assert.equal(await more.getAttribute("aria-expanded"), "true");
    await openTool(page, "shop_find_orders");
    assert.equal(await more.count(), 0);
  }));

  check("a link opens a tool with its arguments, and without secrets", at({}, async (page, { context }) => {
    await openTool(page, "json_sign_in");
    await field(page, "user").locator("textarea").fill("ann?&#% Zürich");
    await field(page, "password").locator("input").fill("hunter2");
    await page.click("button:text-is('Copy link')");
    const link = await page.evaluate(() => location.href);
    assert.doesNotMatch(decodeURIComponent(link), /hunter2|password/);
    const other = await context.newPage();
    await other.goto(link);
    await other.waitForSelector("article.tool");
    assert.equal(await field(other, "user").locator("textarea").inputValue(), "ann?&#% Zürich");
    assert.equal(await other.locator(".result .content").count(), 0, "a link calls nothing");
    await other.goto(`${link.split("?")[0]}?{nonsense`);
    await other.waitForSelector(".result .notice");
    assert.match(await other.innerText(".result"), /arguments in the address are not JSON/);
  }));

  check("the calls of a tab survive a reload, without secrets, and can be filled in again", at({}, async (page) => {
    await openTool(page, "json_sign_in");
    await field(page, "user").locator("textarea").fill("ann");
    await field(page, "password").locator("input").fill("hunter2");
    await callTool(page);
    await page.reload();
    await page.waitForSelector("article.tool");
    assert.doesNotMatch(await page.evaluate(() => JSON.stringify(sessionStorage)), /hunter2/);
    await page.click(".earlier summary");
    assert.match(await page.innerText(".earlier"), /Earlier calls \(1\)[^]*ok[^]*\{"user":"ann"\}/);
    await page.click(".earlier button:text-is('Fill in')");
    assert.equal(await field(page, "user").locator("textarea").inputValue(), "ann");
    await page.evaluate(() => (location.hash = ""));
    await page.waitForSelector(".welcome h3:text-is('Called lately')");
    assert.match(await page.locator(".welcome section").first().innerText(), /json:sign_in/);
    await page.evaluate(() => (location.hash = "tool/json_sign_in"));
    await page.waitForSelector("article.tool");
    await page.locator(".earlier").evaluate((one) => (one.open = true));
    await page.click(".earlier button:text-is('Forget them')");
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  }));

  check("Call stays in reach of a long form", at({ viewport: { width: 360, height: 640 } }, async (page) => {
    await openTool(page, "shop_place_order");
    const height = await page.evaluate(() => innerHeight);
    await field(page, "city").locator("textarea").scrollIntoViewIfNeeded();
    const box = await page.locator(".actions .primary").boundingBox();
    assert.ok(box.y + box.height <= height, "Call is on the screen");
  }));

  check("an address that names a tool leads to its form, and Ctrl+Enter calls it at once", at({ fragment: "#tool/json_echo" }, async (page) => {
    await page.waitForSelector("article.tool");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".result .violations");
    assert.match(await page.innerText(".result"), /value/);
  }));

  check("a catalog without tools says so, and offers no keys for tools", at({
    prepare: (page) => page.route("**/explorer/catalog", async (route) => {
      const body = await (await route.fetch()).json();
      await route.fulfill({ json: { ...body, tools: [] } });
    }),
  }, async (page) => {
    assert.match(await page.innerText("#main"), /This server has no tools/);
    assert.doesNotMatch(await page.innerText("body"), /No tool matches|Ctrl/);
  }));

  check("a tool of another server has no snippet that only works for functions of the program", at({
    prepare: (page) => page.route("**/explorer/tool?*", async (route) => {
      const text = await (await route.fetch()).text();
      assert.match(text, /"isLinked":true/);
      await route.fulfill({ contentType: "application/json", body: text.replace('"isLinked":true', '"isLinked":false') });
    }),
  }, async (page) => {
    await openTool(page, "json_echo");
    assert.deepEqual(await texts(page, "[role=tab]"), ["curl", "Python", "TypeScript", "Claude Desktop", "Cursor", "VS Code"]);
    await page.click("[role=tab]:text-is('Claude Desktop')");
    assert.match(await page.innerText(".snippet"), /mcp-remote/);
  }));

  check("calls of other clients appear while two pages watch", at({}, async (page, { context }) => {
    const other = await context.newPage();
    await other.goto(`${server().origin}/explorer#calls`);
    await page.evaluate(() => (location.hash = "calls"));
    await Promise.all([page, other].map((one) => one.waitForFunction(() => document.querySelector(".recent .lead") && !document.querySelector(".recent .lead").textContent.includes("connecting"))));
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow_fail", arguments: { why: "from elsewhere" } } };
    await fetch(`${server().origin}/mcp`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    for (const one of [page, other]) await one.waitForSelector("td:has-text('from elsewhere')");
    assert.match(await page.innerText(".chart figcaption"), /Latency of the last \d+ calls/);
  }));

  let restart;
  check("the tools of a server that was started again appear without a reload, and a form keeps its arguments", at({
    prepare: async (page) => {
      const restarted = new Promise((resolve) => (restart = resolve));
      let isFirst = true;
      // The stream of the first process ends with it.
      await page.route("**/explorer/events", async (route) => {
        if (!isFirst) return route.continue();
        isFirst = false;
        await restarted;
        return route.fulfill({ contentType: "text/event-stream", body: ": the first process\n\n" });
      });
      let n_catalogs = 0;
      await page.route("**/explorer/catalog", async (route) => {
        const response = await route.fetch();
        const catalog = await response.json();
        n_catalogs += 1;
        if (n_catalogs > 1) catalog.tools.push({ ...catalog.tools[0], name: "shop_new", namespace: "shop", id: "shop:new:1.0.0" });
        await route.fulfill({ response, json: catalog });
      });
      let n_details = 0;
      await page.route("**/explorer/tool?*", async (route) => {
        const response = await route.fetch();
        n_details += 1;
        const text = await response.text();
        await route.fulfill({ response, body: n_details > 1 ? text.replace('"description":"', '"description":"Changed. ') : text });
      });
    },
  }, async (page) => {
    await openTool(page, "shop_place_order");
    await field(page, "street").locator("textarea").fill("Main Street 1");
    restart();
    await page.waitForSelector("nav a .tool-name:text-is('new')");
    await page.waitForSelector("article.tool:has-text('Changed.')");
    assert.equal(await page.locator("nav a").count(), N_TOOLS + 1);
    assert.equal(await field(page, "street").locator("textarea").inputValue(), "Main Street 1");
  }));

  let repair;
  check("the errors of a build are shown until a program is built", at({
    prepare: async (page) => {
      const repaired = new Promise((resolve) => (repair = resolve));
      let isFirst = true;
      // As `cargo toolkit dev` adds to the stream, which ends with the process.
      await page.route("**/explorer/events", async (route) => {
        if (!isFirst) {
          await repaired;
          return route.continue();
        }
        isFirst = false;
        const event = JSON.stringify({ buildErrors: "error[E0308]: mismatched types\n --> src/tools.rs:<b>1</b>" });
        return route.fulfill({ contentType: "text/event-stream", body: `data: ${event}\n\n` });
      });
    },
  }, async (page) => {
    await page.waitForSelector(".build:visible");
    assert.match(await page.innerText(".build"), /The build has failed[^]*mismatched types\n --> src\/tools\.rs:<b>1<\/b>$/);
    await axe(page, "a build that has failed");
    await fits(page);
    await openTool(page, "shop_place_order");
    assert.ok(await page.isVisible(".build"));
    repair();
    await page.waitForSelector(".build", { state: "hidden" });
  }));

  check("the catalog is saved as a page for reading", at({}, async (page) => {
    const download = page.waitForEvent("download");
    await page.click("button:text-is('Export')");
    const file = await (await download).path();
    const reader = await page.context().newPage();
    await reader.goto(`file://${file}`).catch(() => {});
    assert.equal(await reader.locator("summary a, summary button").count(), 0, "a summary has no control inside");
    assert.match(await import("node:fs").then(({ readFileSync }) => readFileSync(file, "utf8")), /<article id="shop:place_order"/);
    assert.match((await download).suggestedFilename(), /^Workshop\.html$/);
  }));

  check("everything is done with the keyboard only", at({}, async (page) => {
    const focus = () => page.evaluate(() => document.activeElement.closest(".field")?.querySelector(".label")?.textContent ?? document.activeElement.textContent.trim());
    const tabTo = async (wanted) => {
      for (let n = 0; n < 60; n += 1) {
        if ((await focus()) === wanted && !(await page.evaluate(() => document.activeElement.matches(".state")))) return;
        await page.keyboard.press("Tab");
      }
      assert.fail(`Tab does not reach ${wanted}`);
    };
    await page.keyboard.press("/");
    await page.keyboard.type("find orders");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector("article.tool");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".violations");
    assert.equal(await focus(), "query", "the mistake is focused");
    await page.keyboard.type("Zürich");
    await tabTo("limit");
    await page.keyboard.type("2");
    await tabTo("Call");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".result .content");
    assert.match(await data(page), /2 items/);
    await page.keyboard.press("/");
    await page.keyboard.type("delete order");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.title.startsWith("shop_delete_order"));
    await tabTo("number");
    await page.keyboard.type("3");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector("dialog");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"));
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector("dialog");
    await tabTo("Call");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog .form");
    await page.keyboard.type("moved away");
    await tabTo("Answer");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".result .content");
    assert.match(await page.innerText(".result"), /deleted: moved away/);
  }));

  check("everything is done by touch on a phone", at(PHONE, async (page) => {
    await page.tap("nav a:has-text('place_order')");
    await page.waitForSelector("article.tool");
    assert.equal(await page.locator("#side nav").isVisible(), false);
    await page.tap("button:text-is('Fill in the example')");
    await page.tap(".actions .primary");
    await page.waitForSelector(".result .content, .result .violations");
    await page.tap(".modes label:has-text('JSON')");
    assert.ok(await page.locator(".json.whole").isVisible());
    await page.tap("[role=tab]:text-is('VS Code')");
    assert.match(await page.innerText(".snippet"), /"servers"/);
    await page.tap(".back");
    await page.waitForSelector("#side nav");
    await page.tap(".calls-link");
    await page.waitForSelector(".calls tbody tr");
    const small = await page.locator("button:visible, nav a:visible, select:visible").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height < 44 && !one.matches(".link")).map((one) => one.outerHTML.slice(0, 100)));
    assert.deepEqual(small, [], "targets are large enough");
  }));
}
