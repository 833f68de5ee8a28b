// Every behaviour of a handle, in every way to reach a session: near, and far over each wire.
import { describe, expect, test } from "vitest";
import type { Envelope } from "../keel/src/protocol/event/envelope.ts";
import { isDurable } from "../keel/src/protocol/event/envelope.ts";
import type { SessionHandle } from "../keel/src/protocol/handle.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { stage, ways } from "./handle/stage.ts";

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

describe.each(Object.entries(ways))("a handle %s", (_, way) => {
  const open = async (...replies: ReturnType<typeof reply>[]) => {
    const at = await stage({ replies });
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
    const said = events.flatMap((event) => (event.type === "text.delta" ? [event.text] : []));
    expect(said.join("")).toBe("Hello there.");
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
});
