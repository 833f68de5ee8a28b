// The calls of a recorded session once more, in a copy of its folder: on real folders, sessions, tools and copies.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type EnvironmentWish, replayEnvironment } from "../keel/src/app/time/environment.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { treeHash } from "./support/tree-hash.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };

type Call = Parameters<typeof toolUse>;
/** `agent`: what an agent is asked for, which the first call then starts. */
type Turn = { readonly calls: readonly (readonly Call[])[]; readonly agent?: string };

/** Each turn makes its calls, reply after reply; an agent makes those that its prompt names. */
async function recorded(
  turns: readonly Turn[],
  { allow = ["Bash"], agents = {} }: { allow?: string[]; agents?: Record<string, readonly Call[]> } = {},
) {
  const at = new Map<string, number>();
  const stage = await scriptedHome(
    (body) => {
      const said = JSON.stringify(body);
      const agent = Object.keys(agents).find(
        (name) => said.includes(`Task of ${name}`) && !said.includes("message 1"),
      );
      const key = agent ?? `turn ${[...said.matchAll(/message (\d+)/g)].at(-1)?.[1]}`;
      const place = at.get(key) ?? 0;
      at.set(key, place + 1);
      const calls = agent ? [agents[agent] ?? []][place] : turns[Number(key.split(" ")[1]) - 1]?.calls[place];
      return calls ? reply("", ...calls.map(([name, input]) => toolUse(name, input))) : reply("Done.");
    },
    { settings: { permissions: { allow, defaultMode: "acceptEdits" }, checkpoints: { enabled: true } } },
  );
  mkdirSync(path.join(stage.cwd, "tools"));
  writeFileSync(path.join(stage.cwd, "tools/run.sh"), "echo it runs\n");
  for (const name of names) writeFileSync(path.join(stage.cwd, name), `this is ${name}\n`);
  const session = await stage.home.open({ ...stage.options, checkpoints: "on" });
  agree(session);
  for (const number of turns.keys()) {
    await say(session, `message ${number + 1}`);
    await session.idle();
  }
  await session.close("ended");
  const logs = [await logOf(session.id)];
  for (const { id } of await stage.home.sessions.list({ parent: session.id })) logs.push(await logOf(id));
  return { ...stage, id: session.id, logs };

  function logOf(id: string): Promise<Durable[]> {
    return Array.fromAsync(stage.home.sessions.read(id));
  }
}

const names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"];

type Stage = Awaited<ReturnType<typeof recorded>>;

const again = ({ env, cwd, home, logs }: Stage, more: Partial<EnvironmentWish> = {}) =>
  replayEnvironment(
    { env, cwd, home: home.path, version: "0" },
    {
      logs,
      cwd,
      mode: "acceptEdits",
      asked: "refused",
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      ...more,
    },
  );

const scratches = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`keel-scratch-${process.pid}-`));

const rawLog = ({ home, id }: Stage): string => readFileSync(home.sessions.location(id) ?? "", "utf8");

const work: readonly Turn[] = [
  {
    calls: [
      [["Read", { file_path: "a.txt" }]],
      [["Bash", { command: "cat b.txt; echo took 12 ms" }]],
      [
        ["Edit", { file_path: "a.txt", old_string: "this", new_string: "that" }],
        ["Write", { file_path: "new.txt", content: "new\n" }],
      ],
      [["Bash", { command: "pwd; cat a.txt new.txt" }]],
    ],
  },
  {
    calls: [
      [["Glob", { pattern: "**/*.txt" }]],
      [["Bash", { command: "sh tools/run.sh" }]],
      [
        ["Bash", { command: "false" }],
        ["Read", { file_path: "none.txt" }],
      ],
      [["Bash", { command: "rm e.txt; printf gone > gone.txt" }]],
    ],
  },
  { calls: [[["Bash", { command: "cat gone.txt; ls e.txt" }]]] },
];

describe("a replay with tools that run", () => {
  test(
    "is equal in a folder that is as it was, and touches neither the folder nor the log",
    patience,
    async () => {
      verifies("P29");
      const stage = await recorded(work);
      const before = [treeHash(stage.cwd), rawLog(stage)];
      expect(await again(stage)).toEqual({
        session: stage.id,
        replies: 12,
        equalCalls: 11,
        difference: undefined,
        notRun: [],
        unreached: 0,
        lost: [],
        stopped: undefined,
      });
      expect([treeHash(stage.cwd), rawLog(stage)]).toEqual(before);
      expect((await stage.home.sessions.list({})).map(({ id }) => id)).toEqual([stage.id]);
      expect(stage.server.requests).toHaveLength(12);
      expect(scratches()).toEqual([]);
    },
  );

  test("names the first call that a change of the folder makes another one", patience, async () => {
    verifies("P29");
    const chance = countingIds({ seed: seed() + 86 });
    const pick = <T>(list: readonly T[]): T => {
      const found = list[Math.floor(chance.random() * list.length)];
      if (found === undefined) throw new Error("there is nothing to pick");
      return found;
    };
    for (let round = 0; round < countOf("environment-changes"); round++) {
      const uses: { file: string; calls: readonly (readonly Call[])[] }[] = Array.from({ length: 12 }, () => {
        const file = pick([...names, "tools/run.sh"]);
        if (file === "tools/run.sh") return { file, calls: [[["Bash", { command: "sh tools/run.sh" }]]] };
        if (chance.random() < 0.5) return { file, calls: [[["Read", { file_path: file }]]] };
        return { file, calls: [[["Bash", { command: `grep -c this ${file}; cat ${file}` }]]] };
      });
      const turns = [0, 1, 2].map((turn) => ({
        calls: uses.slice(turn * 4, turn * 4 + 4).flatMap(({ calls }) => calls),
      }));
      const stage = await recorded(turns);
      const changed = pick(uses).file;
      const target = path.join(stage.cwd, changed);
      const kind = changed === "tools/run.sh" ? pick(["exit code", "edit"]) : pick(["edit", "gone"]);
      if (kind === "exit code") writeFileSync(target, `${readFileSync(target, "utf8")}exit 3\n`);
      else if (kind === "gone") rmSync(target);
      else writeFileSync(target, readFileSync(target, "utf8").replace(/i[st]/, "was"));
      const before = treeHash(stage.cwd);
      const { difference, equalCalls, lost } = await again(stage);
      const ended = stage.logs.flat().filter((event) => event.type === "tool.finished");
      const first = uses.findIndex(({ file }) => file === changed);
      expect(difference, `round ${round}: ${kind} of ${changed}`).toMatchObject({
        seq: ended[first]?.seq,
        callId: ended[first]?.callId,
        tool: ended[first]?.tool,
      });
      expect([equalCalls, lost]).toEqual([first, []]);
      expect(treeHash(stage.cwd)).toBe(before);
    }
    expect(scratches()).toEqual([]);
  });

  test("follows an agent by its own log, and names a call of it", patience, async () => {
    const agents = {
      ants: [
        ["Read", { file_path: "b.txt" }],
        ["Bash", { command: "sh tools/run.sh" }],
      ],
    } as const satisfies Record<string, readonly Call[]>;
    const start = { description: "Look", prompt: "Task of ants: look around.", run_in_background: false };
    const stage = await recorded([{ calls: [[["Agent", start]], [["Read", { file_path: "c.txt" }]]] }], {
      agents,
    });
    expect(stage.logs).toHaveLength(2);
    expect(await again(stage)).toMatchObject({
      equalCalls: 4,
      difference: undefined,
      unreached: 0,
      notRun: [],
    });
    writeFileSync(path.join(stage.cwd, "tools/run.sh"), "exit 4\n");
    const found = await again(stage);
    expect(found).toMatchObject({
      equalCalls: 1,
      difference: {
        session: stage.logs[1]?.[0]?.session,
        tool: "Bash",
        what: "it went well then and fails today",
      },
    });
  });

  test(
    "runs nothing that did not run then, and what would be asked only where that is wanted",
    patience,
    async () => {
      verifies("P29");
      const never = path.join(tmpdir(), `keel-never-${process.pid}`);
      const stage = await recorded(
        [
          {
            calls: [
              [["Bash", { command: "printf x > made.txt" }]],
              [["Bash", { command: `touch ${never}` }]],
              [["Read", { file_path: "a.txt" }]],
            ],
          },
        ],
        { allow: [] },
      );
      const [log = []] = stage.logs;
      // As if somebody had said no to the second.
      const second = log.filter((event) => event.type === "tool.finished")[1]?.callId;
      const refused = log
        .filter((event) => !(event.type === "tool.started" && event.callId === second))
        .map((event) =>
          event.type === "tool.finished" && event.callId === second
            ? { ...event, failed: true, denied: { by: "host" as const, reason: "No." } }
            : event,
        );
      rmSync(never);
      const strict = await again({ ...stage, logs: [refused] });
      expect(strict).toMatchObject({ equalCalls: 1, difference: undefined, notRun: [{ tool: "Bash" }] });
      const free = await again({ ...stage, logs: [refused] }, { asked: "as then" });
      expect(free).toMatchObject({ equalCalls: 2, difference: undefined, notRun: [] });
      expect(existsSync(never)).toBe(false);
    },
  );

  test(
    "has files that the session changed as they were at its start, whatever they are now",
    patience,
    async () => {
      const stage = await recorded(work);
      writeFileSync(path.join(stage.cwd, "a.txt"), "quite another text\n");
      rmSync(path.join(stage.cwd, "new.txt"));
      const before = treeHash(stage.cwd);
      expect(await again(stage)).toMatchObject({ difference: undefined, equalCalls: 11 });
      expect(treeHash(stage.cwd)).toBe(before);
    },
  );

  test("leaves nothing behind when it is stopped, is late, or was killed", patience, async () => {
    const stage = await recorded([{ calls: [[["Bash", { command: "cat slow.txt 2>&1 || true" }]]] }]);
    writeFileSync(path.join(stage.cwd, "slow.txt"), "");
    const [log = []] = stage.logs;
    const slow = log.map((event) =>
      event.type === "model.finished"
        ? {
            ...event,
            content: event.content.map((block) =>
              block.type === "tool_use" ? { ...block, input: { command: "sleep 60" } } : block,
            ),
          }
        : event,
    );
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1_000);
    await expect(again({ ...stage, logs: [slow] }, { signal: stop.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(scratches()).toEqual([]);
    expect(await again({ ...stage, logs: [slow] }, { timeoutMs: 1_000 })).toMatchObject({ stopped: "time" });
    expect(scratches()).toEqual([]);
    const child = spawn("true");
    await once(child, "exit");
    const left = path.join(tmpdir(), `keel-scratch-${child.pid}-left`);
    mkdirSync(left);
    await again(stage);
    expect(readdirSync(tmpdir())).not.toContain(path.basename(left));
  });
});
