// What a desktop says to a shell that lags, and which conversation is meant where none is named.
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { openHome } from "../../app/home.ts";
import { fault } from "../../kernel/fault.ts";
import { ConversationList } from "./conversation-list.ts";
import { Desktop } from "./desktop.ts";

/** A desktop on nothing: no session can be opened, and no conversation is there. */
function bareDesktop(waitingBytes: number) {
  const lines: Record<string, unknown>[] = [];
  const logged: string[] = [];
  const out = { waitingBytes, line: (line: string) => void lines.push(JSON.parse(line)) };
  const home = openHome({ env: { KEEL_HOME: "/nowhere" }, cwd: "/" });
  const conversations = new (class extends ConversationList {
    override async load(): Promise<never> {
      throw fault("session_unknown", { session: "x" });
    }
  })(home, "/");
  const desktop = new Desktop({
    version: "0",
    home,
    conversations,
    options: () => Promise.reject(fault("key_missing", { provider: "anthropic" })),
    model: undefined,
    out,
    log: (words) => void logged.push(words),
    asks: "answered",
    askMs: 1_000,
    messageMs: 1_000,
  });
  return { desktop, out, lines, logged };
}

test("tokens for a shell that lags are joined and go out before whatever follows, and it is said once", () => {
  verifies("S1.23", "S1.36");
  const { desktop, out, lines, logged } = bareDesktop(8 * 1024 * 1024);
  const token = (id: string, words: string) =>
    desktop.tell({ type: "token", id, conversation_id: "c", token: words });
  token("1", "a");
  token("1", "b");
  token("2", "c");
  desktop.tell({ type: "done", id: "2" });
  out.waitingBytes = 0;
  token("3", "d");
  expect(lines.map(({ type, token: words }) => words ?? type)).toEqual(["ab", "c", "done", "d"]);
  expect(lines.every(({ timestamp }) => typeof timestamp === "number")).toBe(true);
  expect(logged).toHaveLength(1);
});

test("conversations that turn out not to be there leave the one before, and a message that cannot be sent has its end", async () => {
  const { desktop, lines } = bareDesktop(0);
  const send = (request: object) => desktop.read({ ok: true, line: JSON.stringify(request) });
  for (const id of ["1", "2", "3"]) send({ id, kind: "load_conversation", conversation_id: "x" });
  send({ id: "m0", kind: "user_message", message: "to one that is not there" });
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(4);
  expect(lines).toMatchObject(Array.from({ length: 4 }, () => ({ type: "error", code: "unknown_id" })));
  send({ id: "m1", kind: "user_message", message: "to a new one" });
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(5);
  expect(lines[4]).toMatchObject({ type: "error", id: "m1", fault: "key_missing" });
});

test("however many conversations a shell names that are not there, few are held", async () => {
  const { desktop, lines } = bareDesktop(0);
  const send = (request: object) => desktop.read({ ok: true, line: JSON.stringify(request) });
  for (let at = 0; at < 200; at++)
    send({ id: `c${at}`, kind: "clear_history", conversation_id: `none-${at}` });
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(200);
  expect(new Set(lines.map(({ code }) => code))).toEqual(new Set(["unknown_id"]));
  send({ id: "s", kind: "get_status" });
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(201);
  expect(lines[200]).toMatchObject({ type: "done", data: { open: 16 } });
});
