// The calls of the server. A call that is not answered raises Unreachable; one that is refused, Refused.
export class Unreachable extends Error {}

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// The header tells the server that this page asks: other sites cannot send it.
const headers = { "content-type": "application/json", "x-lopsided": "page" };

// `patience` is how many milliseconds an answer may take, for calls that can be repeated.
export async function call(method, path, body, patience) {
  const signal = patience ? AbortSignal.timeout(patience) : null;
  let response, found;
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
    if (response.status >= 502 || response.status === 429) throw new Unreachable();
    found = await response.json(); // fails where the connection breaks, or a proxy answers
  } catch {
    throw new Unreachable();
  }
  if (!response.ok) throw new Refused(response.status, found.error);
  return found;
}

// Fetches something and draws it; of several calls only the newest draws, whatever comes first.
export function newest(load, draw) {
  let last = 0;
  return async () => {
    const mine = ++last;
    const found = await load();
    if (mine === last) draw(found);
  };
}

// Sends something while the page goes; nobody waits for an answer.
export function leave(method, path) {
  fetch(path, { method, keepalive: true, headers }).catch(() => {});
}

// Server-sent events, read by fetch because an EventSource cannot send the header. `told` is called
// with each message, `lost` when the connection ends. Returns a function that ends it.
export function listen(path, told, lost) {
  const stop = new AbortController();
  const read = async () => {
    const response = await fetch(path, { headers, signal: stop.signal });
    if (!response.ok) throw new Refused(response.status, (await response.json()).error);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        if (part.startsWith("data: ")) told(JSON.parse(part.slice(6)));
      }
    }
  };
  read().catch((error) => error).then((error) => stop.signal.aborted || lost(error));
  return () => stop.abort();
}
