// Answers on their way: kept in this browser until the server has them, and sent again as long as
// it has not. The server recognises an answer that comes twice.
import { call, Unreachable } from "./api.js";

const PREFIX = "lopsided answer ";
const ORPHAN = 10000; // milliseconds after which the answer of another tab is taken over
const PATIENCE = 20000; // milliseconds after which an answer is sent again

export class Outbox {
  // `changed` is called with the number of answers that wait, and whether the server is away.
  constructor(changed) {
    this.changed = changed;
    this.mine = new Map(); // what to report about each answer of this tab
    this.sending = null;
    this.offline = false;
    setInterval(() => this.send(), 2000);
    addEventListener("online", () => this.send());
    this.send();
  }

  // `done` is called with what the server says, or with its refusal.
  put(item, done) {
    const name = `${PREFIX}${String(Date.now()).padStart(15, "0")} ${item.body.lease}`;
    localStorage.setItem(name, JSON.stringify(item));
    this.mine.set(name, done);
    setTimeout(() => this.send()); // the next question is shown first
  }

  // The answers of this tab and those of tabs that were closed before the server had them.
  waiting() {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    const orphan = (name) => Date.now() - Number(name.slice(PREFIX.length).split(" ")[0]) > ORPHAN;
    return names.filter((name) => this.mine.has(name) || orphan(name)).sort();
  }

  find(lease) {
    return this.waiting().find((name) => name.endsWith(` ${lease}`));
  }

  // Takes an answer back that has not left yet; undefined while it is on its way.
  drop(lease) {
    const name = this.find(lease);
    if (!name) return false;
    if (name === this.sending) return undefined;
    this.remove(name);
    return true;
  }

  remove(name) {
    localStorage.removeItem(name);
    this.mine.delete(name);
    this.tell();
  }

  tell() {
    this.changed(this.waiting().length, this.offline);
  }

  // Answers of this tab that another one took over and sent.
  forget() {
    for (const [name, done] of this.mine) {
      if (localStorage.getItem(name) !== null) continue;
      this.mine.delete(name);
      done({});
    }
  }

  async send() {
    if (this.busy) return;
    this.busy = true;
    this.tell();
    this.forget();
    while ((this.sending = this.waiting()[0])) {
      const name = this.sending;
      const item = JSON.parse(localStorage.getItem(name));
      if (!item) continue; // another tab has just sent it
      let outcome;
      try {
        outcome = await call("POST", item.path, item.body, PATIENCE);
        this.offline = false;
      } catch (error) {
        if (error instanceof Unreachable || error.status === 401 || error.status === 403) {
          this.offline = error instanceof Unreachable;
          break;
        }
        outcome = error;
      }
      const done = this.mine.get(name);
      this.remove(name);
      done?.(outcome);
    }
    this.sending = null;
    this.busy = false;
    this.tell();
  }
}
