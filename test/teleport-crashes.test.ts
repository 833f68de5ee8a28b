// A session is moved to and fro between two homes, and one side is killed behind a step, or at any moment: at no time do both
// have it, and when the same is asked for again it is at one of them, with every event and every file.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply } from "../keel/src/testing/reply.ts";
import { countOf, seed } from "./support/budget.ts";
import { note } from "./support/notes.ts";
import { verifies } from "./support/verifies.ts";
import type { ChildTask } from "./teleport/move-child.ts";
import {
  logOf,
  type Machine,
  machine,
  newFolder,
  newModel,
  newRepository,
  owns,
  put,
  say,
  treeHash,
} from "./teleport/stage.ts";

type Side = Pick<ChildTask, "env" | "host" | "cwd">;
type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

const child = path.join(import.meta.dirname, "teleport/move-child.ts");
/** Behind so many steps each side may be killed. */
const steps = {
  file: { source: 4, target: 10 },
  server: { source: 5, target: 9 },
} as const;
const patienceMs = 60_000;

function start(task: ChildTask): {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  out(): string;
} {
  const started = spawn(process.execPath, [child, JSON.stringify(task)], {
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  started.stdout.on("data", (chunk) => (out += String(chunk)));
  started.stderr.on("data", (chunk) => (err += String(chunk)));
  const late = setTimeout(() => started.kill("SIGKILL"), patienceMs);
  const ended = new Promise<Ended>((resolve) =>
    started.on("close", (code) => {
      clearTimeout(late);
      resolve({ code, out, err });
    }),
  );
  return { child: started, ended, out: () => out };
}

/** Small and fast, and the same for the same seed. */
function chance(from: number): (below: number) => number {
  let state = from >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

type Kill = {
  readonly side: "source" | "target";
  readonly at: number | undefined;
  readonly afterMs: number | undefined;
};

test("whichever side is killed, at whichever step, one home has the session, and nothing is lost", async () => {
  verifies("S4.40");
  const model = await newModel((_, { assistantTurns }) => reply(`Answer ${assistantTurns}.`));
  const folder = newFolder();
  const machines: [Machine, Machine] = [machine(folder, "one", model), machine(folder, "two", model)];
  newRepository(machines[0].project);
  const session = await say(machines[0], undefined, "Begin");
  let at = 0;
  const count = countOf("teleport-crashes");
  const killed = new Map<string, number>();
  for (let round = 0; round < count; round++) {
    const pick = chance(seed() + round * 7919);
    const [source, target] = [machines[at] as Machine, machines[1 - at] as Machine];
    put(source.project, `file-${pick(5)}.txt`, `${round} ${"x".repeat(pick(2_000))}\n`);
    if (pick(3) === 0) rmSync(path.join(source.project, "a.txt"), { force: true });
    const tree = treeHash(source.project);
    const before = await logOf(source, session);
    const isTimed = pick(4) === 0;
    const way = pick(2) === 0 ? "file" : "server";
    const side = pick(2) === 0 ? "source" : "target";
    const kill: Kill = {
      side,
      at: isTimed ? undefined : 1 + pick(steps[way][side]),
      afterMs: isTimed ? 100 + pick(900) : undefined,
    };
    const what = `round ${round} ${JSON.stringify(kill)}`;
    const move = way === "file" ? byFile : byServer;
    const told = await move({ source, target, session, folder, kill, oneOwnerAtMost });
    killed.set(told, (killed.get(told) ?? 0) + 1);
    expect([await owns(source, session), await owns(target, session)], what).toEqual([false, true]);
    const after = await logOf(target, session);
    expect(after.slice(0, before.length).map(withoutPlace), what).toEqual(before.map(withoutPlace));
    expect(treeHash(target.project), what).toBe(tree);
    at = 1 - at;
    if (round % 25 === 0) await say(target, session, `Round ${round}`);
  }
  for (const [where, times] of killed) note("counts", `teleport: killed ${where} ×${times}`);
  async function oneOwnerAtMost(where: string): Promise<void> {
    const owners = await Promise.all(machines.map((one) => owns(one, session)));
    expect(owners.filter(Boolean).length, where).toBeLessThanOrEqual(1);
  }
}, 7_200_000);

const withoutPlace = (event: object): string => JSON.stringify(event);

type Moving = {
  readonly source: Machine;
  readonly target: Machine;
  readonly session: string;
  readonly folder: string;
  readonly kill: Kill;
  oneOwnerAtMost(where: string): Promise<void>;
};

const sideOf = (one: Machine): Side => ({ env: one.env, host: one.name, cwd: one.folder });

/** Runs it with the kill, and then as often as it takes. Returns where it was killed. */
async function withKill(task: ChildTask, { at, afterMs }: Pick<Kill, "at" | "afterMs">): Promise<string> {
  const first = start({ ...task, killAt: at });
  if (afterMs !== undefined) setTimeout(() => first.child.kill("SIGKILL"), afterMs);
  const { code, out, err } = await first.ended;
  if (code === 0) return "not at all";
  if (code !== null) throw new Error(err);
  return `${task.does}: ${/killed (behind .*)/.exec(out)?.[1] ?? "in between"}`;
}

async function finish(task: ChildTask): Promise<void> {
  const { code, err } = await start(task).ended;
  if (code !== 0) throw new Error(err);
}

async function byFile({ source, target, session, folder, kill, oneOwnerAtMost }: Moving): Promise<string> {
  const file = path.join(folder, "moved.keel");
  const out: ChildTask = { ...sideOf(source), does: "to-file", session, file };
  const into: ChildTask = { ...sideOf(target), does: "from-file", file, folder: target.project };
  let told = "";
  if (kill.side === "source") {
    told = await withKill(out, kill);
    await oneOwnerAtMost(told);
  }
  if (told !== "not at all") await finish(out);
  await oneOwnerAtMost("on its way");
  if (kill.side === "target") {
    told = await withKill(into, kill);
    await oneOwnerAtMost(told);
  }
  // Killed behind its last step, there is nothing left to take.
  if (kill.side === "source" || told !== "not at all")
    if (!(await owns(target, session))) await finish(into);
    else for (const left of [file]) expect(existsSync(left)).toBe(false);
  return told;
}

async function byServer({ source, target, session, folder, kill, oneOwnerAtMost }: Moving): Promise<string> {
  const socket = path.join(folder, `s${process.pid % 1000}`);
  const serve = async (killAt?: number) => {
    rmSync(socket, { force: true });
    const server = start({ ...sideOf(target), does: "serve", socket, killAt });
    for (const deadline = Date.now() + patienceMs; !server.out().includes("listens"); ) {
      if (Date.now() > deadline) throw new Error("the server does not listen");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return server;
  };
  const out: ChildTask = { ...sideOf(source), does: "to-server", session, socket, folder: target.project };
  const isThere = kill.side === "target";
  const server = await serve(isThere ? kill.at : undefined);
  if (isThere && kill.afterMs !== undefined) setTimeout(() => server.child.kill("SIGKILL"), kill.afterMs);
  const { code, out: said, err } = await first();
  await oneOwnerAtMost("by a server");
  server.child.kill("SIGKILL");
  const { out: serverSaid } = await server.ended;
  const told = isThere ? serverSaid : said;
  if (code !== 0 && !(code === null || /link_lost|cannot be reached/.test(err))) throw new Error(err);
  if (!(await owns(target, session))) {
    const again = await serve();
    await finish(out).finally(() => again.child.kill("SIGKILL"));
    await again.ended;
  }
  return `${isThere ? "serve" : "to-server"}: ${/killed (behind .*)/.exec(told)?.[1] ?? "in between"}`;

  async function first(): Promise<Ended> {
    const moving = start({ ...out, killAt: isThere ? undefined : kill.at });
    if (!isThere && kill.afterMs !== undefined) setTimeout(() => moving.child.kill("SIGKILL"), kill.afterMs);
    return moving.ended;
  }
}
