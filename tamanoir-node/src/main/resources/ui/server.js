// The API of the server that this page came from. The token lives in this module's memory and nowhere else.

/** For an answer to a question; a change may take as long as it takes. */
const PATIENCE_MS = 20000;

let token = null;

export const hasToken = () => token !== null;
export const setToken = given => {
  token = given || null;
};

/** What the API answered in place of what was wanted: its line, and a line for each thing that is wrong. */
export class Refused extends Error {
  constructor(status, line, problems) {
    super(line);
    this.status = status;
    this.problems = problems ?? [];
  }
}

/** All that a header can carry and a token consists of. */
const IS_TOKEN = /^[!-~]+$/;

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { cache: 'no-store', credentials: 'same-origin', redirect: 'error', ...options });
  } catch {
    throw new Refused(0, 'the server does not answer');
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok) {
    throw new Refused(answer.status, body?.error ?? `the server answered ${answer.status}`, body?.problems);
  }
  return body;
}

export const get = path => ask(path, { signal: AbortSignal.timeout(PATIENCE_MS) });

export async function change(method, path, body) {
  if (!IS_TOKEN.test(token)) { // It could not even be sent.
    throw new Refused(401, 'the token has characters that no token has: ASCII without spaces is wanted');
  }
  return ask(path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}
