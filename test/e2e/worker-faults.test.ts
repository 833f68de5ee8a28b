// Three real workers on one real database, with faults at random: what was acknowledged is there, what was called has its
// effect at most once, every write was by the newest owner, and every follower is whole again.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { KeelClient } from "../../keel/src/client/connect.ts";
import { type Durable, durableEventSchema } from "../../keel/src/protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../keel/src/protocol/event/envelope.ts";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { type Cluster, openCluster, type WorkerProcess } from "../workers/cluster.ts";
import { keel } from "./command.ts";
import { until } from "./stage.ts";

const kinds = ["plain", "tool", "ask", "agent"] as const;
const perSession = 2;
/** Sessions of a round and its longest pause in milliseconds are those of the long command, also in a share of it. */
const isFull = process.env["KEEL_TEST_COUNTS"] !== undefined;
/** What a client waits for one answer before it asks another worker. */
const patienceMs = 6_000;

test("kills, pauses, cuts and restarts lose no acknowledged input, double no call and leave one owner", {
  timeout: 3_600_000,
}, async () => {
  verifies("P28");
  const cluster = await openCluster(3);
  const rounds = countOf("worker-faults");
  for (let round = 0; round < rounds; round++) await faultyRound(cluster, seed() + round);
  // It was no calm sea.
  const { server, schema, effects } = cluster;
  expect(readFileSync(effects, "utf8")).not.toBe("");
  const moved = await server.admin(
    `SELECT count(*)::int AS moved FROM (SELECT log FROM ${schema}.keel_lines GROUP BY log HAVING count(DISTINCT fence) > 1) AS logs`,
  );
  expect(moved).not.toEqual([{ moved: 0 }]);
});

test("what a killed worker left in the middle of a turn goes on at another, and one that stood still writes nothing more", {
  timeout: 120_000,
}, async () => {
  verifies("P28");
  const cluster = await openCluster(2);
  const [first, second] = cluster.workers;
  if (!first?.current || !second?.current) throw new Error("two were started");
  for (const end of ["SIGKILL", "SIGSTOP"] as const) {
    if (!first.current) await first.start();
    const at = first.current;
    const id = (await at.client.open({ cwd: cluster.project, options: { model: "claude-haiku-4-5" } })).id;
    const input = crypto.randomUUID();
    await at.client.attach(id).submit({
      type: "input",
      id: input,
      content: [{ type: "text", text: `slow ${input}` }],
    });
    at.child.kill(end);
    // Nobody asks for it: the other one finds it by its lease.
    const events = await settled(cluster, id, new Set([input]), end);
    expect(events.filter(({ type }) => type === "turn.finished")).toHaveLength(1);
    const heard = await Array.fromAsync(untilTurnEnd(second.current.client.attach(id).events()));
    expect(heard).toEqual(events.map(({ seq }) => seq));
    at.child.kill("SIGCONT");
    if (end === "SIGSTOP") {
      // It is awake, and knows by its next sign of life what happened; a client of it is led to the other one.
      await insist(
        () => at.client,
        (client) => client.attach(id).submit({ type: "interrupt" }),
      );
      await until("it has said that it lost the session", async () =>
        (await readFile(at.state.logFile, "utf8")).includes("worker.lost"),
      );
    } else await first.kill();
    await checkFences(cluster, end);
    expect((await settled(cluster, id, new Set([input]), end)).slice(0, events.length)).toEqual(events);
  }
});

test("a server that is to end gives its sessions away at the end of their turns, and nobody who follows or speaks misses anything", {
  timeout: 120_000,
}, async () => {
  const cluster = await openCluster(2);
  const [first, second] = cluster.workers;
  if (!first?.current || !second?.current) throw new Error("two were started");
  const admin = async (
    ...words: string[]
  ): Promise<{ state: string; id: string; pid: number; session: string; worker: string }[]> => {
    const { stdout, stderr, code } = await keel(["admin", ...words, "--store", cluster.url], {
      env: { HOME: cluster.project, KEEL_HOME: `${cluster.project}-admin` },
    });
    expect(code, stderr).toBe(0);
    return stdout === "" ? [] : JSON.parse(stdout);
  };
  const { id } = await first.current.client.open({
    cwd: cluster.project,
    options: { model: "claude-haiku-4-5" },
  });
  const inputs = [crypto.randomUUID(), crypto.randomUUID()] as const;
  const say = (client: KeelClient, input: string) =>
    client
      .attach(id)
      .submit({ type: "input", id: input, content: [{ type: "text", text: `slow ${input}` }] });
  const heard: number[] = [];
  const leave = new AbortController();
  const following = follow(id, heard, { client: () => second.current?.client, signal: leave.signal });
  await say(first.current.client, inputs[0]);

  const workers = await admin("workers", "--json");
  expect(workers.map(({ state }) => state)).toEqual(["serving", "serving"]);
  const owner = workers.find(({ pid }) => pid === first.current?.state.pid)?.id ?? "";
  expect(await admin("leases", "--json")).toMatchObject([{ session: id, worker: owner, held: true }]);
  await admin("drain", owner);
  // The turn that runs comes to its end where it is; what is said meanwhile is not lost.
  await say(second.current.client, inputs[1]);
  const events = await settled(cluster, id, new Set(inputs), "drain");
  const reasons = events.flatMap((event) => (event.type === "turn.finished" ? [event.reason] : []));
  expect(reasons).toEqual(["completed", "completed"]);
  await until("the first has nothing left", async () =>
    (await admin("leases", "--json")).every(({ worker }) => worker !== owner),
  );
  // Also whoever asks the one that has given everything away finds the session.
  expect(await first.current.client.session(id)).toMatchObject({ session: id, working: false });
  expect((await admin("workers", "--json")).find((each) => each.id === owner)?.state).toBe("draining");
  await until("the follower has all of it", () => heard.length >= events.length);
  expect(heard.slice(0, events.length)).toEqual(events.map(({ seq }) => seq));
  leave.abort();
  await following;
  await checkFences(cluster, "drain");
});

async function* untilTurnEnd(events: AsyncIterable<Envelope>): AsyncGenerator<number, void> {
  for await (const event of events) {
    if (isDurable(event) && !event.origin) yield event.seq;
    if (event.type === "turn.finished") return;
  }
}

async function faultyRound(cluster: Cluster, roundSeed: number): Promise<void> {
  const name = `seed ${roundSeed}`;
  const random = randomOf(roundSeed);
  const acknowledged = new Map<string, Set<string>>();
  const stop = new AbortController();
  const sessions = isFull ? 500 : 8;
  const heard = new Map<string, number[]>();
  const followers: Promise<void>[] = [];
  const client = (): KeelClient | undefined => random.pick([...cluster.workers]).current?.client;

  const one = async (): Promise<void> => {
    const handle = await insist(client, (at) =>
      at.open({
        cwd: cluster.project,
        options: { model: "claude-haiku-4-5", allowedTools: ["Bash(sh record.sh:*)", "Agent"] },
      }),
    );
    const { id } = handle;
    acknowledged.set(id, new Set());
    heard.set(id, []);
    followers.push(follow(id, heard.get(id) ?? [], { client, signal: stop.signal }));
    for (let index = 0; index < perSession; index++) {
      const input = crypto.randomUUID();
      const words = `${random.pick([...kinds])} ${input}`;
      await insist(client, (at) =>
        at.attach(id).submit({ type: "input", id: input, content: [{ type: "text", text: words }] }),
      );
      acknowledged.get(id)?.add(input);
      await sleep(random.below(300));
    }
  };
  const faults = faultsUntil(cluster, random, stop.signal);
  const answering = answerAll(acknowledged, client, stop.signal);
  await Promise.all(Array.from({ length: sessions }, one));
  stop.abort();
  await faults;
  await Promise.all(cluster.workers.map((worker) => worker.current ?? worker.start()));
  const calm = new AbortController();
  const late = answerAll(acknowledged, client, calm.signal);
  const logs = new Map<string, Durable[]>();
  for (const [id, inputs] of acknowledged) logs.set(id, await settled(cluster, id, inputs, name));
  calm.abort();
  await Promise.all([answering, late, ...followers]);

  const effects = readFileSync(cluster.effects, "utf8").split("\n").filter(Boolean);
  expect(effects.length, `${name}: a call had its effect twice`).toBe(new Set(effects).size);
  for (const [id, events] of logs) {
    expect(
      events.map(({ seq }) => seq),
      name,
    ).toEqual(events.map((_, at) => at + 1));
    const accepted = events.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
    for (const input of acknowledged.get(id) ?? [])
      expect(
        accepted.filter((each) => each === input),
        `${name}: ${input} in ${id}`,
      ).toEqual([input]);
    // What a follower has heard, over every worker that it was at, is the start of the log, each once.
    const told = heard.get(id) ?? [];
    expect(told, `${name}: follower of ${id}`).toEqual(told.map((_, at) => at + 1));
  }
  await checkFences(cluster, name);
}

/** Every log was written under leases that only ever got newer. */
async function checkFences({ server, schema }: Cluster, name: string): Promise<void> {
  const older = await server.admin(`
    SELECT log, at FROM (
      SELECT log, at, fence, lag(fence) OVER (PARTITION BY log ORDER BY at) AS before FROM ${schema}.keel_lines
    ) AS lines WHERE fence IS NULL OR fence < before`);
  expect(older, `${name}: a write of an older owner`).toEqual([]);
}

/** Asks one worker after another until one has answered. */
async function insist<T>(
  client: () => KeelClient | undefined,
  ask: (at: KeelClient) => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    const at = client();
    if (at) {
      const answer = await Promise.race([
        ask(at).then(
          (value) => ({ value }),
          (thrown: unknown) => ({ thrown }),
        ),
        sleep(patienceMs, { thrown: new Error("nobody answered") }, { ref: false }),
      ]);
      if ("value" in answer) return answer.value;
      if (tries > 60) throw answer.thrown;
    }
    await sleep(50);
  }
}

/** One follower of a session, at one worker and then another. */
async function follow(
  id: string,
  heard: number[],
  { client, signal }: { client: () => KeelClient | undefined; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const here = AbortSignal.any([signal, AbortSignal.timeout(2_000)]);
    try {
      const events = client()?.attach(id).events(heard.length, here);
      for await (const event of events ?? []) if (isDurable(event) && !event.origin) heard.push(event.seq);
    } catch {
      // The next worker is asked.
    }
    await sleep(20);
  }
}

/** A person who allows what is asked, at any worker. */
async function answerAll(
  sessions: ReadonlyMap<string, unknown>,
  client: () => KeelClient | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const id of [...sessions.keys()]) {
      if (signal.aborted) return;
      const answered = (async () => {
        const handle = client()?.attach(id);
        for (const ask of (await handle?.asks()) ?? [])
          await handle?.submit({ type: "answer", askId: ask.id, answer: { verdict: "allow" } });
      })().catch(() => undefined);
      await Promise.race([answered, sleep(1_500, undefined, { ref: false })]);
    }
    await sleep(50);
  }
}

async function faultsUntil(
  { workers, server }: Cluster,
  random: ReturnType<typeof randomOf>,
  signal: AbortSignal,
): Promise<void> {
  const longest = isFull ? 30_000 : 3_000;
  while (!signal.aborted) {
    await sleep(200 + random.below(800));
    const worker = random.pick([...workers]);
    const fault = random.below(6);
    if (fault <= 1) {
      await worker.kill();
      await sleep(random.below(longest));
      await worker.start();
    } else if (fault === 2) await paused(worker, 500 + random.below(longest));
    else if (fault === 3) worker.cutter.cut();
    else if (fault === 4) {
      worker.cutter.how = random.pick(["lose", "silent", "refuse"]);
      await sleep(random.below(1_500));
      worker.cutter.how = "open";
      worker.cutter.cut();
    } else {
      await server.stop(random.pick(["fast", "immediate"]));
      await server.start();
    }
  }
}

async function paused(worker: WorkerProcess, ms: number): Promise<void> {
  const child = worker.current?.child;
  child?.kill("SIGSTOP");
  await sleep(ms);
  child?.kill("SIGCONT");
}

/** What the log has once every acknowledged input has come to its end. */
async function settled(
  { server, schema }: Cluster,
  id: string,
  inputs: ReadonlySet<string>,
  name: string,
): Promise<Durable[]> {
  for (let tries = 0; tries < 600; tries++) {
    const rows = await server.admin(
      `SELECT line FROM ${schema}.keel_lines l JOIN ${schema}.keel_logs g ON g.no = l.log WHERE g.session = '${id}' ORDER BY at`,
    );
    const events = rows.slice(1).map(({ line }) => durableEventWith(JSON.parse(String(line))));
    const ended = new Set(
      events.flatMap((event) =>
        event.type === "turn.finished"
          ? (event.inputIds ?? [])
          : event.type === "input.dropped"
            ? [event.inputId]
            : [],
      ),
    );
    if ([...inputs].every((input) => ended.has(input))) return events;
    await sleep(100);
  }
  throw new Error(`${name}: ${id} never came to its end`);
}

const durableEventWith = (record: { seq: number; at: number; session: string }): Durable => ({
  seq: record.seq,
  at: record.at,
  session: record.session,
  ...durableEventSchema.parse(record),
});
