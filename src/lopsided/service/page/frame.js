// What all pages have: where to go, which stream, finding an event, logging in.
import { call, Refused, Unreachable } from "./api.js";
import { $, el } from "./dom.js";
import { openEvent } from "./event.js";
import { words } from "./words.js";

export const session = { stream: "", config: {}, role: "", who: "" };
export const base = () => `/v1/${encodeURIComponent(session.stream)}`;
export const say = (text) => ($("state").textContent = text);

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
  $("main").prepend(loginForm(() => start(begin)));
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    if ($("key").value.trim()) openEvent(base(), session.config, $("key").value.trim(), say);
  });
  $("key").addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
  $("stream").addEventListener("change", (event) => choose(event.target.value, begin));
  start(begin);
}

async function start(begin) {
  try {
    const found = await call("GET", "/v1");
    Object.assign(session, { role: found.role, who: found.who });
    $("login").hidden = true;
    const wanted = new URLSearchParams(location.search).get("stream");
    const chosen = found.streams.includes(wanted) ? wanted : found.streams[0];
    $("stream").replaceChildren(...found.streams.map((name) => new Option(name, name, false, name === chosen)));
    if (!chosen) return void say(words.noStream);
    await choose(chosen, begin);
  } catch (error) {
    if (!refused(error)) setTimeout(() => start(begin), 1000);
  }
}

async function choose(stream, begin) {
  session.stream = stream;
  session.config = (await call("GET", base())).config;
  for (const link of document.querySelectorAll("nav a")) {
    link.href = `${words.paths[link.dataset.page]}?stream=${encodeURIComponent(stream)}`;
  }
  await begin();
}

// Shows the form to log in where an error says that this is needed, and says whether it does.
export function refused(error) {
  if (error instanceof Unreachable) say(words.offline);
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
