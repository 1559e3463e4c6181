// Violations of the input schema, as the server reports them: each at its field, and all in a list.

import { h } from "./dom.js";
import { at, itemsAt, textAt } from "./json.js";

/** Shows the violations of an error at the fields of a form. Returns the list of them, or `null` if there are none. */
export function showViolations(error, form) {
  const violations = itemsAt(error, "violations");
  if (violations.length === 0) return null;
  form.clear();
  const list = h("ol", { class: "violations" });
  let first = null;
  for (const violation of violations) {
    const pointer = textAt(violation, "pointer") ?? "";
    const rule = textAt(violation, "rule") ?? "";
    const suggestion = textAt(violation, "suggestion");
    const message = suggestion ? `${rule}; ${suggestion}` : rule;
    const { slot } = form.mark(pointer, message);
    first ??= slot;
    const go = h("button", { type: "button", class: "link" }, h("code", {}, pointer || "/"));
    go.addEventListener("click", () => {
      if (form.mode === "form") slot.focus();
      else form.text.focus();
    });
    const item = h("li", {}, go, " ", message);
    item.dataset.pointer = pointer;
    item.dataset.keyword = textAt(violation, "keyword") ?? "";
    list.append(item);
  }
  if (form.mode === "form") first?.focus();
  else form.text.focus();
  return list;
}

/** Returns the error of a result as data. */
export function errorOf(result) {
  return at(result, "_meta", "rs.toolkit/error");
}
