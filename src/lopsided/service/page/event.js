// One event by its key: what is known, how it was decided, its history, and correcting its label.
import { call } from "./api.js";
import { dialog, el, row } from "./dom.js";
import { machineTime, time, value } from "./format.js";
import { bindings } from "./keys.js";
import { words } from "./words.js";

let shown;
let opening = 0; // the call that opened last: what others are answered comes too late

// `say` is told what became of a correction; `older` opens the event before, if there is one.
export async function openEvent(base, config, key, say, older) {
  shown ??= dialog("found", { text: "", close: words.close }, el("div", { id: "event" }));
  shown.onkeydown = (press) => {
    if (older && press.key.toLowerCase() === bindings().previous) older();
  };
  const title = document.getElementById("found-title");
  const body = document.getElementById("event");
  const mine = ++opening;
  title.textContent = key;
  if (!shown.open) {
    body.replaceChildren(el("p", {}, words.opening));
    shown.showModal(); // at once: one that opens later would come back after it was closed
  }
  let found;
  try {
    found = await call("GET", `${base}/events/${encodeURIComponent(key)}`);
  } catch (error) {
    if (mine === opening) body.replaceChildren(el("p", { id: "unknown", role: "alert" }, error.message || words.offline));
    return;
  }
  if (mine !== opening) return;
  const correct = async (label) => {
    try {
      const made = { key, label, source: "correction", id: crypto.randomUUID() };
      const { results } = await call("POST", `${base}/labels`, { labels: [made] });
      say(`${key}: ${words.results[results[0].result] ?? results[0].error}`);
      if (shown.open && mine === opening) await openEvent(base, config, key, say, older);
    } catch (error) {
      say(error.message || words.offline);
    }
  };
  body.replaceChildren(...contents(found, config, correct));
}

function contents(found, config, correct) {
  const facts = found.event ? Object.entries({ ...found.event.show, ...found.event.features }) : [];
  const hidden = new Set(config.hidden ?? []);
  const table = facts.filter(([name]) => !hidden.has(name)).map(([name, given]) => row(name, value(name, given, config.formats)));
  const answers = [config.positive ?? 1, config.negative ?? 0].map((label) =>
    el("button", { type: "button", onclick: () => correct(label) }, words.itWas(label)));
  return [
    el("p", {}, found.answer ? words.judged({ ...found.answer, costs: found.event.costs ?? config.costs }, config) : words.noEvent),
    el("h3", {}, words.history),
    el("ol", { class: "past" }, ...(found.history.length ? found.history.map((step) => el("li", {}, ...stepText(step))) : [el("li", {}, words.noHistory)])),
    el("div", { id: "correct", role: "group", "aria-label": words.correct }, ...answers),
    el("h3", {}, words.facts),
    el("table", {}, el("tbody", {}, ...table)),
  ];
}

function stepText(step) {
  const what = [step.label, step.verdict && (words.actions[step.verdict] ?? step.verdict), step.source, step.by, step.note];
  return [
    el("time", { datetime: machineTime(step.time) }, time(step.time)),
    ` ${words.kinds[step.kind] ?? step.kind}: ${what.filter((part) => part != null).join(", ")}`,
  ];
}
