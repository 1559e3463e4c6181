// Light, dark, or as the system.

import { h } from "./dom.js";

const STORED = "toolkit-explorer-theme";
const THEMES = [["system", "System colors"], ["light", "Light colors"], ["dark", "Dark colors"]];

/** Creates the switch, and applies the stored choice. */
export function themeSwitch() {
  let theme = "system";
  try {
    theme = localStorage.getItem(STORED) ?? "system";
  } catch {
    // The browser keeps nothing for this page.
  }
  const select = h("select", { class: "theme", "aria-label": "Colors" }, THEMES.map(([value, label]) => h("option", { value }, label)));
  const apply = () => {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  select.value = THEMES.some(([value]) => value === theme) ? theme : "system";
  select.addEventListener("change", () => {
    theme = select.value;
    try {
      localStorage.setItem(STORED, theme);
    } catch {
      // The choice lasts as long as the page.
    }
    apply();
  });
  apply();
  return select;
}
