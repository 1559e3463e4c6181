// Dialogs: the questions of a tool to its user, and the confirmation of calls that may destroy something.

import { h, uniqueId, webLink } from "./dom.js";
import { Form } from "./form.js";
import { at, textAt, write } from "./json.js";

/** Shows a dialog and waits for the value that one of its buttons closes it with; `null` after Escape. */
function openDialog(title, content, buttons) {
  return new Promise((resolve) => {
    const id = uniqueId("dialog");
    const dialog = h("dialog", { "aria-labelledby": id });
    let outcome = null;
    const bar = buttons.map(({ label, style, value }) =>
      h("button", {
        type: "button", class: style ?? "",
        onclick: () => {
          const result = value();
          if (result === undefined) return;
          outcome = result;
          dialog.close();
        },
      }, label));
    dialog.append(h("h2", { id }, title), ...content, h("div", { class: "actions" }, bar));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(outcome);
    });
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector(".field-body :is(input, textarea, select), .primary")?.focus();
  });
}

async function askForm(params, tool) {
  const form = new Form(at(params, "requestedSchema") ?? { type: "object", entries: [] }, "the answer");
  const content = [
    h("p", { class: "from" }, "Asked by ", h("code", {}, tool)),
    h("p", { class: "message" }, textAt(params, "message") ?? ""),
    form.element,
  ];
  const accept = () => {
    const node = form.get();
    return node === null ? undefined : `{"action":"accept","content":${write(node)}}`;
  };
  return openDialog("The tool asks", content, [
    { label: "Answer", style: "primary", value: accept },
    { label: "Decline", value: () => '{"action":"decline"}' },
    { label: "Cancel the call", style: "quiet", value: () => '{"action":"cancel"}' },
  ]);
}

async function askUrl(params, tool) {
  const content = [
    h("p", { class: "from" }, "Asked by ", h("code", {}, tool)),
    h("p", { class: "message" }, textAt(params, "message") ?? ""),
    h("p", {}, "Open this page, and continue when you are done there: ", webLink(textAt(params, "url") ?? "")),
  ];
  return openDialog("The tool asks you to open a page", content, [
    { label: "Continue", style: "primary", value: () => '{"action":"accept"}' },
    { label: "Decline", value: () => '{"action":"decline"}' },
  ]);
}

/** Asks the questions of a call. Returns the answers as JSON text, or `null` if the user cancels the call. */
export async function ask(requests, tool) {
  const answers = [];
  for (const [key, request] of requests) {
    const params = at(request, "params");
    let answer = '{"action":"cancel"}';
    if (textAt(request, "method") === "elicitation/create") {
      answer = textAt(params, "mode") === "url" ? await askUrl(params, tool) : await askForm(params, tool);
      if (answer === null) return null;
    }
    answers.push(`${JSON.stringify(key)}:${answer}`);
  }
  return `{${answers.join(",")}}`;
}

const unasked = new Set();

/** Asks whether a tool that may destroy something should be called. */
export async function confirmCall(tool, args) {
  if (unasked.has(tool)) return true;
  const box = h("input", { type: "checkbox" });
  const content = [
    h("p", {}, h("code", {}, tool), " may destroy or overwrite something. It is called with:"),
    h("pre", { tabindex: 0 }, h("code", {}, args.slice(0, 5_000))),
    h("label", { class: "radio" }, box, h("span", {}, "Do not ask again for this tool until the page is closed")),
  ];
  const outcome = await openDialog("Call this tool?", content, [
    { label: "Call", style: "danger", value: () => true },
    { label: "Cancel", value: () => false },
  ]);
  if (outcome && box.checked) unasked.add(tool);
  return outcome === true;
}
