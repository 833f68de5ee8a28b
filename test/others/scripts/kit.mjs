// What the scripts share. Each runs in the folder in which its program is installed, and prints a line of JSON for every
// check; what it sees is said by its environment:
//   OTHERS_KEEL     the command of Keel, where that is under test
//   OTHERS_PROJECT  a folder to work in
//   OTHERS_IN_PROCESS  1 where Keel stands in place of the SDK
// and HOME, which is fresh, and ANTHROPIC_BASE_URL, where the obedient model listens.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export const project = process.env.OTHERS_PROJECT;
export const executable = process.env.OTHERS_KEEL || undefined;
/** Keel stands in place of the SDK: the program names no executable. */
export const inProcess = process.env.OTHERS_IN_PROCESS === "1";

/** A claim that holds or does not; a function may throw to say no. */
export async function check(name, claim) {
  try {
    const value = typeof claim === "function" ? await claim() : await claim;
    tell(name, Boolean(value), value ? undefined : "did not hold");
    return value;
  } catch (error) {
    tell(name, false, error?.stack ?? JSON.stringify(error));
    return undefined;
  }
}

export function tell(name, passed, detail) {
  process.stdout.write(`${JSON.stringify({ check: name, passed, detail: detail?.slice(0, 2000) })}\n`);
}

/** The same, with both sides in what is said when they differ. */
export function same(name, found, expected) {
  const [left, right] = [found, expected].map((value) => JSON.stringify(value));
  tell(name, left === right, left === right ? undefined : `found ${left}, expected ${right}`);
}

/** A case whose answer is compared with that of whatever else may stand behind the program. */
export async function answered(name, ask) {
  const given = await Promise.resolve()
    .then(ask)
    .catch((error) => ({ thrown: error?.code ?? String(error) }));
  process.stdout.write(`${JSON.stringify({ check: name, passed: true, answer: JSON.stringify(given) })}\n`);
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks again until it holds; false when that takes longer than 20 seconds. */
export async function until(condition) {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) if (await condition()) return true;
  return false;
}

/** A child that speaks JSON-RPC in lines. `onRequest` answers what it asks; notifications are kept. */
export function openPeer(command, args, { cwd, env, onRequest }) {
  const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  const notifications = [];
  let last = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ended = new Promise((resolve) => child.on("close", (code) => resolve(code)));
  child.stdin.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", async (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) {
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) reject?.(message.error);
      else resolve?.(message.result);
    } else if (message.id === undefined) notifications.push(message);
    else {
      try {
        send({ id: message.id, result: (await onRequest(message.method, message.params)) ?? null });
      } catch (error) {
        send({ id: message.id, error: { code: -32603, message: String(error) } });
      }
    }
  });
  return {
    notifications,
    notify: (method, params) => send({ method, params }),
    request(method, params) {
      last += 1;
      const id = last;
      send({ id, method, params });
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        setTimeout(() => reject(new Error(`no answer to ${method}`)), 60_000).unref();
      });
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      const code = await ended;
      clearTimeout(timer);
      return code;
    },
  };
}
