import type { WorkerEntry, WorkspaceEntry } from "keel/protocol";
import { expect, test } from "vitest";
import { WorkspaceList } from "./workspace-list.ts";

const worker = (asks: number): WorkerEntry => ({
  id: "worker",
  workspace: "any",
  kind: "agent",
  engine: "keel",
  name: "Agent",
  createdAt: 1,
  activity: asks > 0 ? "asking" : "active",
  asks,
});

const workspace = (id: string, title: string, asks = 0): WorkspaceEntry => ({
  id,
  title,
  cwd: "/shop",
  folder: "/shop",
  createdAt: 1,
  changedAt: 1,
  archived: false,
  workers: [worker(asks)],
});

const listOf = (...all: WorkspaceEntry[]) => ({ isKnown: true, all });

test("whoever looks at one workspace is told of it alone, and the order only of what moves one", () => {
  const api = workspace("api", "The api");
  const list = new WorkspaceList(listOf(api, workspace("docs", "The docs")));
  const told: string[] = [];
  list.one("api").subscribe(() => told.push("api"));
  list.one("docs").subscribe(() => told.push("docs"));
  list.ordered.subscribe(() => told.push("order"));
  list.all.subscribe(() => told.push("all"));

  list.set(listOf(api, workspace("docs", "Other words")));
  expect(told.splice(0)).toEqual(["all", "docs"]);
  expect(list.one("docs").get()?.title).toBe("Other words");

  list.set(listOf(api, workspace("docs", "Other words", 1)));
  expect(told.splice(0)).toEqual(["all", "docs", "order"]);

  list.set(listOf(workspace("docs", "Other words", 1)));
  expect(told.splice(0).toSorted()).toEqual(["all", "api", "docs", "order"]);
  expect(list.one("api").get()).toBeUndefined();
  expect(list.one("docs").get()?.title).toBe("Other words");
});
