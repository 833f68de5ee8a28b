// Several hands on one session: who answers first counts, runs once, and everybody is told who it was.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, type KeelClient } from "../keel/src/client/connect.ts";
import type { EnvelopeOf } from "../keel/src/protocol/event/envelope.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { stage, webServer } from "./handle/stage.ts";
import { countOf } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const races = countOf("racing-answers");

test("of three that answer at once one counts, its call runs once, and the others are told who it was", {
  timeout: 60_000 + races * 1_000,
}, async () => {
  verifies("S3.20");
  const at = await stage({
    replies: Array.from({ length: races }, (_, race) => [
      reply(toolUse("Bash", { command: `echo ${race} >> trace.txt` })),
      reply("Done."),
    ]).flat(),
  });
  const { url, secret } = await webServer(at);
  const client = (name: string, via: "websocket" | "sse"): KeelClient => {
    const made = connect({ url, secret, via, name });
    onTestFinished(() => made.close());
    return made;
  };
  const desk = client("the desk", "websocket");
  const phone = client("Ann\u2019s phone", "sse");
  const first = await desk.open({ cwd: at.cwd, options: { model: "claude-haiku-4-5" } });
  const second = phone.attach(first.id);
  const third = client("the sofa", "websocket").attach(first.id);
  const names = new Map([
    [first, "the desk on a test"],
    [second, "Ann\u2019s phone on a test"],
    [third, "the sofa on a test"],
  ]);

  const closed: EnvelopeOf<"ask.closed">[] = [];
  const said: (string | undefined)[] = [];
  const won = new Set<string | undefined>();
  const events = second.events()[Symbol.asyncIterator]();
  const until = async (type: string) => {
    for (;;) {
      const { value: event } = await events.next();
      if (event.type === "ask.closed") closed.push(event);
      if (event.type === "input.accepted") said.push(event.input.from.name);
      if (event.type === type) return event;
    }
  };
  for (let race = 0; race < races; race++) {
    const by = race % 2 === 0 ? first : second;
    await by.submit({ type: "input", content: [{ type: "text", text: `Number ${race}` }] });
    const { ask } = await until("ask.opened");
    const answer = { type: "answer", askId: ask.id, answer: { verdict: "allow" } } as const;
    const hands = race % 2 === 0 ? [first, third, second] : [third, second, first];
    // One that is slower by nature is given its time now and then.
    const early = race % 3 === 0 ? [await second.submit(answer)] : [];
    const receipts = [
      ...early,
      ...(await Promise.all(hands.slice(early.length).map((hand) => hand.submit(answer)))),
    ];
    const answeredBy =
      early.length > 0 ? second : hands[receipts.findIndex(({ type }) => type === "answered")];
    const winner = answeredBy && names.get(answeredBy);
    won.add(winner);
    expect(receipts.map(({ type }) => type).sort()).toEqual(["answered", "late", "late"]);
    const late = receipts.filter(({ type }) => type === "late");
    for (const receipt of late) expect(receipt).toMatchObject({ why: "closed", by: "host", who: winner });
    await until("turn.finished");
    expect(closed.at(-1)).toMatchObject({ askId: ask.id, by: "host", who: winner });
    // Also when the turn is over.
    expect(await first.submit(answer)).toMatchObject({ type: "late", why: "closed", who: winner });
  }
  expect(closed).toHaveLength(races);
  expect(said).toEqual(
    Array.from({ length: races }, (_, race) => names.get(race % 2 === 0 ? first : second)),
  );
  const trace = await readFile(path.join(at.cwd, "trace.txt"), "utf8");
  expect(trace.trim().split("\n")).toEqual(Array.from({ length: races }, (_, race) => String(race)));
  expect(won).toContain(names.get(second));
  expect(won.size).toBeGreaterThan(1);
});
