// The calls of the server. A call that is not answered raises Unreachable; one that is refused, Refused.
export class Unreachable extends Error {}

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

export async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { "content-type": "application/json", "x-lopsided": "page" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Unreachable();
  }
  if (response.status >= 502 || response.status === 429) throw new Unreachable();
  const found = await response.json();
  if (!response.ok) throw new Refused(response.status, found.error);
  return found;
}
