import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import type { WorkerEntry, WorkspaceEntry, WorkspaceUpdate } from "../../../protocol/workspace.ts";
import { type AppLine, type AppMemo, syncOf, toAppLines } from "./app-dialect.ts";

const worker = (more: Partial<WorkerEntry> = {}): WorkerEntry => ({
  id: "w1",
  workspace: "s1",
  kind: "agent",
  engine: "keel",
  name: "agent",
  createdAt: 0,
  activity: "idle",
  session: "c1",
  ...more,
});
const workspace = (more: Partial<WorkspaceEntry> = {}): WorkspaceEntry => ({
  id: "s1",
  title: "Work",
  cwd: "/srv/project",
  folder: "/srv/project",
  createdAt: 0,
  changedAt: 0,
  archived: false,
  workers: [worker()],
  ...more,
});

function tell(updates: readonly WorkspaceUpdate[]): { lines: AppLine[]; memo: AppMemo } {
  let memo: AppMemo = new Map();
  const lines = updates.flatMap((update) => {
    const [told, next] = toAppLines(update, memo);
    memo = next;
    return told;
  });
  return { lines, memo };
}
const typesOf = (lines: readonly AppLine[]): string[] => lines.map(({ type }) => type);

test("every change of workspaces and workers has its line", () => {
  verifies("S3.16");
  const { lines } = tell([
    { kind: "all", workspaces: [] },
    { kind: "workspace", workspace: workspace() },
    { kind: "workspace", workspace: workspace({ title: "Another" }) },
    { kind: "worker", worker: worker({ activity: "active" }) },
    { kind: "worker", worker: worker({ activity: "active", lastWords: "Hm." }) },
    { kind: "worker", worker: worker({ activity: "ended" }) },
    { kind: "worker", worker: worker({ activity: "unknown" }) },
    { kind: "worker", worker: worker({ id: "w2", kind: "terminal", engine: "shell" }) },
    { kind: "worker-gone", workspace: "s1", worker: "w2" },
    { kind: "workspace", workspace: workspace({ archived: true }) },
    { kind: "workspace", workspace: workspace({ archived: false }) },
    { kind: "workspace-gone", workspace: "s1" },
    { kind: "workspace-gone", workspace: "s1" },
  ]);
  expect(typesOf(lines)).toEqual([
    "sessions-sync",
    "session-created",
    "session-updated",
    "worker-activity",
    "worker-activity",
    "worker-restarted",
    "worker-activity",
    "session-updated",
    "session-updated",
    "session-paused",
    "worker-activity",
    "session-resumed",
    "session-deleted",
  ]);
});

test("a session is told with its workers, each with an engine that is named", () => {
  verifies("S3.21");
  const terminal = worker({
    id: "w2",
    kind: "terminal",
    engine: "shell",
    session: undefined,
    activity: "active",
  });
  const diff = worker({ id: "w3", kind: "diff", engine: "git", session: undefined, activity: "unknown" });
  const { memo } = tell([{ kind: "all", workspaces: [workspace({ workers: [worker(), terminal, diff] })] }]);
  const createdAt = "1970-01-01T00:00:00.000Z";
  const name = "agent";
  expect(syncOf(memo)).toEqual({
    type: "sessions-sync",
    sessions: [
      {
        id: "s1",
        type: "quick",
        title: "Work",
        locationPath: "/srv/project",
        status: "active",
        createdAt,
        workers: [
          { id: "w1", type: "agent", engine: "keel", name, createdAt, activity: "idle", sessionId: "c1" },
          { id: "w2", type: "terminal", engine: "shell", name, createdAt, activity: "active" },
          { id: "w3", type: "git-diff", engine: "git", name, createdAt, activity: "unknown" },
        ],
      },
    ],
  });
});

test("tells what a worker does also where it is seen with its workspace first", () => {
  const both = (workspaceIs: WorkspaceEntry): AppLine[] =>
    tell([
      { kind: "all", workspaces: [workspace()] },
      { kind: "workspace", workspace: workspaceIs },
      { kind: "worker", worker: worker({ activity: "active" }) },
    ]).lines.slice(1);
  const active = worker({ activity: "active" });
  expect(typesOf(both(workspace({ title: "Another", workers: [active] })))).toEqual([
    "session-updated",
    "worker-activity",
  ]);
  expect(typesOf(both(workspace({ archived: true, workers: [active] })))).toEqual([
    "session-paused",
    "worker-activity",
  ]);
});
