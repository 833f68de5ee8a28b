// kill -9 of the built server at a seeded moment, with ten sessions at work and three clients on each: what was accepted
// comes to one end, nothing runs twice, every client has every event once, and nothing is left running.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Envelope, isDurable } from "../../keel/src/protocol/event/envelope.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { clientOf, openServeStage, words } from "./serve-stage.ts";
import { until } from "./stage.ts";

const sessions = 10;
const ways = ["socket", "websocket", "sse"] as const;
/** Moments fall into the time that all of this takes without a kill, and a little after it. */
const lastMomentMs = 3_000;

/** Each command leaves one mark; it takes a moment, so that a kill may fall inside it. */
const mark = (name: string, token: string) =>
  toolUse("Bash", { command: `echo ${name} >> trace.txt; sleep 0.1; echo ${token}` }, name);

/** Between 0 and 1, the same for the same seed. */
const chance = (given: number): number => {
  const mixed = Math.imul(given ^ (given >>> 15), 0x2c1b3c6d) >>> 0;
  return (Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) >>> 0) / 2 ** 32;
};

/** What one client hears of a session, until all inputs have come to their end. */
async function hearAll(handle: SessionHandle, inputs: readonly string[]): Promise<Envelope[]> {
  const heard: Envelope[] = [];
  const open = new Set(inputs);
  for await (const event of handle.events()) {
    heard.push(event);
    if (event.type === "turn.finished" && !event.origin) for (const id of event.inputIds) open.delete(id);
    if (event.type === "input.dropped") open.delete(event.inputId);
    if (open.size === 0) break;
  }
  return heard;
}

const seqsOf = (events: readonly Envelope[]): number[] =>
  events.flatMap((event) => (isDurable(event) && !event.origin ? [event.seq] : []));

test("a server that is killed at any moment loses nothing, runs nothing twice, and its clients are whole again", async () => {
  verifies("G1", "G2", "G43");
  const first = seed();
  for (let round = 0; round < countOf("server-kills"); round++) {
    const momentMs = chance(first + round) * lastMomentMs;
    const token = `keel-kills-${first}-${round}`;
    const stage = await openServeStage(
      byPosition([
        reply("First.", mark("m1", token)),
        reply(mark("m2", token), mark("m3", token)),
        reply("Both are there."),
        reply("Once more.", mark("m4", token)),
        reply("That was all."),
      ]),
      { maxRequests: 10_000 },
    );
    const { child, state } = await stage.serve("--port", "0");
    const clients = await Promise.all(ways.map((way) => clientOf(state, way)));
    const [owner] = clients;
    if (owner === undefined) throw new Error("no client");
    const begun = await Promise.all(
      Array.from({ length: sessions }, async (_, index) => {
        const cwd = path.join(stage.project, `s${index}`);
        mkdirSync(cwd);
        const { id } = await owner.open({
          cwd,
          options: { allowedTools: ["Bash"] },
        });
        return { id, cwd, inputs: [crypto.randomUUID(), crypto.randomUUID()] };
      }),
    );
    const heard = begun.flatMap(({ id, inputs }) =>
      clients.map((client) => hearAll(client.attach(id), inputs)),
    );
    const receipts = begun.flatMap(({ id, inputs }, index) =>
      inputs.map((input) =>
        (clients[index % clients.length] ?? owner).attach(id).submit({ ...words("Go"), id: input }),
      ),
    );

    await new Promise((resolve) => setTimeout(resolve, momentMs));
    child.kill("SIGKILL");
    await until("its end", () => child.signalCode !== null);
    const port = new URL(state.url ?? "").port;
    await until("nothing of it is left", () => !isRunning(token));
    await stage.serve("--port", port);

    expect((await Promise.all(receipts)).map(({ type }) => type)).toEqual(receipts.map(() => "accepted"));
    const told = await Promise.all(heard);
    for (const [index, { id, cwd, inputs }] of begun.entries()) {
      const log = stage.log(id);
      const where = `seed ${first + round}, ${Math.round(momentMs)} ms, session ${index}`;
      // Every input that was accepted has one end.
      const ends = log.flatMap((event) =>
        event.type === "turn.finished" ? (event["inputIds"] as string[]) : [],
      );
      expect(ends.toSorted(), where).toEqual(inputs.toSorted());
      // No command ran twice.
      const trace = path.join(cwd, "trace.txt");
      const marks = existsSync(trace) ? readFileSync(trace, "utf8").trim().split("\n") : [];
      expect(marks, where).toEqual([...new Set(marks)]);
      // Each client heard every event once, in order.
      for (const events of told.slice(index * ways.length, (index + 1) * ways.length)) {
        const seqs = seqsOf(events);
        expect(seqs, where).toEqual(seqs.map((_, at) => at + 1));
      }
    }
    for (const client of clients) client.close();
  }
  // A hundred moments take their time.
}, 3_600_000);

/** Whether a command of this round still runs. */
function isRunning(token: string): boolean {
  try {
    execFileSync("pgrep", ["-f", token]);
    return true;
  } catch {
    return false;
  }
}
