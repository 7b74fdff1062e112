// The queue: one question at a time; one key is label, save and next.
import { call, newest, Refused } from "./api.js";
import { drawCard } from "./card.js";
import { $, el, fill } from "./dom.js";
import { openEvent } from "./event.js";
import { base, frame, refused, say, session, tell } from "./frame.js";
import { bindings, keyDialog, onKeys, shown } from "./keys.js";
import { Outbox } from "./outbox.js";
import { Queue } from "./queue.js";
import { words } from "./words.js";

const PAST = 20;
const PATIENCE = 20000; // milliseconds that taking an answer back may take
let queue = null;
let past = []; // what was answered here, the newest first
let same = 0; // how many identical events get the next label too
let marking = null; // the search for them that is on its way
let undoing = false; // what is shown is not what the next key is meant for
let since = 0;
const outbox = new Outbox((waiting, offline) => tell(offline ? words.offline : waiting ? words.sending(waiting) : ""));

async function begin() {
  queue?.end();
  past = [];
  drawPast();
  drawButtons();
  const mine = (queue = new Queue(base(), session.config.lease ?? 300, show, refused));
  await count();
  if (mine === queue) mine.advance();
}

const count = newest(() => call("GET", base()), (found) => {
  $("counts").textContent = words.counts(found);
  $("aside").hidden = !found.questions.aside;
  if ($("aside").open) drawAside().catch(refused);
});

// What was escalated or left as unsure, for whoever may decide.
const drawAside = newest(() => call("GET", `${base()}/aside`), ({ questions }) => {
  fill("set-aside", ...questions.map(({ key, verdict, by, note }) =>
    el("li", {},
      el("button", { type: "button", class: "plain", onclick: () => openEvent(base(), session.config, key, say) }, key),
      el("span", {}, [words.actions[verdict], by, note].filter(Boolean).join(", ")))));
});

function show(question, waiting) {
  unmark();
  $("card").hidden = $("buttons").hidden = !question;
  $("empty").textContent = question ? "" : waiting ? words.loading : words.empty;
  if (!question) return;
  drawCard(question, session.config);
  $("note").value = "";
  since = performance.now();
  $("announce").textContent = words.announce(question, session.config);
}

// Answering -----------------------------------------------------------------------------------------

const labels = () => [session.config.positive ?? 1, session.config.negative ?? 0];

function answer(what) {
  const question = queue?.current;
  if (!question || undoing) return;
  const note = $("note").value.trim();
  const body = { key: question.key, lease: question.lease, ...what, ms: Math.round(performance.now() - since) };
  if (note) body.note = note;
  say("");
  if (same && "label" in what) body.same = true;
  const done = { question, queue, text: String(what.label ?? words.actions[what.verdict]), more: body.same ? same : 0 };
  past = [done, ...past].slice(0, PAST);
  outbox.put({ path: `${base()}/answers`, body }, (outcome) => settled(done, outcome));
  if (body.same) same = 0; // no question is fetched before the identical ones are answered
  queue.advance();
  drawPast();
}

function settled(done, outcome) {
  if (done.more) done.queue.pause(false);
  if (outcome instanceof Error) {
    done.refused = outcome.message;
    say(outcome.message);
  } else if (outcome.same) done.more = outcome.same;
  drawPast();
  count().catch(() => {});
}

// An answer is taken back here if it has not left, else on the server as long as it allows that;
// after that its label can be corrected.
async function undo() {
  const last = past[0];
  if (!last || undoing) return;
  if (queue.holds(last.question.key)) return back(last, queue.take(last.question.key)); // it was skipped and has come back
  busy(true);
  try {
    if (await takeBack(last)) back(last, last.question);
  } finally {
    busy(false);
  }
}

function busy(on) {
  undoing = on;
  $("card").setAttribute("aria-busy", String(on));
}

// Shows a question again; one of a stream that was left meanwhile is given back.
function back(last, question) {
  past = past.filter((other) => other !== last);
  drawPast();
  if (last.queue !== queue) return last.queue.give(question);
  queue.back(question);
  if (last.more) queue.pause(false);
}

// Says whether an answer was taken back.
async function takeBack({ question: { key, lease } }) {
  const path = base();
  let dropped;
  while ((dropped = outbox.drop(lease)) === undefined) { // an undo must not overtake its answer
    await new Promise((later) => setTimeout(later, 20));
  }
  try {
    if (!dropped) await call("DELETE", `${path}/answers/${encodeURIComponent(key)}?lease=${lease}`, undefined, PATIENCE);
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 409 && path === base()) openEvent(path, session.config, key, say);
    say(error.message || words.offline);
    return false;
  }
}

// The next label is that of all waiting events with the same features, until asked otherwise.
async function mark() {
  if (!queue?.current || undoing) return;
  if (same || marking) return unmark();
  const mine = (marking = { queue });
  const path = `${base()}/questions/${encodeURIComponent(queue.current.key)}/same`;
  await mine.queue.pause(true);
  const { count: found } = await call("GET", path).catch(() => ({ count: 0 }));
  if (mine !== marking) { // it was cancelled, or another question is shown
    if (!marking && !same) mine.queue.pause(false);
    return;
  }
  marking = null;
  same = found;
  $("same").textContent = words.same(found);
  $("same").hidden = false;
  if (!found) queue.pause(false);
}

function unmark() {
  if (same) queue.pause(false);
  marking = null;
  same = 0;
  $("same").hidden = true;
}

// The answer before the one that is open, and so on.
function previous(at = 0) {
  if (past[at]) openEvent(base(), session.config, past[at].question.key, say, () => previous(at + 1));
}

// Buttons and keys ----------------------------------------------------------------------------------

const actions = {
  positive: () => answer({ label: labels()[0] }),
  negative: () => answer({ label: labels()[1] }),
  skip: () => answer({ verdict: "skip" }),
  unsure: () => answer({ verdict: "unsure" }),
  escalate: () => answer({ verdict: "escalate" }),
  undo,
  same: mark,
  previous: () => previous(),
  note: () => $("note").focus(),
  search: () => $("key").focus(),
  help: () => help(),
};
const names = () => ({ ...words.actions, positive: String(labels()[0]), negative: String(labels()[1]) });
const help = keyDialog(names, drawButtons);

function drawButtons() {
  const bound = bindings();
  const button = (name) => {
    const key = shown(bound[name]);
    const act = (event) => {
      actions[name]();
      if (event.detail) event.currentTarget.blur(); // a click must not make the next key a click
    };
    return el("button", { type: "button", class: name, "aria-keyshortcuts": bound[name] === " " ? "Space" : key, onclick: act }, names()[name], el("kbd", {}, key));
  };
  fill("buttons", ...["positive", "negative", "skip", "unsure", "escalate"].map(button));
  fill("tools", ...["undo", "previous", "same", "help"].map(button));
  fill("note-key", shown(bound.note));
}

function drawPast() {
  $("past").hidden = !past.length;
  fill("history", ...past.map(({ question, text, more, refused: why }) =>
    el("li", {},
      el("button", { type: "button", class: "plain", onclick: () => openEvent(base(), session.config, question.key, say) }, question.key),
      el("span", { class: why ? "refused" : "" }, why ? words.notTaken : more ? words.andMore(text, more) : text))));
}

$("aside").addEventListener("toggle", () => $("aside").open && drawAside().catch(refused));
onKeys(actions);
$("note").addEventListener("keydown", (event) => {
  if (event.key === "Escape" || event.key === "Enter") event.target.blur();
});

// What is open is given back when the page goes, so that somebody else gets it at once. A page that
// comes back from the browser's memory asks anew.
addEventListener("pagehide", () => queue?.end());
addEventListener("pageshow", (event) => event.persisted && $("stream").dispatchEvent(new Event("change")));

frame("review", begin);
