// The request for a token, in place of everything else.

import { h, uniqueId } from "./dom.js";
import { setToken } from "./session.js";

/** Creates the request. `done` is called with the token set. */
export function tokenView(message, done) {
  const id = uniqueId("token");
  const input = h("input", { id, type: "password", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-note` });
  const box = h("input", { type: "checkbox" });
  const form = h("form", { class: "token" },
    h("h2", {}, "Token"),
    h("p", { id: `${id}-note` }, message, " It is sent to this server only, and kept in the memory of this page."),
    h("label", { for: id }, "Token"), input,
    h("label", { class: "radio" }, box, h("span", {}, "Keep it until this tab is closed")),
    h("div", { class: "actions" }, h("button", { class: "primary" }, "Continue")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(input.value, box.checked);
    input.value = "";
    done();
  });
  return { element: form, input };
}
