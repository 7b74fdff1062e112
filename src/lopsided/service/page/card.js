// A question as a person reads it: why it is asked, what the model thinks and why, all that is known.
import { $, el, fill, row } from "./dom.js";
import { machineTime, number, time, value } from "./format.js";
import { words } from "./words.js";

export function drawCard(question, config) {
  $("title").textContent = question.key;
  $("when").textContent = time(question.time);
  $("when").dateTime = machineTime(question.time);
  $("why").className = `chip ${question.why}`;
  $("why").textContent = words.whyShort[question.why] ?? question.why;
  $("because").textContent = words.why(question, config);
  $("judged").textContent = words.judged(question, config);
  drawOdds(question);
  const known = Object.entries({ ...question.show, ...question.features });
  fill("facts", ...known.map(([name, given]) => row(name, value(name, given, config.formats))));
  drawReasons(question, config);
}

// The probability as a bar, with a mark where decisions change at the prices of this event.
function drawOdds({ probability, costs, flag }) {
  $("odds").hidden = probability == null;
  if (probability == null) return;
  $("odds").className = flag ? "odds flagged" : "odds";
  $("odds").setAttribute("aria-label", words.odds(probability));
  const [part, line] = $("odds").children;
  part.style.inlineSize = `${100 * probability}%`;
  line.style.insetInlineStart = `${(100 * costs.alarm) / (costs.alarm + costs.miss)}%`;
}

// What moved the score most, up or down, with the value that did it.
function drawReasons(question, config) {
  const reasons = question.reasons ?? [];
  const largest = Math.max(...reasons.map(([, part]) => Math.abs(part)), 1e-9);
  $("reasons").hidden = !reasons.length;
  fill("pushes", ...reasons.map(([name, part]) => {
    const kind = part > 0 ? "up" : "down";
    const bar = el("span", { class: `bar ${kind}`, "aria-hidden": "true" }, el("i"));
    bar.firstChild.style.inlineSize = `${(100 * Math.abs(part)) / largest}%`;
    const given = question.features[name];
    const said = given === undefined ? [name.replace(/=/g, " = ")] : [name, " ", el("bdi", { class: "value" }, value(name, given, config.formats))];
    return el("tr", {}, el("th", { scope: "row" }, ...said), el("td", {}, bar),
      el("td", { class: kind }, el("bdi", { dir: "ltr" }, `${part > 0 ? "+" : "−"}${number(Math.abs(part), 2)}`)));
  }));
}
