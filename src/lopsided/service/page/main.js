// The queue: one question at a time; one key is label, save and next.
import { call, Refused, Unreachable } from "./api.js";
import { Outbox } from "./outbox.js";
import { number, words } from "./words.js";

const $ = (id) => document.getElementById(id);
const state = { stream: "", config: null, current: null, next: null, asking: false, past: [] };
const outbox = new Outbox((waiting, offline) => {
  $("state").textContent = offline ? words.offline : waiting ? words.sending(waiting) : "";
});
const base = () => `/v1/${encodeURIComponent(state.stream)}`;

async function start() {
  try {
    const { streams } = await call("GET", "/v1");
    $("login").hidden = true;
    const chosen = new URLSearchParams(location.search).get("stream") || streams[0];
    $("stream").replaceChildren(...streams.map((name) => new Option(name, name, false, name === chosen)));
    await choose(chosen);
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) $("login").hidden = false;
    else setTimeout(start, 1000);
  }
}

async function choose(stream) {
  state.stream = stream;
  state.config = (await figures()).config;
  const { positive = 1, negative = 0 } = state.config;
  state.keys = [
    ["f", String(positive), () => answer({ label: positive })],
    ["j", String(negative), () => answer({ label: negative })],
    [" ", words.skip, () => answer({ verdict: "skip" })],
    ["s", words.unsure, () => answer({ verdict: "unsure" })],
    ["e", words.escalate, () => answer({ verdict: "escalate" })],
    ["u", words.undo, undo],
  ];
  $("buttons").replaceChildren(...state.keys.map(([key, text, act]) => button(key, text, act)));
  show(null);
  await advance();
}

function button(key, text, act) {
  const made = document.createElement("button");
  const shown = document.createElement("kbd");
  shown.textContent = key === " " ? "space" : key;
  made.append(text, shown);
  made.type = "button";
  made.setAttribute("aria-keyshortcuts", key === " " ? "Space" : key);
  made.addEventListener("click", act);
  return made;
}

async function figures() {
  const found = await call("GET", base());
  $("figures").textContent = words.figures(found);
  return found;
}

// One question is shown and one is fetched ahead, never two fetches at once: the server leases, so
// nobody else gets them.
async function fetchOne() {
  if (state.asking) return;
  state.asking = true;
  try {
    const { questions } = await call("GET", `${base()}/questions?n=1`);
    if (questions.length) state.next = questions[0];
  } catch (error) {
    if (error instanceof Refused && error.status === 401) $("login").hidden = false;
    else if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
  } finally {
    state.asking = false;
  }
}

async function advance() {
  if (!state.next) await fetchOne();
  if (state.current) return;
  const found = state.next;
  state.next = null;
  show(found);
  if (found) await fetchOne();
  else setTimeout(() => state.current || advance(), 1000);
}

function show(question) {
  state.current = question;
  $("card").hidden = !question;
  $("empty").textContent = question ? "" : words.empty;
  if (!question) return;
  $("title").textContent = question.key;
  $("why").textContent = words.why[question.why] || question.why;
  $("judged").textContent = words.judged(question);
  $("facts").replaceChildren(...Object.entries({ ...question.show, ...question.features }).map(row));
  const reasons = question.reasons || [];
  $("reasons").hidden = !reasons.length;
  $("reasons").tBodies[0].replaceChildren(
    ...reasons.map(([name, part]) => row([name, `${part > 0 ? "+" : ""}${number(part)}`], part > 0 ? "up" : "down")),
  );
  $("note").value = "";
}

// Text of events is only ever text.
function row([name, value], kind) {
  const made = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  const cell = document.createElement("td");
  cell.textContent = number(value);
  if (typeof kind === "string") cell.className = kind;
  made.append(head, cell);
  return made;
}

function answer(what) {
  const question = state.current;
  if (!question) return;
  const note = $("note").value.trim();
  const body = { key: question.key, lease: question.lease, ...what, ...(note && { note }) };
  remember(question, String(what.label ?? what.verdict));
  outbox.put({ method: "POST", path: `${base()}/answers`, key: question.key, body }, (outcome) => {
    if (outcome instanceof Error) $("state").textContent = outcome.message || words.taken;
  });
  state.current = null;
  advance();
  figures().catch(() => {});
}

function remember(question, text) {
  state.past.unshift({ question, text });
  state.past.length = Math.min(state.past.length, 10);
  list();
}

function list() {
  $("history").replaceChildren(
    ...state.past.map((past) => {
      const item = document.createElement("li");
      item.textContent = `${past.question.key}: ${past.text}`;
      return item;
    }),
  );
}

// The answer is taken back here if it has not left, else on the server as long as it allows that.
async function undo() {
  const last = state.past[0];
  if (!last) return;
  const { key, lease } = last.question;
  let dropped = outbox.drop(key);
  while (!dropped && outbox.has(key)) {  // on its way: an undo must not overtake it
    await new Promise((later) => setTimeout(later, 20));
    dropped = outbox.drop(key);
  }
  if (!dropped) {
    try {
      await call("DELETE", `${base()}/answers/${encodeURIComponent(key)}?lease=${lease}`);
    } catch (error) {
      $("state").textContent = error.message || words.offline;
      return;
    }
  }
  state.past.shift();
  list();
  if (state.current) {
    if (state.next) give(state.next);
    state.next = state.current;
  }
  show(last.question);
}

function give(question) {
  const path = `${base()}/leases/${encodeURIComponent(question.key)}?lease=${question.lease}`;
  fetch(path, { method: "DELETE", keepalive: true, headers: { "x-lopsided": "page" } }).catch(() => {});
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
    if (event.key === "Escape" || event.key === "Enter") event.target.id === "note" && event.target.blur();
    return;
  }
  if (event.target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter")) return;
  if (event.key === "n") {
    event.preventDefault();
    $("note").focus();
    return;
  }
  const found = state.keys?.find(([key]) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found[2]();
});

$("stream").addEventListener("change", (event) => choose(event.target.value));
$("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await call("POST", "/login", { token: $("token").value });
    $("token").value = "";
    start();
  } catch (error) {
    $("refused").textContent = error.message;
  }
});

// What is open is given back when the page goes, so that somebody else gets it at once.
addEventListener("pagehide", () => {
  for (const question of [state.current, state.next]) {
    if (question) give(question);
  }
});

setInterval(() => {
  if (state.current) {
    const { key, lease } = state.current;
    call("POST", `${base()}/leases/${encodeURIComponent(key)}?lease=${lease}`, {}).catch(() => {});
  }
}, 60000);

start();
