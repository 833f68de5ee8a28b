// Workspaces with their workers, by every way to a server.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import headless from "@xterm/headless";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHome } from "../keel/src/app/home.ts";
import { trustProject, trustReport } from "../keel/src/app/maintenance/trust.ts";
import { agentEngines } from "../keel/src/app/workspaces/engines.ts";
import type { KeelClient } from "../keel/src/client/connect.ts";
import type { FarTerminal } from "../keel/src/client/far-workspaces.ts";
import type { DiffSummary, WorkspaceUpdate } from "../keel/src/protocol/workspace.ts";
import { reply } from "../keel/src/testing/reply.ts";
import { clients, type Stage, serve, stage } from "./handle/stage.ts";
import { cellsOf, painted, textOf, write } from "./support/cells.ts";
import { verifies } from "./support/verifies.ts";

/** What is told until something has happened. */
async function until(
  updates: AsyncIterable<WorkspaceUpdate>,
  isLast: (update: WorkspaceUpdate) => boolean,
): Promise<WorkspaceUpdate[]> {
  const heard: WorkspaceUpdate[] = [];
  for await (const update of updates) {
    heard.push(update);
    if (isLast(update)) return heard;
  }
  return heard;
}

describe.each(Object.entries(clients))("workspaces %s", (_, connect) => {
  const begin = async (...replies: ReturnType<typeof reply>[]) => {
    const at: Stage = await stage({ replies });
    const { workspaces, attach } = await connect(at);
    return { at, cwd: at.cwd, workspaces, attach };
  };

  test("are created, listed, renamed, archived and deleted", async () => {
    verifies("S3.15");
    const { cwd, workspaces } = await begin();
    const made = await workspaces.createWorkspace({ cwd });
    expect(made).toMatchObject({ title: "work", cwd, folder: cwd, archived: false, workers: [] });
    const { id } = made;
    expect(await workspaces.changeWorkspace({ workspace: id, title: "The fix" })).toMatchObject({
      title: "The fix",
    });
    expect(await workspaces.list()).toMatchObject([{ id, title: "The fix" }]);
    await workspaces.changeWorkspace({ workspace: id, archived: true });
    expect(await workspaces.list()).toEqual([]);
    expect(await workspaces.list({ archived: true })).toMatchObject([{ id, archived: true }]);
    expect(await workspaces.deleteWorkspace({ workspace: id })).toEqual({});
    expect(await workspaces.list({ archived: true })).toEqual([]);
    await expect(workspaces.deleteWorkspace({ workspace: id })).rejects.toMatchObject({
      code: "workspace_unknown",
    });
  });

  test("tell whoever watches what an agent does, says and costs", async () => {
    verifies("S3.5", "S3.20");
    const { cwd, workspaces, attach } = await begin(reply("All is well.\nI am done."));
    const stop = new AbortController();
    const watching = Promise.withResolvers<void>();
    const heard = until(workspaces.watch(stop.signal), (update) => {
      if (update.kind === "all") watching.resolve();
      return (
        update.kind === "worker" && update.worker.activity === "idle" && update.worker.lastWords !== undefined
      );
    });
    await watching.promise;
    const worker = { kind: "agent" as const, prompt: "Look", options: { model: "claude-haiku-4-5" } };
    const made = await workspaces.createWorkspace({ cwd, workers: [worker] });
    const [agent] = made.workers;
    expect(agent).toMatchObject({ kind: "agent", engine: "keel", workspace: made.id });
    const updates = await heard;
    expect(updates[0]).toMatchObject({ kind: "all" });
    const active = updates.some((update) => update.kind === "worker" && update.worker.activity === "active");
    expect(active).toBe(true);
    expect(updates.at(-1)).toMatchObject({
      worker: { id: agent?.id, lastWords: "I am done.", asks: 0, model: "claude-haiku-4-5" },
    });
    stop.abort();
    // The worker is a session like any other.
    const events = attach(agent?.session ?? "").events();
    for await (const event of events) if (event.type === "turn.finished") break;
  });

  test("show a terminal to several pages, which type into it and come and go", async () => {
    verifies("S3.3", "S3.20");
    const { cwd, workspaces } = await begin();
    const made = await workspaces.createWorkspace({ cwd });
    const worker = await workspaces.createWorker({
      workspace: made.id,
      worker: {
        kind: "terminal",
        command: ["sh", "-c", 'pwd; read -r a; echo "got $a"; exit 4'],
        columns: 70,
        rows: 20,
      },
    });
    expect(worker).toMatchObject({ kind: "terminal", engine: "shell", workspace: made.id });
    const one = watchTerminal(workspaces.terminal(worker.id));
    await one.until(() => one.text().includes(cwd.slice(-20)));
    const terminal = workspaces.terminal(worker.id);
    await Promise.all([..."hello"].map((key) => terminal.type(key)));
    await terminal.resize({ columns: 90, rows: 25 });
    await one.until(() => one.size() === "90x25" && one.text().includes("hello"));
    const two = watchTerminal(workspaces.terminal(worker.id));
    await two.until(() => two.text().includes("hello"));
    expect(two.cells()).toEqual(one.cells());
    await terminal.type("\r");
    await two.until(() => two.exit() !== undefined);
    expect(two.text()).toContain("got hello");
    expect(two.exit()).toMatchObject({ code: 4, signal: null });
    const [listed] = await workspaces.list();
    expect(listed?.workers).toMatchObject([{ activity: "ended", exit: { code: 4 } }]);
    await expect(terminal.type("x")).rejects.toMatchObject({ code: "work_refused" });
    await workspaces.restartWorker({ worker: worker.id });
    await one.until(() => !one.text().includes("got hello"));
  });

  test("show what has changed in a repository, and change it", async () => {
    verifies("S3.4");
    const { cwd, workspaces } = await begin();
    repository(cwd);
    const made = await workspaces.createWorkspace({ cwd, workers: [{ kind: "diff" }] });
    const worker = made.workers[0]?.id ?? "";
    expect(made.workers).toMatchObject([{ kind: "diff", engine: "git" }]);
    expect(await workspaces.diff({ worker })).toMatchObject({ branch: "trunk", files: [] });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const updates = workspaces.watchDiff(worker, stop.signal)[Symbol.asyncIterator]();
    expect((await updates.next()).value).toMatchObject({ files: [] });
    // The watch may need a moment until it stands; what is written again is noticed then.
    const writing = setInterval(
      () => writeFileSync(path.join(cwd, "a.txt"), `two ${Date.now() % 10}\n`),
      100,
    );
    onTestFinished(() => clearInterval(writing));
    for (let told: DiffSummary | undefined; told?.added !== 1; ) {
      told = (await updates.next()).value;
      // It may be looked at while it is written.
      if (told?.added === 1)
        expect(told).toMatchObject({ files: [{ path: "a.txt", staged: "unstaged" }], removed: 1 });
    }
    clearInterval(writing);
    // Who begins to look just when another stops is told of changes too.
    const next = new AbortController();
    onTestFinished(() => next.abort());
    stop.abort();
    const others = workspaces.watchDiff(worker, next.signal)[Symbol.asyncIterator]();
    await others.next();
    const again = setInterval(() => writeFileSync(path.join(cwd, "b.txt"), `${Date.now()}\n`), 100);
    onTestFinished(() => clearInterval(again));
    for (let told: DiffSummary | undefined; !told?.files.some((file) => file.path === "b.txt"); )
      told = (await others.next()).value;
    clearInterval(again);
    rmSync(path.join(cwd, "b.txt"));
    writeFileSync(path.join(cwd, "a.txt"), "two\n");
    const { hunks } = await workspaces.fileDiff({ worker, path: "a.txt" });
    expect(hunks).toMatchObject([
      {
        lines: [
          { kind: "removed", text: "one" },
          { kind: "added", text: "two" },
        ],
      },
    ]);
    await workspaces.changeDiff({ worker, action: "stage", path: "a.txt" });
    expect(await workspaces.diff({ worker })).toMatchObject({ files: [{ staged: "staged" }] });
    const { undo } = await workspaces.changeDiff({ worker, action: "revert", path: "a.txt" });
    expect(await workspaces.diff({ worker })).toMatchObject({ files: [] });
    await workspaces.changeDiff({ worker, action: "undo", undo });
    expect(readFileSync(path.join(cwd, "a.txt"), "utf8")).toBe("two\n");
    await expect(
      workspaces.changeDiff({ worker, action: "revert", path: "a.txt", hunk: "gone" }),
    ).rejects.toMatchObject({ code: "work_refused" });
    expect(await workspaces.list()).toMatchObject([{ branch: "trunk", added: 1, removed: 1 }]);
  });

  test("make worktrees, hold them alone, and remove only those in which nothing would be lost", async () => {
    verifies("P25");
    const { at, cwd, workspaces } = await begin();
    repository(cwd);
    const wanted = { cwd, worktree: { name: "fix" } };
    await expect(workspaces.createWorkspace(wanted)).rejects.toMatchObject({ code: "work_refused" });
    const place = { cwd, env: at.env };
    await trustProject(place, await trustReport(place));
    const made = await workspaces.createWorkspace(wanted);
    expect(made).toMatchObject({ title: "fix", folder: cwd, worktree: { branch: "keel/fix" } });
    expect(made.cwd).not.toBe(cwd);
    expect(existsSync(path.join(made.cwd, "a.txt"))).toBe(true);
    await expect(workspaces.createWorkspace(wanted)).rejects.toMatchObject({ code: "work_refused" });
    await expect(workspaces.createWorkspace({ cwd: made.cwd })).rejects.toMatchObject({
      code: "work_refused",
      message: expect.stringContaining('belongs to the workspace "fix"'),
    });
    writeFileSync(path.join(made.cwd, "new.txt"), "x\n");
    expect(await workspaces.deleteWorkspace({ workspace: made.id })).toEqual({ keptWorktree: made.cwd });
    expect(existsSync(path.join(made.cwd, "new.txt"))).toBe(true);
    const other = await workspaces.createWorkspace({ cwd, worktree: { name: "other" } });
    expect(await workspaces.deleteWorkspace({ workspace: other.id })).toEqual({});
    expect(existsSync(other.cwd)).toBe(false);
  });

  test("say what a new agent can be made of: engines, and what a session in the folder would have", async () => {
    verifies("S3.21");
    const { cwd, workspaces } = await begin();
    const anywhere = await workspaces.choices({});
    expect(anywhere.engines[0]?.name).toBe("keel");
    expect(anywhere.engines.map(({ name }) => name)).toEqual(agentEngines.map(({ name }) => name));
    expect([anywhere.agents, anywhere.models]).toEqual([[], []]);

    mkdirSync(path.join(cwd, ".keel/agents"), { recursive: true });
    const about = "---\nname: reviewer\ndescription: Looks at a change\n---\nYou review.\n";
    writeFileSync(path.join(cwd, ".keel/agents/reviewer.md"), about);
    const { agents, models } = await workspaces.choices({ cwd });
    const kinds = agents.map(({ name }) => name);
    expect(agents).toContainEqual({ name: "reviewer", description: "Looks at a change" });
    // One that goes on from a conversation has none to go on from.
    expect(kinds).not.toContain("fork");
    expect(models.length).toBeGreaterThan(0);
    // Each of them can be had, and no other.
    for (const agent of kinds)
      await workspaces.createWorkspace({ cwd, workers: [{ kind: "agent", options: { agent } }] });
    const unknown = { kind: "agent" as const, options: { agent: "nobody" } };
    await expect(workspaces.createWorkspace({ cwd, workers: [unknown] })).rejects.toMatchObject({
      code: "usage",
    });
    await expect(workspaces.choices({ cwd: `${cwd}/nowhere` })).rejects.toMatchObject({ code: "usage" });
  });

  test("refuse what they cannot do, and leave no trace of it", async () => {
    const { cwd, workspaces } = await begin();
    const { id: workspace } = await workspaces.createWorkspace({ cwd });
    const make = (worker: Parameters<typeof workspaces.createWorker>[0]["worker"]) =>
      workspaces.createWorker({ workspace, worker });
    await expect(make({ kind: "agent", engine: "of-tomorrow" })).rejects.toMatchObject({
      code: "work_refused",
    });
    await expect(make({ kind: "agent", engine: "pty" })).rejects.toMatchObject({ code: "work_refused" });
    await expect(make({ kind: "terminal", engine: "keel" })).rejects.toMatchObject({ code: "work_refused" });
    await expect(workspaces.createWorkspace({ cwd: "relative" })).rejects.toMatchObject({ code: "usage" });
    const asked = {
      cwd,
      workers: [{ kind: "terminal" as const }, { kind: "agent" as const, engine: "of-tomorrow" }],
    };
    await expect(workspaces.createWorkspace(asked)).rejects.toMatchObject({ code: "work_refused" });
    await expect(workspaces.createWorkspace({ cwd: `${cwd}/nowhere` })).rejects.toMatchObject({
      code: "usage",
    });
    expect(await workspaces.list()).toMatchObject([{ id: workspace, workers: [] }]);
  });
});

function repository(cwd: string): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b", ...args], { cwd, stdio: "ignore" });
  git("init", "--quiet", "--initial-branch=trunk");
  writeFileSync(path.join(cwd, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "first");
}

/** A page that draws what it is told. */
function watchTerminal(terminal: FarTerminal) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let screen = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  let exit: { code: number; signal: string | null } | undefined;
  void (async () => {
    for await (const update of terminal.updates(stop.signal)) {
      if (update.kind === "screen") screen = await painted(update);
      else if (update.kind === "output") await write(screen, update.text);
      else if (update.kind === "size") screen.resize(update.columns, update.rows);
      else exit = update;
    }
  })();
  return {
    text: () => textOf(screen),
    cells: () => cellsOf(screen),
    size: () => `${screen.cols}x${screen.rows}`,
    exit: () => exit,
    async until(isSo: () => boolean): Promise<void> {
      for (let tries = 0; tries < 1_000 && !isSo(); tries++) await pause(10);
      expect(isSo(), textOf(screen)).toBe(true);
    },
  };
}

describe("a server that was started anew", () => {
  const restart = async (at: Stage): Promise<KeelClient["workspaces"]> => {
    const { home, env } = at;
    const again = openHome({ cwd: at.cwd, env });
    onTestFinished(() => again.close());
    await home.close();
    return (await near({ ...at, home: again })).workspaces;
  };
  const near = async (at: Stage): Promise<KeelClient> => {
    const connect = clients["over frames"];
    if (!connect) throw new Error("no such way");
    return connect(at);
  };

  test("has every workspace as it was, with its workers and what they showed", async () => {
    verifies("S3.7", "S3.15", "S3.21");
    const at = await stage({ replies: [reply("Said before.")] });
    const served = serve(at);
    const first = served.workspaces.handlers;
    const made = await first.createWorkspace({
      cwd: at.cwd,
      title: "Kept",
      workers: [
        { kind: "agent", prompt: "Hi", options: { model: "claude-haiku-4-5" } },
        { kind: "terminal", command: ["sh", "-c", "echo last words; sleep 60"], columns: 60, rows: 10 },
        { kind: "diff" },
      ],
    });
    const isDone = async () => {
      const [entry] = await first.workspaces({});
      return entry?.workers[0]?.lastWords !== undefined;
    };
    while (!(await isDone())) await pause(20);
    const looked = new AbortController();
    const feed = await served.workspaces.workers.watchTerminal(made.workers[1]?.id ?? "", {}, looked.signal);
    let said = "";
    for await (const update of feed.updates) {
      said += update.kind === "screen" ? update.paint : update.kind === "output" ? update.text : "";
      if (said.includes("last words")) break;
    }
    const file = path.join(at.home.path, "server/workspaces", `${made.id}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    await served.close();
    expect(
      statSync(path.join(at.home.path, "server/workers", made.workers[1]?.id ?? "", "screen.json")).mode &
        0o777,
    ).toBe(0o600);
    const workspaces = await restart(at);
    const stop = new AbortController();
    const updates = workspaces.watch(stop.signal);
    for await (const update of updates) {
      const entries = update.kind === "all" ? update.workspaces : [];
      const agent = update.kind === "worker" ? update.worker : entries[0]?.workers[0];
      if (agent?.lastWords !== undefined) break;
    }
    stop.abort();
    const [entry] = await workspaces.list();
    expect(entry).toMatchObject({ id: made.id, title: "Kept" });
    expect(entry?.workers).toMatchObject([
      { engine: "keel", session: made.workers[0]?.session, lastWords: "Said before.", activity: "idle" },
      { engine: "shell", activity: "ended", exit: { signal: "SIGHUP" } },
      { engine: "git" },
    ]);
    const page = watchTerminal(workspaces.terminal(entry?.workers[1]?.id ?? ""));
    await page.until(() => page.exit() !== undefined);
    expect(page.text()).toContain("last words");
    await workspaces.restartWorker({ worker: entry?.workers[1]?.id ?? "" });
    expect((await workspaces.list())[0]?.workers[1]).not.toMatchObject({ activity: "ended" });
  });

  test("shows an engine that it does not know, and keeps all that it does not know", async () => {
    verifies("S3.21");
    const at = await stage({ replies: [] });
    const folder = path.join(at.home.path, "server/workspaces");
    mkdirSync(folder, { recursive: true });
    const id = "0198c0de-0000-7000-8000-00000000000a";
    const worker = {
      id: "w-1",
      kind: "agent",
      engine: "of-tomorrow",
      name: "New",
      createdAt: 1,
      secretOfTomorrow: [1],
    };
    const record = {
      id,
      title: "Old",
      cwd: at.cwd,
      folder: at.cwd,
      createdAt: 1,
      changedAt: 1,
      archived: false,
      colour: "blue",
    };
    const hologram = { ...worker, id: "w-2", kind: "hologram" };
    writeFileSync(
      path.join(folder, `${id}.json`),
      JSON.stringify({ ...record, workers: [worker, hologram] }),
    );
    writeFileSync(path.join(folder, "broken.json"), "{");
    const { workspaces } = await near(at);
    expect(await workspaces.list()).toMatchObject([
      { id, workers: [{ engine: "of-tomorrow", activity: "unknown" }] },
    ]);
    await workspaces.restartWorker({ worker: "w-1" });
    await workspaces.changeWorker({ worker: "w-1", name: "Renamed" });
    const kept = JSON.parse(readFileSync(path.join(folder, `${id}.json`), "utf8"));
    expect(kept).toMatchObject({
      colour: "blue",
      workers: [{ name: "Renamed", secretOfTomorrow: [1] }, hologram],
    });
    expect(readFileSync(path.join(folder, "broken.json"), "utf8")).toBe("{");
  });
});
