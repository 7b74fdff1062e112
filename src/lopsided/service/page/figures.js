// What the service has come to, and what is known of one event.
import { call, Unreachable } from "./api.js";
import { number, words } from "./words.js";

const $ = (id) => document.getElementById(id);
let stream = "";
let config = {};
const base = () => `/v1/${encodeURIComponent(stream)}`;

function row(head, ...cells) {
  const made = document.createElement("tr");
  const first = document.createElement("th");
  first.scope = "row";
  first.textContent = head;
  made.append(
    first,
    ...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }),
  );
  return made;
}

const give = (value) => (value == null ? words.unknown : number(value));
const within = (value, error) => (value == null ? words.unknown : `${number(value)} ± ${give(error)}`);

async function refresh() {
  const found = await call("GET", base());
  config = found.config;
  $("labels").replaceChildren(
    row(words.events, number(found.events)),
    row(words.flagged, number(found.flagged)),
    row(words.asked, number(found.asked)),
    row(words.labels, number(found.labels)),
    row(words.left, found.budget_left == null ? words.unlimited : number(found.budget_left)),
    row(words.calibration, give(found.calibration.error)),
    row(words.drift, give(found.drift.score.shift)),
  );
  $("models").replaceChildren(
    ...found.models.map((m) =>
      row(`${m.name}${m.role === "champion" ? ` (${words.decides})` : ""}`, number(m.missed), number(m.alarms), number(m.cost)),
    ),
    row(words.nobody, "", "", number(found.cost.nobody_flagged)),
    row(words.everybody, "", "", number(found.cost.everybody_flagged)),
  );
  const e = found.estimate || {};
  $("estimate").replaceChildren(
    row(words.sensitivity, within(e.sensitivity, e.sensitivity_error)),
    row(words.specificity, within(e.specificity, e.specificity_error)),
    row(words.cost, within(e.cost, e.cost_error)),
  );
}

async function show(key) {
  $("unknown").textContent = "";
  const found = await call("GET", `${base()}/events/${encodeURIComponent(key)}`);
  const facts = found.event ? Object.entries(found.event.features) : [];
  const said = found.history.map((h) => [
    `${h.kind} ${new Date(1000 * h.time).toLocaleString()}`,
    [h.label, h.verdict, h.source, h.by, h.note].filter((part) => part != null).join(", "),
  ]);
  const answer = found.answer ? [[words.decision, words.judged(found.answer)]] : [];
  $("event").replaceChildren(...[...answer, ...facts, ...said].map(([name, value]) => row(name, number(value))));
  $("correct").hidden = false;
  $("correct").replaceChildren(
    ...[config.positive ?? 1, config.negative ?? 0].map((label) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words.itWas(label);
      button.addEventListener("click", async () => {
        const id = crypto.randomUUID();
        const body = { labels: [{ key, label, source: "correction", id }] };
        const { results } = await call("POST", `${base()}/labels`, body);
        $("state").textContent = `${key}: ${results[0].result}`;
        await show(key);
        await refresh();
      });
      return button;
    }),
  );
}

async function start() {
  try {
    const { streams } = await call("GET", "/v1");
    stream = new URLSearchParams(location.search).get("stream") || streams[0];
    $("stream").replaceChildren(...streams.map((name) => new Option(name, name, false, name === stream)));
    await refresh();
    setInterval(() => refresh().then(() => ($("state").textContent ||= ""), () => ($("state").textContent = words.offline)), 5000);
  } catch (error) {
    if (error instanceof Unreachable) setTimeout(start, 1000);
    else location.href = "/";
  }
}

$("stream").addEventListener("change", (event) => {
  stream = event.target.value;
  refresh();
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  show($("key").value.trim()).catch((error) => {
    $("event").replaceChildren();
    $("correct").hidden = true;
    $("unknown").textContent = error.message;
  });
});
start();
