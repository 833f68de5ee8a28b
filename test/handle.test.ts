// Every behaviour of a handle, in every way to reach a session: near, and far over each wire.
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Envelope } from "../keel/src/protocol/event/envelope.ts";
import { isDurable } from "../keel/src/protocol/event/envelope.ts";
import type { SessionHandle } from "../keel/src/protocol/handle.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { stage, ways } from "./handle/stage.ts";
import { byAnotherWorker } from "./handle/workers.ts";
import { type Postgres, startPostgres } from "./support/postgres.ts";

const text = (words: string) => ({
  type: "input" as const,
  content: [{ type: "text" as const, text: words }],
});

/** What is told until something has happened. */
async function until(
  events: AsyncIterable<Envelope>,
  isLast: (event: Envelope) => boolean,
): Promise<Envelope[]> {
  const heard: Envelope[] = [];
  for await (const event of events) {
    heard.push(event);
    if (isLast(event)) return heard;
  }
  return heard;
}
const isTurnEnd = ({ type }: Envelope): boolean => type === "turn.finished";
const seqs = (events: readonly Envelope[]): number[] =>
  events.flatMap((event) => (isDurable(event) && !event.origin ? [event.seq] : []));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const places = [
  ...Object.entries(ways).map(([name, way]) => [name, way, "jsonl"] as const),
  ...Object.entries(ways)
    .filter(([name]) => name === "near")
    .map(([name, way]) => [`${name}, with its log in SQLite`, way, "sqlite"] as const),
  ["far, by a worker that does not have it", byAnotherWorker, "postgres"] as const,
];
let database: Promise<Postgres> | undefined;
afterAll(async () => (await database)?.close());
async function storeOf(kind: (typeof places)[number][2]) {
  if (kind !== "postgres") return kind;
  database ??= startPostgres();
  const server = await database;
  return server.url(await server.schema());
}

describe.each(places)("a handle %s", (_, way, store) => {
  const open = async (...replies: ReturnType<typeof reply>[]) => {
    const at = await stage({ replies }, { store: await storeOf(store) });
    return { ...(await way(at)), at };
  };

  test("gives a receipt for an input, and tells what comes of it", async () => {
    const { open: begin } = await open(reply("Hello there."));
    const handle = await begin();
    const heard = until(handle.events(), isTurnEnd);
    const receipt = await handle.submit(text("Hi"));
    expect(receipt).toMatchObject({ type: "accepted", duplicate: false });
    const events = await heard;
    expect(seqs(events)).toEqual(upTo(seqs(events).length));
    const whole = events.flatMap((event) => (event.type === "model.finished" ? event.content : []));
    expect(whole).toMatchObject([{ type: "text", text: "Hello there." }]);
    const pieces = events.flatMap((event) => (event.type === "text.delta" ? [event.text] : []));
    // From another worker what is only live comes at its best: all of a reply, or the reply as a whole alone.
    if (store !== "postgres" || pieces.length > 0) expect(pieces.join("")).toBe("Hello there.");
  });

  test("takes an input with one id once", async () => {
    const { open: begin, at } = await open(reply("Once."), reply("Twice."));
    const handle = await begin();
    const input = { ...text("Hi"), id: "0198c0de-0000-7000-8000-000000000001" };
    const heard = until(handle.events(), isTurnEnd);
    const receipts = await Promise.all([handle.submit(input), handle.submit(input)]);
    await heard;
    expect(receipts.map((receipt) => receipt.type === "accepted" && receipt.duplicate).sort()).toEqual([
      false,
      true,
    ]);
    expect(at.model.requests).toHaveLength(1);
  });

  test("tells a second handle everything after the event that it has", async () => {
    const { open: begin, another } = await open(reply("One."), reply("Two."));
    const handle = await begin();
    const first = until(handle.events(), isTurnEnd);
    await handle.submit(text("1"));
    const has = seqs(await first);
    const late = another(handle.id);
    const heard = until(late.events(has.length - 2), (event) => isTurnEnd(event) && inSecond(event));
    const inSecond = (event: Envelope): boolean => isDurable(event) && event.seq > has.length;
    await late.submit(text("2"));
    const told = seqs(await heard);
    expect(told[0]).toBe(has.length - 1);
    expect(told).toEqual(upTo(told.at(-1) ?? 0).slice(has.length - 2));
  });

  test("lets two answer an ask, and the first counts", async () => {
    const {
      open: begin,
      another,
      at,
    } = await open(reply(toolUse("Bash", { command: "echo made > made.txt" })), reply("Done."));
    const handle = await begin();
    const second = another(handle.id);
    const asked = until(handle.events(), ({ type }) => type === "ask.opened");
    await handle.submit(text("Make it"));
    await asked;
    const [ask] = await second.asks();
    expect(ask).toMatchObject({ kind: "permission", tool: "Bash" });
    const askId = ask?.id ?? "";
    const ended = until(handle.events(), isTurnEnd);
    const answer = { type: "answer" as const, askId, answer: { verdict: "allow" as const } };
    const receipts = await Promise.all([handle.submit(answer), second.submit(answer)]);
    expect(receipts.map(({ type }) => type).sort()).toEqual(["answered", "late"]);
    const events = await ended;
    expect(events.filter(({ type }) => type === "tool.started")).toHaveLength(1);
    expect(await second.asks()).toEqual([]);
    expect(at.model.requests).toHaveLength(2);
  });

  test("says that an answer to an ask that is none is late", async () => {
    const { open: begin } = await open();
    const handle = await begin();
    expect(
      await handle.submit({ type: "answer", askId: "none", answer: { verdict: "allow" } }),
    ).toMatchObject({ type: "late", why: "unknown" });
  });

  test("interrupts a turn, which ends once", async () => {
    const { open: begin } = await open(reply(toolUse("Bash", { command: "sleep 60" })), reply("Never."));
    const handle = await begin({ allowedTools: ["Bash(sleep:*)"] });
    const running = until(handle.events(), ({ type }) => type === "tool.started" || type === "ask.opened");
    await handle.submit(text("Wait"));
    await running;
    const ended = until(handle.events(), isTurnEnd);
    expect(await handle.submit({ type: "interrupt" })).toMatchObject({ type: "interrupted", running: true });
    expect((await ended).filter(isTurnEnd)).toMatchObject([{ reason: "interrupted" }]);
  });

  test("changes settings, and answers inquiries by the table", async () => {
    const { open: begin } = await open();
    const handle = await begin();
    const changed = until(
      handle.events(),
      (event) => event.type === "settings.changed" && !!event.patch.title,
    );
    expect(await handle.submit({ type: "set", patch: { title: "A name" } })).toEqual({ type: "done" });
    await changed;
    expect(await handle.inquire("facts")).toMatchObject({ model: "claude-haiku-4-5" });
    expect(await handle.inquire("tasks")).toEqual([]);
    expect(await handle.inquire("counters")).toContainEqual(
      expect.objectContaining({ name: "keel.requests.unknown", value: 0 }),
    );
    expect(await handle.inquire("files", { typed: "nothing-like-this" })).toEqual([]);
    await expect(handle.inquire("nonsense" as "facts")).rejects.toMatchObject({ code: "usage" });
  });

  test("ends what others follow when one closes the session", async () => {
    const { open: begin, another } = await open();
    const handle = await begin();
    const heard = until(another(handle.id).events(), () => false);
    await until(handle.events(), ({ type }) => type === "session.opened");
    expect(await handle.submit({ type: "close" })).toEqual({ type: "done" });
    expect((await heard).at(-1)).toMatchObject({ type: "session.closed" });
  });

  test("lets go without ending the session", async () => {
    const { open: begin, another } = await open(reply("Still here."));
    const handle = await begin();
    const heard: Promise<Envelope[]> = until(handle.events(), () => false);
    await handle.detach();
    await heard;
    const other: SessionHandle = another(handle.id);
    const ended = until(other.events(), isTurnEnd);
    await other.submit(text("Hi"));
    expect((await ended).at(-1)).toMatchObject({ type: "turn.finished", reason: "completed" });
  });

  test("changes the mode and the model for the turns that follow, and refuses a mode that nobody allowed", async () => {
    const { open: begin, at } = await open(reply("As wanted."));
    const handle = await begin();
    await handle.submit({
      type: "set",
      patch: { permissionMode: "acceptEdits", model: "claude-sonnet-4-5" },
    });
    expect(await handle.inquire("settings")).toMatchObject({
      applied: { permissionMode: "acceptEdits", model: "claude-sonnet-4-5" },
    });
    const ended = until(handle.events(), isTurnEnd);
    await handle.submit(text("Hi"));
    await ended;
    expect(at.model.requests[0]).toMatchObject({ body: { model: "claude-sonnet-4-5" } });
    await expect(
      handle.submit({ type: "set", patch: { permissionMode: "bypassPermissions" } }),
    ).rejects.toMatchObject({ code: "mode_refused" });
  });

  test("lists a task in the background, tells its output, and stops it once", async () => {
    const { open: begin } = await open(
      reply(toolUse("Bash", { command: "echo begun; sleep 60", run_in_background: true })),
      reply("It runs."),
    );
    const handle = await begin({ allowedTools: ["Bash(echo:*)", "Bash(sleep:*)"] });
    const ended = until(handle.events(), isTurnEnd);
    await handle.submit(text("Start it"));
    await ended;
    const [task] = await handle.inquire("tasks");
    expect(task).toMatchObject({ reports: true });
    const taskId = task?.id ?? "";
    const output = async () => handle.inquire("taskOutput", { id: taskId });
    await expect.poll(output).toMatchObject({ text: expect.stringContaining("begun") });
    const gone = until(
      handle.events(),
      (event) => event.type === "task.changed" && event.status !== "running" && event.taskId === taskId,
    );
    expect(await handle.submit({ type: "stop", taskId })).toMatchObject({ type: "stopped", found: true });
    await gone;
    expect(await handle.submit({ type: "stop", taskId: "none" })).toMatchObject({ found: false });
    expect(await handle.inquire("tasks")).toEqual([]);
    expect(await output()).toMatchObject({ text: expect.stringContaining("begun") });
  });

  test("sends a running call into the background", async () => {
    const { open: begin } = await open(reply(toolUse("Bash", { command: "sleep 60" })), reply("Later."));
    const handle = await begin({ allowedTools: ["Bash(sleep:*)"] });
    const started = until(handle.events(), ({ type }) => type === "tool.started");
    await handle.submit(text("Wait"));
    await started;
    const ended = until(handle.events(), isTurnEnd);
    // Its start is on disk before it runs: what does not run yet cannot be sent away.
    let sent: readonly string[] = [];
    for (let tries = 0; tries < 1_000 && sent.length === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const receipt = await handle.submit({ type: "background" });
      sent = receipt.type === "backgrounded" ? receipt.callIds : [];
    }
    expect(sent).toHaveLength(1);
    expect((await ended).at(-1)).toMatchObject({ reason: "completed" });
    expect(await handle.inquire("tasks")).toHaveLength(1);
  });

  test("gives what the log has in pages, the same as it tells", async () => {
    const { open: begin, history } = await open(reply("One."), reply("Two."));
    const handle = await begin();
    for (const words of ["1", "2"]) {
      const { length } = await history(handle.id, 0, 1_000);
      const ended = until(handle.events(length), isTurnEnd);
      await handle.submit(text(words));
      await ended;
    }
    const whole = await history(handle.id, 0, 1_000);
    expect(whole.map(({ seq }) => seq)).toEqual(upTo(whole.length));
    const pages = [...(await history(handle.id, 0, 4)), ...(await history(handle.id, 4, 1_000))];
    expect(pages).toEqual(whole);
    const told = await until(handle.events(), (event) => isDurable(event) && event.seq === whole.length);
    expect(told).toEqual(whole);
  });

  test("goes on in a fork from an earlier event, and the session stays as it was", async () => {
    const {
      open: begin,
      fork,
      history,
      at,
    } = await open(reply("One."), reply("Two."), reply("In the copy."));
    const handle = await begin();
    const first = until(handle.events(), isTurnEnd);
    await handle.submit(text("first words"));
    const upToHere = seqs(await first).length;
    const second = until(handle.events(upToHere), isTurnEnd);
    await handle.submit(text("second words"));
    await second;
    const before = await history(handle.id, 0, 1_000);
    const copy = await fork(handle.id, upToHere);
    expect(copy.id).not.toBe(handle.id);
    const ended = until(copy.events(upToHere), isTurnEnd);
    await copy.submit(text("words for the copy"));
    await ended;
    const asked = JSON.stringify(at.model.requests.at(-1));
    expect(asked).toContain("first words");
    expect(asked).toContain("words for the copy");
    expect(asked).not.toContain("second words");
    expect(await history(handle.id, 0, 1_000)).toEqual(before);
  });

  test("takes files back to a message, and says before what that would change", async () => {
    const { open: begin, at } = await open(
      reply(toolUse("Write", { file_path: "made.txt", content: "made\n" })),
      reply("Made."),
    );
    const handle = await begin({ allowedTools: ["Write"] });
    const ended = until(handle.events(), isTurnEnd);
    const receipt = await handle.submit(text("Make it"));
    await ended;
    const file = path.join(at.cwd, "made.txt");
    expect(existsSync(file)).toBe(true);
    const checkpoint = receipt.type === "accepted" ? receipt.inputId : "";
    expect(await handle.submit({ type: "rewind", checkpoint, preview: true })).toMatchObject({
      type: "rewound",
      preview: true,
      files: [{ deletions: 1 }],
    });
    expect(existsSync(file)).toBe(true);
    expect(await handle.submit({ type: "rewind", checkpoint })).toMatchObject({ preview: false });
    expect(existsSync(file)).toBe(false);
    await expect(handle.submit({ type: "rewind", checkpoint: "none" })).rejects.toMatchObject({
      code: "checkpoint_unknown",
    });
  });

  test("drops an input that waits, and with an interrupt all that do", async () => {
    const { open: begin } = await open(reply(toolUse("Bash", { command: "sleep 60" })), reply("Never."));
    const handle = await begin({ allowedTools: ["Bash(sleep:*)"] });
    const running = until(handle.events(), ({ type }) => type === "tool.started");
    await handle.submit(text("Wait"));
    await running;
    const inputOf = async (words: string): Promise<string> => {
      const receipt = await handle.submit(text(words));
      return receipt.type === "accepted" ? receipt.inputId : "";
    };
    const [second, third] = [await inputOf("second"), await inputOf("third")];
    expect(await handle.submit({ type: "drop", inputId: second })).toMatchObject({ found: true });
    expect(await handle.submit({ type: "drop", inputId: second })).toMatchObject({ found: false });
    const ended = until(handle.events(), isTurnEnd);
    expect(await handle.submit({ type: "interrupt", dropQueued: true })).toMatchObject({
      running: true,
      dropped: [third],
    });
    const all = await ended;
    expect(all.filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });

  test("says of an answer that comes after another that it is late, whoever sends it", async () => {
    const { open: begin, another } = await open(
      reply(toolUse("Bash", { command: "touch made" })),
      reply("Refused."),
    );
    const handle = await begin();
    const asked = until(handle.events(), ({ type }) => type === "ask.opened");
    await handle.submit(text("Make it"));
    await asked;
    const [ask] = await handle.asks();
    const ended = until(handle.events(), isTurnEnd);
    const answer = { type: "answer" as const, askId: ask?.id ?? "" };
    await handle.submit({ ...answer, answer: { verdict: "deny", reason: "not today" } });
    await ended;
    expect(await another(handle.id).submit({ ...answer, answer: { verdict: "allow" } })).toMatchObject({
      type: "late",
      why: "closed",
    });
  });

  test("starts the conversation anew, in the same session", async () => {
    const { open: begin, at } = await open(reply("One."), reply("Two."));
    const handle = await begin();
    const first = until(handle.events(), isTurnEnd);
    await handle.submit(text("forgotten words"));
    const { length } = seqs(await first);
    expect(await handle.submit({ type: "clear" })).toEqual({ type: "done" });
    const second = until(handle.events(length), isTurnEnd);
    await handle.submit(text("fresh words"));
    await second;
    expect(JSON.stringify(at.model.requests.at(-1))).not.toContain("forgotten words");
  });
});
