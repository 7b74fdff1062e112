// Which key does what: one key, without modifiers, chosen by whoever uses this browser.
import { dialog, el } from "./dom.js";
import { words } from "./words.js";

const STORED = "lopsided keys";
export const usual = {
  positive: "f", negative: "j", skip: " ", unsure: "s", escalate: "e", undo: "u", note: "n",
  previous: "p", same: "b", search: "/", help: "?",
};

export function bindings() {
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem(STORED)) };
  } catch {
    return usual; // something else has written there
  }
}
export const shown = (key) => (key === " " ? words.space : key);

// Calls what belongs to a key, unless somebody types or a dialog is open.
export function onKeys(actions) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
    const presses = target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement || target.tagName === "SUMMARY";
    if (presses && (event.key === " " || event.key === "Enter")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const name = Object.entries(bindings()).find(([, bound]) => bound === key)?.[0];
    if (!actions[name]) return;
    event.preventDefault();
    actions[name]();
  });
}

// A dialog with all keys, where each can be changed by pressing another one.
export function keyDialog(names, changed) {
  const message = el("p", { role: "alert" });
  const list = el("dl", { class: "keys" });
  const made = dialog("keys", { text: words.keys.title, close: words.close }, el("p", {}, words.keys.hint), list, message,
    el("button", { type: "button", onclick: () => keep({}) }, words.keys.reset));

  function keep(chosen) {
    localStorage.setItem(STORED, JSON.stringify(chosen));
    draw();
    changed();
  }

  function take(name, event) {
    if (event.key === "Tab" || event.key === "Escape" || event.key === "Shift") return;
    event.preventDefault();
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const now = bindings();
    const taken = Object.keys(now).find((other) => other !== name && now[other] === key);
    message.textContent = taken ? words.keys.taken(shown(key), names()[taken]) : "";
    if (taken || event.ctrlKey || event.metaKey || event.altKey) return;
    keep({ ...now, [name]: key });
    document.getElementById(`key-${name}`).focus();
  }

  function draw() {
    const now = bindings();
    list.replaceChildren(...Object.keys(usual).map((name) =>
      el("div", {},
        el("dt", {}, el("label", { for: `key-${name}` }, names()[name])),
        el("dd", {}, withValue(el("input", { id: `key-${name}`, readonly: true, size: 6, onkeydown: (event) => take(name, event) }), shown(now[name]))))));
  }

  return () => {
    message.textContent = "";
    draw();
    made.showModal();
  };
}

function withValue(input, text) {
  input.value = text;
  return input;
}
