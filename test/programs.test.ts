// Programs of a model over its tools: what they can do, what is asked meanwhile, and what they cannot.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { examine, programFinding } from "../keel/src/app/maintenance/doctor.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { contextTokens, noUsage } from "../keel/src/protocol/usage.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { hostilePrograms } from "./programs/programs.ts";
import { countOf, partOf } from "./support/budget.ts";
import { notRunHere } from "./support/not-run.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };

async function stageFor(
  code: (place: { cwd: string; folder: string; url: string }) => string,
  settings: object = {},
) {
  const stage: Awaited<ReturnType<typeof scriptedHome>> = await scriptedHome(
    (body, { lastUser }) => {
      const { cwd, folder, server } = stage;
      return lastUser.includes("begin")
        ? reply("", toolUse("RunProgram", { code: code({ cwd, folder, url: server.url }) }))
        : reply(`Tools: ${(body["tools"] as { name: string }[]).map(({ name }) => name).join(" ")}`);
    },
    { settings: { programTool: true, ...settings } },
  );
  writeFileSync(path.join(stage.cwd, "a.txt"), "alpha\n");
  writeFileSync(path.join(stage.cwd, "secret.txt"), "hunter2\n");
  return stage;
}

type Stage = Awaited<ReturnType<typeof stageFor>>;

async function run(stage: Stage, answer: "yes" | "no" = "yes") {
  const session = await stage.home.open(stage.options);
  const notices = session.notices.map(({ text }) => text);
  const asked: string[] = [];
  session.onEvent((event) => {
    if (event.type === "ask.opened") asked.push(`${event.ask.tool} ${event.ask.callId}`);
  });
  if (answer === "yes") agree(session);
  else
    session.onEvent((event) => {
      if (event.type === "ask.opened")
        void session.submit({ type: "answer", askId: event.ask.id, answer: { verdict: "deny" } });
    });
  await say(session, "begin");
  await session.idle();
  await session.close("ended");
  const events = await Array.fromAsync(stage.home.sessions.read(session.id));
  return { events, asked, notices, id: session.id };
}

const endOf = (events: readonly Durable[], tool: string) =>
  events.flatMap((event) => (event.type === "tool.finished" && event.tool === tool ? [event] : []));

const isMissing = (notices: readonly string[]): boolean => {
  const why = notices.find((text) => text.startsWith("RunProgram is not there"));
  if (why !== undefined) notRunHere("sandbox", why);
  return why !== undefined;
};

describe("a program of the model", () => {
  test("is known to doctor: whether it is wanted, what runs it and how far, or why it cannot run", async () => {
    const bounds = ["30 s"];
    expect(programFinding({ engine: "Node 24", bounds }, true)).toEqual({
      name: "programs",
      state: "ok",
      says: "on; Node 24 in namespaces, without files or network; at most 30 s, 200 calls for the programs of one reply",
    });
    expect(programFinding({ engine: "Node 24", bounds }, false)).toMatchObject({
      state: "note",
      says: expect.stringMatching(/^off \(`programTool`\); they could run: Node 24 /),
    });
    expect(programFinding({ why: "no unshare" }, true)).toMatchObject({
      state: "note",
      says: "on; RunProgram cannot run here: no unshare",
    });
    // On this machine it is tried.
    const { options } = await stageFor(() => "");
    const found = await examine(options);
    const says = found.find(({ name }) => name === "programs")?.says ?? "";
    const whyNot = /cannot run here: (.*)/.exec(says)?.[1];
    if (whyNot !== undefined) return notRunHere("sandbox", whyNot);
    expect(says).toContain(`on; Node ${process.versions.node} in namespaces`);
  });

  test(
    "calls tools, each asked about and recorded as alone, and only what it makes of them is told",
    patience,
    async () => {
      verifies("P13");
      const stage = await stageFor(
        () => `const text = await tools.Read({ file_path: "a.txt" });
await tools.Write({ file_path: "b.txt", content: "beta\\n" });
console.log("printed");
return text.includes("alpha") ? "found" : "not found";`,
      );
      const { events, asked, notices } = await run(stage);
      if (isMissing(notices)) return;
      const [program] = endOf(events, "RunProgram");
      expect(textOf(program?.content ?? [])).toBe("printed\nfound");
      expect(existsSync(path.join(stage.cwd, "b.txt"))).toBe(true);
      const [read, write] = [endOf(events, "Read")[0], endOf(events, "Write")[0]];
      expect([read?.within, write?.within]).toEqual([program?.callId, program?.callId]);
      expect(asked).toEqual([`Write ${write?.callId}`]);
      // The model never sees the calls themselves.
      expect(JSON.stringify(stage.server.requests.at(-1))).not.toContain("-program-");
    },
  );

  test("is refused what a person refuses, and goes on with that", patience, async () => {
    const stage = await stageFor(
      () =>
        `return await tools.Write({ file_path: "b.txt", content: "x" }).then(() => "written", () => "refused");`,
    );
    const { events, notices } = await run(stage, "no");
    if (isMissing(notices)) return;
    expect(textOf(endOf(events, "RunProgram")[0]?.content ?? [])).toBe("refused");
    expect(endOf(events, "Write")[0]?.denied?.by).toBe("host");
    expect(existsSync(path.join(stage.cwd, "b.txt"))).toBe(false);
  });

  test(
    "spends what the session has: its agents end it, and no call begins behind that",
    patience,
    async () => {
      verifies("P13", "S4.55");
      const agent = `tools.Agent({ description: "a part", prompt: "part", run_in_background: false })`;
      const code = () => `for (let at = 0; at < 8; at++) await ${agent};\nreturn "all";`;
      const free = await run(await stageFor(code));
      if (isMissing(free.notices)) return;
      expect(endOf(free.events, "Agent")).toHaveLength(8);
      const [first] = free.events.flatMap((event) => (event.type === "model.finished" ? [event.usage] : []));
      const one = contextTokens(first ?? noUsage);
      expect(one).toBeGreaterThan(0);
      // Every request costs the same: one began the program, and each agent has one.
      const limits = { maxTokens: Math.ceil(one * 3.5) };
      const { events } = await run(await stageFor(code, { limits }));
      expect(events.findLast((event) => event.type === "turn.finished")?.reason).toBe("budget_tokens");
      const begun = events.filter((event) => event.type === "tool.started" && event.tool === "Agent");
      expect(begun).toHaveLength(3);
      const [program] = endOf(events, "RunProgram");
      // The program hears of it, or is stopped first.
      expect(program?.failed).toBe(true);
      expect(textOf(program?.content ?? [])).toMatch(/Nothing is left|stopped|interrupted|[Cc]ancelled/);
    },
  );

  test("is not there unless the person's settings say so", async () => {
    const stage = await stageFor(() => "return 1;", { programTool: false });
    const { events } = await run(stage);
    expect(textOf(endOf(events, "RunProgram")[0]?.content ?? [])).toMatch(/no tool|There is/);
    const project = await stageFor(() => "return 1;", { programTool: false });
    mkdirSync(path.join(project.cwd, ".keel"));
    writeFileSync(path.join(project.cwd, ".keel/settings.json"), JSON.stringify({ programTool: true }));
    expect(JSON.stringify((await run(project)).events)).not.toContain('"name":"RunProgram","description"');
  });

  test("gets nowhere, takes no more than its bounds and forges nothing", patience, async () => {
    verifies("P13");
    const wanted = partOf("hostile-programs", () => hostilePrograms);
    const wrong: string[] = [];
    for (const { name, code, says } of wanted) {
      const stage = await stageFor(
        ({ cwd, folder, url }) =>
          code.replaceAll("CWD", cwd).replaceAll("HOME", folder).replaceAll("SERVER", url),
        { permissions: { deny: ["Read(secret.txt)"] } },
      );
      const before = readdirSync(stage.cwd);
      const asked = stage.server.requests.length;
      const { events, notices } = await run(stage);
      if (isMissing(notices)) return;
      const said = textOf(endOf(events, "RunProgram")[0]?.content ?? []);
      if (!says.test(said)) wrong.push(`${name}: ${said.slice(0, 300)}`);
      if (/root:|hunter2|uid=/.test(said)) wrong.push(`${name}: it got out: ${said.slice(0, 300)}`);
      expect(readdirSync(stage.cwd), name).toEqual(before);
      expect(stage.server.requests.length - asked, name).toBe(2);
      // What it ran ended with it, and the turn with an answer.
      expect(events.at(-2)?.type === "turn.finished" || events.at(-1)?.type === "session.closed").toBe(true);
    }
    expect(wrong).toEqual([]);
    expect(wanted.length).toBe(countOf("hostile-programs"));
  });

  test(
    "is settled after a crash behind each of its events, and nothing of it runs twice",
    patience,
    async () => {
      verifies("P13");
      const stage = await stageFor(
        () => `await tools.Read({ file_path: "a.txt" });
await tools.Bash({ command: "echo mark >> marks.txt" });
await tools.Write({ file_path: "b.txt", content: "beta\\n" });
return "all";`,
        { permissions: { allow: ["Bash(echo:*)"] } },
      );
      const { events, notices } = await run(stage);
      if (isMissing(notices)) return;
      const marks = path.join(stage.cwd, "marks.txt");
      expect(readFileSync(marks, "utf8")).toBe("mark\n");
      const started = events.findIndex(
        (event) => event.type === "tool.started" && event.tool === "RunProgram",
      );
      const ended = events.findIndex(
        (event) => event.type === "tool.finished" && event.tool === "RunProgram",
      );
      const inner = events.slice(started, ended).filter((event) => "within" in event);
      expect(inner.length).toBe(6);
      const lengths = Array.from({ length: ended - started + 1 }, (_, at) => started + at);
      for (const length of partOf("program-crashes", () => lengths)) {
        for (const file of [marks, path.join(stage.cwd, "b.txt")]) rmSync(file, { force: true });
        const copy = crypto.randomUUID();
        const prefix = events.slice(0, length).map((event) => ({ ...event, session: copy }));
        await stage.home.sessions.restore(copy, { cwd: stage.cwd, events: prefix });
        const session = await stage.home.open({
          ...stage.options,
          which: { kind: "resume", from: { session: copy } },
        });
        agree(session);
        await session.run();
        await session.idle();
        await session.close("ended");
        const after = await Array.fromAsync(stage.home.sessions.read(copy));
        const [program] = endOf(after, "RunProgram");
        // Behind its start nothing of it runs again; before it, all of it runs once.
        const runs = existsSync(marks) ? readFileSync(marks, "utf8") : "";
        expect([length, runs]).toEqual([length, length === started ? "mark\n" : ""]);
        if (length > started) expect(program?.interrupted).toBe(true);
        expect(after.filter(({ type }) => type === "turn.finished")).toHaveLength(1);
        expect(after.findLast((event) => event.type === "turn.finished")).toMatchObject({
          reason: "completed",
        });
      }
      expect(stage.server.requests.flatMap(({ violations }) => violations)).toEqual([]);
    },
  );
});
