// Questions leased to this page: one is shown and a few wait. The server decides which, and gives
// none of them to anybody else while the lease lasts.
import { call, leave, Refused } from "./api.js";

const AHEAD = 2;
const PATIENCE = 20000; // milliseconds that a question may take to come
const IDLE = 15 * 60 * 1000; // milliseconds without a key after which leases are no longer renewed

export class Queue {
  // `shown` is called with the question to show, null where there is none; `failed` with an error.
  constructor(path, lease, shown, failed) {
    Object.assign(this, { path, shown, failed });
    this.current = null;
    this.ahead = [];
    this.active = Date.now();
    this.timer = setInterval(() => this.renew(), Math.min(60, lease / 3) * 1000);
    this.look = () => this.renew();
    document.addEventListener("visibilitychange", this.look);
  }

  // Shows the next question. One that is on its way is waited for.
  advance() {
    this.active = Date.now();
    this.show(this.ahead.shift() ?? null);
    this.fetch();
  }

  // Shows a question again that was answered; what was shown comes after it.
  back(question) {
    if (this.current) this.ahead.unshift(this.current);
    this.show(question);
    while (this.ahead.length > AHEAD) this.give(this.ahead.pop());
  }

  holds(key) {
    return [this.current, ...this.ahead].some((question) => question?.key === key);
  }

  // Takes a question out of those that are held here.
  take(key) {
    const found = [this.current, ...this.ahead].find((question) => question?.key === key);
    this.ahead = this.ahead.filter((question) => question !== found);
    if (this.current === found) this.current = null;
    return found;
  }

  show(question) {
    this.current = question;
    this.shown(question, !question && !this.exhausted);
  }

  // One request at a time, so that no answer of the server is overwritten by another one.
  fetch() {
    if (this.ended || this.paused) return;
    this.fetching ??= this.request().finally(() => (this.fetching = null));
  }

  async request() {
    clearTimeout(this.later);
    try {
      let wanted;
      while (!this.ended && !this.paused && (wanted = AHEAD + !this.current - this.ahead.length) > 0) {
        const { questions } = await call("GET", `${this.path}/questions?n=${wanted}`, undefined, PATIENCE);
        this.exhausted = questions.length < wanted;
        if (this.ended) return questions.forEach((question) => this.give(question));
        this.ahead.push(...questions);
        if (!this.current && this.ahead.length) this.show(this.ahead.shift());
        if (this.exhausted) break;
      }
    } catch (error) {
      this.exhausted = false;
      if (!this.ended) this.failed(error);
    } finally {
      if (!this.ended) this.wait();
    }
  }

  // Looks again soon where there is nothing to show next.
  wait() {
    if (!this.current) this.shown(null, !this.exhausted);
    if (!this.ahead.length) this.later = setTimeout(() => this.fetch(), 1000);
  }

  // Gives back what waits, so that it can be answered along with an identical event.
  async pause(on) {
    this.paused = on;
    if (!on) return void this.fetch();
    await this.fetching; // what is on its way waits here too
    const waiting = this.ahead.splice(0);
    await Promise.allSettled(waiting.map((question) => call("DELETE", this.leasePath(question))));
  }

  leasePath({ key, lease }) {
    return `${this.path}/leases/${encodeURIComponent(key)}?lease=${lease}`;
  }

  give(question) {
    leave("DELETE", this.leasePath(question));
  }

  // Leases are renewed while somebody looks; one that went to another reviewer is dropped.
  async renew() {
    if (document.visibilityState !== "visible" || Date.now() - this.active > IDLE) return;
    for (const question of [this.current, ...this.ahead]) {
      if (!question) continue;
      try {
        await call("POST", this.leasePath(question), {});
      } catch (error) {
        if (!(error instanceof Refused && error.status === 409)) return;
        this.ahead = this.ahead.filter((other) => other !== question);
        if (this.current === question) this.advance();
      }
    }
  }

  // Gives everything back: the page goes, or another stream is chosen.
  end() {
    this.ended = true;
    clearInterval(this.timer);
    clearTimeout(this.later);
    document.removeEventListener("visibilitychange", this.look);
    for (const question of [this.current, ...this.ahead]) {
      if (question) this.give(question);
    }
  }
}
