// What the service costs and how good it is, over the last hour, day or month; live.
import { listen } from "./api.js";
import { calibrationChart, onResize, timeChart } from "./charts.js";
import { $, el, fill, row } from "./dom.js";
import { money, number, percent } from "./format.js";
import { base, frame, refused, session, tell } from "./frame.js";
import { words } from "./words.js";

const LINES = ["up", "down", "third", "fourth", "fifth"];
let stop = () => {};
let latest = null;
let retry;
let chosen = new URLSearchParams(location.search).get("window") ?? "day";
const t = words.desk;
const cash = (value) => money(Math.round(100 * value) / 100, session.config.currency);

function begin() {
  latest = null;
  $("figures").hidden = true; // those of another stream
  connect();
}

fill("window", ...Object.entries(t.windows).map(([name, text]) =>
  el("button", { type: "button", value: name, "aria-pressed": String(name === chosen), onclick: () => choose(name) }, text)));

function choose(name) {
  chosen = name;
  for (const button of $("window").children) button.setAttribute("aria-pressed", String(button.value === name));
  connect();
}

// A page that nobody sees does not listen: browsers have few connections to one server.
function connect() {
  stop();
  clearTimeout(retry);
  if (document.visibilityState === "hidden" || !session.stream) return;
  stop = listen(`${base()}/live?window=${chosen}`, (found) => {
    latest = found;
    tell(found.counted < 1 ? t.counting(percent(found.counted)) : "");
    show();
  }, (error) => {
    const login = error?.status ? refused(error) : (tell(words.offline), false);
    if (!login) retry = setTimeout(connect, 1000);
  });
}

const running = (values) => {
  let total = 0;
  return values.map((value) => (total += value));
};
const sum = (values) => values.reduce((a, b) => a + b, 0);

function show() {
  if (!latest) return;
  $("figures").hidden = false;
  const { window: w, champion } = latest;
  drawTiles(latest, w);
  drawEstimate(w.estimate);
  drawModels(latest, w);
  drawInputs(w.inputs);
  const models = Object.keys(w.cost).sort((a, b) => (b === champion) - (a === champion));
  const lines = (change) => [
    ...models.map((name, k) => ({ label: name, values: change(w.cost[name]), colour: LINES[k % LINES.length], width: k ? 1.5 : 2.5 })),
    { label: t.nobody, values: change(w.nobody), colour: "quiet", dash: [6, 4], width: 1.5 },
    { label: t.everybody, values: change(w.everybody), colour: "quiet", dash: [2, 3], width: 1.5 },
  ];
  timeChart($("cost-chart"), w.time, lines(running), cash, t.costSummary(cash(sum(w.cost[champion] ?? [])), cash(sum(w.nobody)), cash(sum(w.everybody))));
  timeChart($("period-chart"), w.time, lines((values) => values), cash, t.perPeriodSummary);
  timeChart($("labels-chart"), w.time, [
    { label: t.asked, values: w.asked, colour: "down" },
    { label: t.came, values: w.labels, colour: "up" },
    { label: t.flagged, values: w.flagged, colour: "quiet", dash: [6, 4] },
  ], number, t.labelsSummary(number(sum(w.asked)), number(sum(w.labels))));
  const sure = w.probability.some((value) => value != null); // the score where there are no probabilities
  const [means, usual, text] = sure ? [w.probability, w.usual_probability, percent] : [w.score, w.usual_score, (value) => number(value, 3)];
  timeChart($("drift-chart"), w.time, [
    { label: sure ? t.probability : t.score, values: means, colour: "down" },
    ...(usual == null ? [] : [{ label: t.usual, values: w.time.map(() => usual), colour: "quiet", dash: [6, 4], width: 1.5 }]),
  ], (value) => text(value), t.driftSummary);
  $("drift").textContent = latest.drift.score.shift == null ? t.noDrift : t.shift(number(latest.drift.score.shift, 2));
  calibrationChart($("calibration-chart"), w.calibration, t.calibration, (value) => percent(value), t.calibrationSummary(w.calibration.length));
}

function tile(head, value, more) {
  return el("div", { class: "tile box" }, el("h2", {}, head), el("p", { class: "big" }, value), el("p", { class: "quiet" }, more));
}

function drawTiles(found, w) {
  const cost = sum(w.cost[found.champion] ?? []);
  const rival = Math.min(sum(w.nobody), sum(w.everybody));
  const left = found.budget_left == null ? t.unlimited : t.left(number(Math.floor(found.budget_left)));
  fill("tiles",
    tile(t.cost, cash(cost), rival > 0 ? t.saved(cash(Math.abs(rival - cost)), rival >= cost) : t.noLabels),
    tile(t.nobody, cash(sum(w.nobody)), t.against),
    tile(t.everybody, cash(sum(w.everybody)), t.against),
    tile(t.labels, number(sum(w.labels)), `${t.askedFor(number(sum(w.asked)))}; ${left}`),
    tile(t.events, number(sum(w.events)), t.flaggedOf(number(sum(w.flagged)))),
    tile(t.waiting, number(found.questions.open), t.aside(number(found.questions.aside))));
}

// A share on a line from 0 to 1, with a band of two standard errors.
function interval(value, error) {
  if (value == null) return el("span", {}, t.unknown);
  const band = el("i");
  const [low, high] = [Math.max(0, value - 2 * (error ?? 0)), Math.min(1, value + 2 * (error ?? 0))];
  band.style.insetInlineStart = `${100 * low}%`;
  band.style.inlineSize = `${100 * (high - low)}%`;
  const dot = el("b");
  dot.style.insetInlineStart = `${100 * value}%`;
  return el("span", { class: "interval", "aria-hidden": "true" }, band, dot);
}

function drawEstimate(e) {
  const share = (name) => row(t[name], e[name] == null ? t.unknown : `${percent(e[name], 3)} ± ${percent(e[`${name}_error`] ?? 0)}`, interval(e[name], e[`${name}_error`]));
  const cost = e.cost == null ? t.unknown : `${cash(e.cost)} ± ${cash(e.cost_error ?? 0)}`;
  fill("estimate", share("sensitivity"), share("specificity"), share("precision"), row(t.costAll, cost, ""));
}

function drawModels(found, w) {
  const line = (name, account) => row(name === found.champion ? t.decides(name) : name,
    number(account.missed), number(account.alarms), cash(account.cost), name === found.champion ? "" : cash(account.decided));
  const failed = found.models.filter((m) => m.failed).map((m) => row(m.name, t.failed, "", "", m.failed));
  fill("models", ...Object.entries(w.models).map(([name, account]) => line(name, account)), ...failed,
    row(t.nobody, "", "", cash(sum(w.nobody)), ""), row(t.everybody, "", "", cash(sum(w.everybody)), ""));
}

function drawInputs(inputs) {
  const largest = Math.max(...inputs.map(([, , , shift]) => Math.abs(shift)), 0.25);
  fill("inputs", ...(inputs.length ? inputs.map(([name, mean, usual, shift]) => {
    const bar = el("span", { class: `bar ${shift > 0 ? "up" : "down"}`, "aria-hidden": "true" }, el("i"));
    bar.firstChild.style.inlineSize = `${(100 * Math.abs(shift)) / largest}%`;
    return row(name, t.means(number(usual, 3), number(mean, 3)), bar, t.deviations(`${shift > 0 ? "+" : "−"}${number(Math.abs(shift), 2)}`));
  }) : [row(t.noInputs, "")]));
}

document.addEventListener("visibilitychange", connect);
onResize(show);
frame("desk", begin);
