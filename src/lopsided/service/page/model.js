// What is in the models, and what decides: prices, budget, promotion, snapshots. Every change is a
// row of the log.
import { call } from "./api.js";
import { $, el, fill, row } from "./dom.js";
import { money, number, time } from "./format.js";
import { base, frame, refused, say, session } from "./frame.js";
import { words } from "./words.js";

const t = words.model;
let shown = ""; // the model whose weights are shown
const admin = () => session.role === "admin";
const cash = (value) => money(value, session.config.currency);

async function begin() {
  const [found, { snapshots }, { changes }] = await Promise.all([
    call("GET", base()), call("GET", `${base()}/snapshots`), call("GET", `${base()}/changes`),
  ]);
  session.config = found.config;
  if (!found.models.some((model) => model.name === shown)) shown = found.champion;
  drawModels(found);
  drawSettings(found.config);
  drawChallenger(found);
  drawSnapshots(snapshots);
  fill("changes", ...changes.map(change));
  await drawWeights();
}

// Does something and shows what became of it.
async function act(text, ...request) {
  try {
    await call(...request);
    await begin();
    say(text);
  } catch (error) {
    if (!refused(error)) say(error.message || words.offline);
  }
}

const button = (text, press, kind = "") => el("button", { type: "button", class: kind, disabled: !admin(), title: admin() ? null : t.adminOnly, onclick: press }, text);

function drawModels(found) {
  fill("models", ...found.models.map((model) => {
    const decides = model.role === "champion";
    const promote = () => confirm(t.sure(model.name)) && act(t.promoted(model.name), "PUT", `${base()}/champion`, { name: model.name });
    const remove = () => confirm(t.sureRemove(model.name)) && act(t.removed(model.name), "DELETE", `${base()}/models/${model.name}`);
    return el("article", { class: "model", "aria-label": model.name },
      el("h3", {}, model.name, " ", el("span", { class: `chip ${decides ? "unsure" : ""}` }, decides ? t.decides : t.challenger)),
      el("p", {}, t.about(model, cash)),
      model.failed ? el("p", { class: "refused" }, model.failed) : null,
      el("div", { class: "actions" },
        el("button", { type: "button", "aria-pressed": String(model.name === shown), onclick: () => choose(model.name) }, t.weights),
        decides ? null : button(t.promote, promote), decides ? null : button(t.remove, remove),
        button(t.download, () => download(model.name))));
  }));
  const { before } = found;
  const there = found.models.some((model) => model.name === before);
  fill("rollback", ...(there ? [button(t.rollback(before), () => confirm(t.sure(before)) && act(t.promoted(before), "PUT", `${base()}/champion`, { name: before }))] : []));
}

function choose(name) {
  shown = name;
  begin();
}

async function download(name) {
  const response = await fetch(`${base()}/models/${name}/file`, { headers: { "x-lopsided": "page" } });
  if (!response.ok) return void say((await response.json()).error);
  const link = el("a", { href: URL.createObjectURL(await response.blob()), download: `${session.stream}-${name}.lop` });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function drawWeights() {
  const model = await call("GET", `${base()}/models/${shown}`);
  $("of").textContent = t.of(model);
  const weights = model.weights ?? [];
  const largest = Math.max(...weights.map(([, weight]) => Math.abs(weight)), 1e-9);
  fill("weights", ...(weights.length ? weights.map(([name, weight]) => {
    const kind = weight > 0 ? "up" : "down";
    const bar = el("span", { class: `bar ${kind}`, "aria-hidden": "true" }, el("i"));
    bar.firstChild.style.inlineSize = `${(100 * Math.abs(weight)) / largest}%`;
    return row(name.replace("=", " = "), bar, el("span", { class: kind, dir: "ltr" }, `${weight > 0 ? "+" : "−"}${number(Math.abs(weight), 3)}`));
  }) : [row(t.noWeights, "")]));
}

function field(name, value, options = {}) {
  const input = el("input", { id: `set-${name}`, name, disabled: !admin(), autocomplete: "off", ...options });
  if (options.type === "checkbox") input.checked = value;
  else input.value = value ?? "";
  return el("label", { for: `set-${name}` }, t.fields[name], input);
}

const submits = (form, run) => {
  form.onsubmit = (event) => {
    event.preventDefault();
    run(Object.fromEntries(new FormData(form)));
  };
};

// Typing is not overwritten when something else on the page changes.
function drawSettings(config) {
  if ($("settings").contains(document.activeElement)) return;
  fill("settings",
    field("miss", config.costs?.miss ?? 10, { type: "number", min: 0, step: "any", required: true }),
    field("alarm", config.costs?.alarm ?? 1, { type: "number", min: 0, step: "any", required: true }),
    field("budget", config.budget, { placeholder: "50/day" }),
    el("p", { class: "quiet" }, t.budgetHint), el("button", { disabled: !admin() }, t.save));
  submits($("settings"), (given) => {
    const budget = given.budget.trim();
    const body = { costs: { miss: Number(given.miss), alarm: Number(given.alarm) }, budget: budget === "" ? null : /^\d+$/.test(budget) ? Number(budget) : budget };
    document.activeElement.blur();
    act(t.saved, "PUT", base(), body);
  });
}

function drawChallenger(found) {
  if ($("challenger").contains(document.activeElement)) return;
  const name = `model-${found.models.length + 1}`;
  fill("challenger",
    field("name", name, { required: true, maxlength: 64, pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]*" }),
    field("learner", "Recommended", { required: true }),
    field("replay", true, { type: "checkbox" }),
    el("button", { disabled: !admin() }, t.add));
  submits($("challenger"), (given) => {
    document.activeElement.blur();
    act(t.added(given.name), "POST", `${base()}/models`, { name: given.name, learner: given.learner, replay: given.replay === "on" });
  });
}

// A snapshot comes back as a challenger; promoting it goes back to it.
function drawSnapshots(snapshots) {
  fill("snapshots", ...(snapshots.length ? snapshots.map((snapshot) => {
    const name = `${snapshot.model}-${snapshot.seq}`;
    const back = () => act(t.added(name), "POST", `${base()}/models`, { name, snapshot: snapshot.seq, of: snapshot.model });
    return row(t.snapshot(snapshot, time(snapshot.time)), snapshot.bytes ? button(t.back, back) : "");
  }) : [row(t.noSnapshots, "")]));
  fill("snap", button(t.take, () => act(t.taken, "POST", `${base()}/snapshots`, {})));
}

const change = (made) => el("li", {}, el("time", { datetime: new Date(1000 * made.time).toISOString() }, time(made.time)), ` ${t.changed(made)}`);

frame("model", () => begin().catch(refused));
