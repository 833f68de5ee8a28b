// Sessions that a server owns: which of them are in memory, and that nobody notices when they were not.
import { expect, test } from "vitest";
import { isDurable } from "../keel/src/protocol/event/envelope.ts";
import type { AnswerTo } from "../keel/src/protocol/operation.ts";
import { reply } from "../keel/src/testing/reply.ts";
import { serve, stage } from "./handle/stage.ts";
import { verifies } from "./support/verifies.ts";

const person = { access: "work" as const, name: "a test" };

test("idle sessions leave memory, and come back whole when they are used", async () => {
  verifies("S3.21");
  const at = await stage({ replies: Array.from({ length: 20 }, (_, index) => reply(`Answer ${index}.`)) });
  const told: string[] = [];
  const served = serve(at, { idleMs: 30, tell: (what, id) => told.push(`${what} ${id}`) });
  const status = async () => (await served.call("status", {}, person)) as AnswerTo<"status">;
  const say = async (session: string, content: string): Promise<void> => {
    const stop = new AbortController();
    const { seq } = (await served.call("session", { session }, person)) as AnswerTo<"session">;
    const events = await served.follow(session, seq, stop.signal);
    await served.call("message", { session, content }, person);
    for await (const event of events) if (isDurable(event) && event.type === "turn.finished") break;
    stop.abort();
  };
  const open = async (): Promise<string> => {
    const question = { cwd: at.cwd, options: { model: "claude-haiku-4-5" } };
    return ((await served.call("open", question, person)) as AnswerTo<"open">).session;
  };
  const allAtRest = async (): Promise<void> => {
    const end = performance.now() + 20_000;
    for (let now = await status(); now.loaded > 0; now = await status()) {
      if (performance.now() > end) throw new Error(`${now.loaded} are still in memory`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  const ids = await Promise.all([open(), open(), open()]);
  for (const id of ids) await say(id, `first of ${id}`);
  await allAtRest();
  expect(await status()).toMatchObject({ open: 3, loaded: 0 });

  // To look at one does not load it; to say something does, and nothing of the conversation is missing.
  const [used = ""] = ids;
  await served.call("history", { session: used }, person);
  expect(await status()).toMatchObject({ open: 3, loaded: 0 });
  const before = at.model.requests.length;
  await say(used, "second");
  const said = JSON.stringify(at.model.requests[before]);
  expect(said).toContain(`first of ${used}`);
  expect(said).toContain("second");
  await allAtRest();
  expect(await status()).toMatchObject({ open: 3, loaded: 0 });
  expect(told.filter((line) => line.startsWith("session.unloaded")).length).toBeGreaterThanOrEqual(4);
});

test("whoever looks at the end of a session that is not open sees it, and opens nothing", async () => {
  const at = await stage({ replies: [reply("The answer.")] });
  const first = serve(at);
  const question = { cwd: at.cwd, options: { model: "claude-haiku-4-5" } };
  const { session } = (await first.call("open", question, person)) as AnswerTo<"open">;
  const events = await first.follow(session, 0, new AbortController().signal);
  await first.call("message", { session, content: "The question." }, person);
  for await (const event of events) if (event.type === "turn.finished") break;
  const ofOpen = (await first.call("history", { session, last: 900 }, person)) as AnswerTo<"history">;
  expect(ofOpen.events[0]).toMatchObject({ seq: 1 });
  await first.call("submit", { session, command: { type: "close" } }, person);

  const next = serve(at);
  const history = async (more: object) =>
    (await next.call("history", { session, ...more }, person)) as AnswerTo<"history">;
  const all = (await history({})).events;
  expect(all.length).toBeGreaterThan(5);
  expect(await history({ last: 3 })).toEqual({ events: all.slice(-3), more: false });
  expect(await history({ last: 900 })).toEqual({ events: all, more: false });
  expect(await history({ last: 3, after: all.at(-2)?.seq })).toEqual({ events: all.slice(-1), more: false });
  await expect(history({ session: crypto.randomUUID(), last: 3 })).rejects.toMatchObject({
    code: "session_unknown",
  });
  expect(await next.call("status", {}, person)).toMatchObject({ open: 0 });

  // Nor does who looks wait for one that is being opened: a long one takes its time.
  const opened = next.call("session", { session }, person).then(() => "opened");
  const seen = history({ last: 3 }).then(() => "seen");
  expect(await Promise.race([opened, seen])).toBe("seen");
  await opened;
});
