// Making elements. Text is only ever set as text, so what events say cannot become markup.
export const $ = (id) => document.getElementById(id);

// el("td", { class: "up" }, "text", otherElement)
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// A row of a table: its head and cells, which are texts or elements.
export function row(head, ...cells) {
  return el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, head)), ...cells.map((cell) => el("td", {}, typeof cell === "string" ? el("bdi", {}, cell) : cell)));
}

export const fill = (id, ...children) => $(id).replaceChildren(...children);

// Dialogs close by Escape, by their button and by a click beside them.
export function dialog(id, title, ...children) {
  const close = el("button", { type: "button", class: "plain close", "aria-label": title.close }, "×");
  const made = el("dialog", { id, "aria-labelledby": `${id}-title` },
    el("header", {}, el("h2", { id: `${id}-title` }, title.text), close), ...children);
  close.addEventListener("click", () => made.close());
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}
