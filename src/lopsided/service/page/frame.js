// What all pages have: where to go, which stream, finding an event, logging in.
import { call, Refused, Unreachable } from "./api.js";
import { $, el } from "./dom.js";
import { openEvent } from "./event.js";
import { words } from "./words.js";

export const session = { stream: "", config: {}, role: "", who: "" };
export const base = () => `/v1/${encodeURIComponent(session.stream)}`;

// The line at the bottom: how things are, as long as that lasts, else what became of something.
const state = { lasting: "", said: "" };
const show = (part) => ($("state").textContent = Object.assign(state, part).lasting || state.said);
export const say = (said) => show({ said });
export const tell = (lasting) => show({ lasting });

// Draws the frame, then calls `begin` whenever a stream is chosen.
export function frame(page, begin) {
  document.documentElement.lang = words.lang;
  document.documentElement.dir = words.dir;
  document.title = `lopsided: ${words.pages[page].toLowerCase()}`;
  for (const place of document.querySelectorAll("[data-text]")) place.append(words.texts[place.dataset.text]);
  for (const place of document.querySelectorAll("[data-label]")) place.setAttribute("aria-label", words.texts[place.dataset.label]);
  const links = Object.keys(words.pages).map((name) =>
    el("a", { href: words.paths[name], "data-page": name, "aria-current": name === page && "page" }, words.pages[name]));
  document.body.prepend(
    el("a", { class: "jump", href: "#main" }, words.jump),
    el("header", { class: "top" },
      el("h1", {}, "lopsided"),
      el("nav", { "aria-label": words.nav }, ...links),
      el("label", { class: "choice" }, el("span", {}, words.stream), el("select", { id: "stream" })),
      el("form", { id: "search", role: "search" },
        el("label", { class: "aside", for: "key" }, words.search),
        el("input", { id: "key", type: "search", maxlength: 200, placeholder: words.search, autocomplete: "off" }),
        el("button", {}, words.find))),
  );
  const again = () => settle((current) => start(begin, current));
  $("main").prepend(loginForm(again));
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    if ($("key").value.trim()) openEvent(base(), session.config, $("key").value.trim(), say);
  });
  $("key").addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
  $("stream").addEventListener("change", ({ target }) => settle((current) => choose(target.value, begin, current)));
  again();
}

// Does something until the server has answered, unless something else is chosen meanwhile.
let chosen = 0;
async function settle(run, mine = ++chosen) {
  const current = () => mine === chosen;
  try {
    await run(current);
    if (current()) tell("");
  } catch (error) {
    if (current() && !refused(error)) setTimeout(() => current() && settle(run, mine), 1000);
  }
}

async function start(begin, current) {
  const found = await call("GET", "/v1");
  if (!current()) return;
  Object.assign(session, { role: found.role, who: found.who });
  $("login").hidden = true;
  const wanted = new URLSearchParams(location.search).get("stream");
  const stream = found.streams.includes(wanted) ? wanted : found.streams[0];
  $("stream").replaceChildren(...found.streams.map((name) => new Option(name, name, false, name === stream)));
  if (!stream) return void say(words.noStream);
  await choose(stream, begin, current);
}

async function choose(stream, begin, current) {
  const { config } = await call("GET", `/v1/${encodeURIComponent(stream)}`);
  if (!current()) return;
  Object.assign(session, { stream, config });
  for (const link of document.querySelectorAll("nav a")) {
    link.href = `${words.paths[link.dataset.page]}?stream=${encodeURIComponent(stream)}`;
  }
  await begin();
}

// Shows the form to log in where an error says that this is needed, and says whether it does.
export function refused(error) {
  if (error instanceof Unreachable) tell(words.offline);
  else if (!(error instanceof Refused)) throw error;
  else if (error.status !== 401 && error.status !== 403) say(error.message);
  else if ($("login").hidden) {
    $("login").hidden = false;
    $("token").focus();
  }
  return error.status === 401 || error.status === 403;
}

function loginForm(done) {
  const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  const said = el("p", { id: "refused", role: "alert" });
  const login = async (event) => {
    event.preventDefault();
    try {
      await call("POST", "/login", { token: token.value });
      token.value = said.textContent = "";
      done();
    } catch (error) {
      said.textContent = error.message || words.offline;
    }
  };
  return el("form", { id: "login", class: "box", hidden: true, onsubmit: login },
    el("h2", {}, words.login), el("p", {}, words.loginHint), el("label", {}, `${words.token} `, token), el("button", { class: "first" }, words.login), said);
}
