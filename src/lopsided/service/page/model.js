// What is in the models, and what decides: prices, budget, promotion, snapshots. Every change is a
// row of the log.
import { call, newest } from "./api.js";
import { $, el, fill, row } from "./dom.js";
import { machineTime, money, number, time } from "./format.js";
import { base, frame, refused, say, session, tell } from "./frame.js";
import { words } from "./words.js";

const t = words.model;
let shown = ""; // the model whose weights are shown
const admin = () => session.role === "admin";
const cash = (value) => money(value, session.config.currency);

async function load() {
  const path = base();
  const [found, { snapshots }, { changes }] = await Promise.all([
    call("GET", path), call("GET", `${path}/snapshots`), call("GET", `${path}/changes`),
  ]);
  const name = found.models.some((model) => model.name === shown) ? shown : found.champion;
  return { found, snapshots, changes, model: await call("GET", `${path}/models/${name}`) };
}

const begin = newest(load, ({ found, snapshots, changes, model }) => {
  const held = document.activeElement.id; // what is pressed is drawn anew
  session.config = found.config;
  shown = model.name;
  drawModels(found);
  drawSettings(found.config);
  drawChallenger(found);
  drawSnapshots(snapshots);
  fill("changes", ...changes.map(change));
  drawWeights(model);
  if (held && document.activeElement === document.body) $(held)?.focus();
});

// Does something, one thing at a time, and shows what became of it.
let acting = false;
async function act(text, ...request) {
  if (acting) return;
  acting = true;
  try {
    await call(...request);
    await begin();
    tell("");
    say(text);
  } catch (error) {
    refused(error);
  } finally {
    acting = false;
  }
}

const button = (id, text, press) => el("button", { type: "button", id, disabled: !admin(), title: admin() ? null : t.adminOnly, onclick: press }, text);

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
        el("button", { type: "button", id: `features-${model.name}`, "aria-pressed": String(model.name === shown), onclick: () => choose(model.name) }, t.weights),
        decides ? null : button(`promote-${model.name}`, t.promote, promote), decides ? null : button(`remove-${model.name}`, t.remove, remove),
        button(`download-${model.name}`, t.download, () => download(model.name))));
  }));
  const { before } = found;
  const there = found.models.some((model) => model.name === before);
  fill("rollback", ...(there ? [button("roll-back", t.rollback(before), () => confirm(t.sure(before)) && act(t.promoted(before), "PUT", `${base()}/champion`, { name: before }))] : []));
}

function choose(name) {
  shown = name;
  begin().catch(refused);
}

async function download(name) {
  const response = await fetch(`${base()}/models/${name}/file`, { headers: { "x-lopsided": "page" } });
  if (!response.ok) return void say((await response.json()).error);
  const link = el("a", { href: URL.createObjectURL(await response.blob()), download: `${session.stream}-${name}.lop` });
  link.click();
  URL.revokeObjectURL(link.href);
}

function drawWeights(model) {
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
  form.oninput = () => (form.dataset.typed = session.stream);
  form.onsubmit = (event) => {
    event.preventDefault();
    delete form.dataset.typed;
    run(Object.fromEntries(new FormData(form)));
  };
};

// Typing is not overwritten when something else on the page changes.
const typed = (form) => form.dataset.typed === session.stream;

function drawSettings(config) {
  if (typed($("settings"))) return;
  fill("settings",
    field("miss", config.costs?.miss ?? 10, { type: "number", min: 0, step: "any", required: true }),
    field("alarm", config.costs?.alarm ?? 1, { type: "number", min: 0, step: "any", required: true }),
    field("budget", config.budget, { placeholder: "50/day" }),
    el("p", { class: "quiet" }, t.budgetHint), el("button", { id: "save", disabled: !admin() }, t.save));
  submits($("settings"), (given) => {
    const budget = given.budget.trim();
    const body = { costs: { miss: Number(given.miss), alarm: Number(given.alarm) }, budget: budget === "" ? null : /^\d+$/.test(budget) ? Number(budget) : budget };
    act(t.saved, "PUT", base(), body);
  });
}

function drawChallenger(found) {
  if (typed($("challenger"))) return;
  const name = `model-${found.models.length + 1}`;
  fill("challenger",
    field("name", name, { required: true, maxlength: 64, pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]*" }),
    field("learner", "Recommended", { required: true }),
    field("replay", true, { type: "checkbox" }),
    el("button", { id: "add", disabled: !admin() }, t.add));
  submits($("challenger"), (given) => {
    act(t.added(given.name), "POST", `${base()}/models`, { name: given.name, learner: given.learner, replay: given.replay === "on" });
  });
}

// A snapshot comes back as a challenger; promoting it goes back to it.
function drawSnapshots(snapshots) {
  fill("snapshots", ...(snapshots.length ? snapshots.map((snapshot) => {
    const name = `${snapshot.model}-${snapshot.seq}`;
    const back = () => act(t.added(name), "POST", `${base()}/models`, { name, snapshot: snapshot.seq, of: snapshot.model });
    return row(t.snapshot(snapshot, time(snapshot.time)), snapshot.bytes ? button(`back-${name}`, t.back, back) : "");
  }) : [row(t.noSnapshots, "")]));
  fill("snap", button("take", t.take, () => act(t.taken, "POST", `${base()}/snapshots`, {})));
}

const change = (made) => el("li", {}, el("time", { datetime: machineTime(made.time) }, time(made.time)), ` ${t.changed(made)}`);

frame("model", begin);
