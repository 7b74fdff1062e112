// Answers on their way: kept in this browser until the server has them, and sent again as long as
// it has not. The server recognises an answer that comes twice.
import { call, Unreachable } from "./api.js";

const KEY = "lopsided outbox";

export class Outbox {
  constructor(changed) {
    this.changed = changed;
    this.items = JSON.parse(localStorage.getItem(KEY) || "[]");
    this.waiters = new Map();
    this.busy = false;
    setInterval(() => this.send(), 2000);
    addEventListener("online", () => this.send());
  }

  // `done` is called with what the server says, or with its refusal.
  put(item, done) {
    this.items.push(item);
    this.waiters.set(item, done);
    this.keep();
    this.send();
  }

  // Takes back an answer that has not left yet.
  drop(key) {
    const at = this.items.findIndex((item) => item.key === key && item !== this.sending);
    if (at < 0) return false;
    this.items.splice(at, 1);
    this.keep();
    return true;
  }

  has(key) {
    return this.items.some((item) => item.key === key);
  }

  keep() {
    localStorage.setItem(KEY, JSON.stringify(this.items));
    this.changed(this.items.length, this.offline);
  }

  async send() {
    if (this.busy) return;
    this.busy = true;
    while (this.items.length) {
      const item = (this.sending = this.items[0]);
      let outcome;
      try {
        outcome = await call(item.method, item.path, item.body);
        this.offline = false;
      } catch (error) {
        if (error instanceof Unreachable || error.status === 401) {
          this.offline = error instanceof Unreachable;
          break;
        }
        outcome = error;
      }
      this.items.shift();
      this.waiters.get(item)?.(outcome);
      this.waiters.delete(item);
      this.keep();
    }
    this.sending = null;
    this.busy = false;
    this.changed(this.items.length, this.offline);
  }
}
