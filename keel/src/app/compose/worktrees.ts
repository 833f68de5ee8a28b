/** Worktrees of a session: those of its agents, and the one that it works in itself. */

import { createHash } from "node:crypto";
import { boundShell, type TreeBudget } from "../../agents/budget.ts";
import type { AgentPorts } from "../../agents/tree.ts";
import type { Leases } from "../../ports/lease.ts";
import type { Grammar } from "../../ports/shell.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { Worktrees } from "../../ports/worktrees.ts";
import type { Worktree } from "../../protocol/task.ts";
import type { OpenWorktree, WorktreePorts } from "../../workspace/git/worktree.ts";
import type { OpenOptions } from "../options.ts";
import type { LiveFolders } from "./folders.ts";
import {
  type filesWith,
  type LateGuard,
  lateDiagnostics,
  lateDocuments,
  lateFileSearch,
  lateFormatter,
  latePlace,
  lateShell,
} from "./late-ports.ts";
import type { OwnFiles } from "./own-files.ts";
import type { SessionSandbox } from "./sandbox.ts";
import { type SettingsInForce, withoutOwnPath } from "./settings.ts";

export type SessionWorktrees = {
  readonly port: Worktrees;
  readonly isolate: NonNullable<AgentPorts["isolate"]>;
  /** Back into the one that the log names, where it still stands. Returns what a person should know. */
  takeUp(worktree: Worktree): Promise<string | undefined>;
  /** The session ends: its own worktree stays, and another session may have it. */
  close(): Promise<void>;
};

export type WorktreeContext = {
  readonly run: WorktreePorts["run"];
  readonly leases: Pick<Leases, "take">;
  readonly isTrusted: boolean;
  /** A workspace in another folder, with everything else as it is. */
  at(folder: { cwd: string; root: string }): Workspace;
  readonly home: MovableWorkspace;
  newName(): string;
};

export type MovableWorkspace = Workspace & { move(to: Workspace | undefined): void };

/** One workspace whose place may change: whoever holds it works where the session works. */
export function movableWorkspace(first: Workspace): MovableWorkspace {
  let now = first;
  const move = (to: Workspace | undefined): void => {
    now = to ?? first;
  };
  // Whatever a workspace has is looked up where the session is at that moment.
  return new Proxy(
    { ...first, move },
    { get: (own, name) => Reflect.get(name === "move" ? own : now, name) },
  );
}

const untrusted = "A worktree is made only in a project that is trusted: git runs what its settings name.";

/** Under what name a worktree is held, by whoever holds it. */
export const worktreeLease = (path: string): string =>
  `worktree-${createHash("sha256").update(path).digest("hex").slice(0, 32)}`;

export function sessionWorktrees(composition: WorktreeContext): SessionWorktrees {
  let mine: OpenWorktree | undefined;
  const ports: WorktreePorts = {
    run: composition.run,
    lease: (path) => composition.leases.take(worktreeLease(path)),
  };
  const workspaceIn = ({ cwd, worktree }: OpenWorktree): Workspace =>
    composition.at({ cwd, root: worktree.path });
  const git = () => import("../../workspace/git/worktree.ts");
  const make = async (cwd: string, name: string) =>
    composition.isTrusted
      ? (await git()).newWorktree(cwd, name, ports)
      : { ok: false as const, why: untrusted };
  const settle = (opened: OpenWorktree): void => {
    mine = opened;
    composition.home.move(workspaceIn(opened));
  };
  return {
    port: {
      current: () => mine?.worktree,
      async enter({ name }) {
        const opened = await make(composition.home.cwd, name ?? composition.newName());
        if (!opened.ok) return opened;
        settle(opened.value);
        return { ok: true, cwd: opened.value.cwd, worktree: opened.value.worktree };
      },
      async exit({ action, changes }) {
        if (!mine) return { ok: false, why: "You work in no worktree." };
        if (action === "remove" && changes === "keep" && (await mine.hasChanges()))
          return { ok: false, why: "The worktree holds changes. Keep it, or discard them." };
        const { worktree } = mine;
        composition.home.move(undefined);
        const state = await mine.leave(
          action === "keep" ? "keep" : changes === "discard" ? "discard" : "clean",
        );
        mine = undefined;
        return { ok: true, cwd: composition.home.cwd, worktree, state };
      },
    },
    async isolate(workspace, name, known) {
      const again =
        known && composition.isTrusted ? await (await git()).knownWorktree(known, ports) : undefined;
      const opened = again?.ok ? again : await make(workspace.cwd, name);
      if (!opened.ok) return opened;
      const { value } = opened;
      const place = {
        workspace: workspaceIn(value),
        worktree: value.worktree,
        leave: () => value.leave("clean"),
      };
      return { ok: true, place };
    },
    async takeUp(worktree) {
      const opened = await (await git()).knownWorktree(worktree, ports);
      if (!opened.ok) return `${opened.why} The session works in ${composition.home.cwd}.`;
      settle(opened.value);
      return undefined;
    },
    async close() {
      await mine?.leave("keep");
      mine = undefined;
    },
  };
}

/** Makes the workspace of a folder; whatever of it works in which folder, guard, budget and grammar are the same. */
export function workspaces({
  env,
  commandEnv,
  settings,
  trust,
  budget,
  guard,
  kept,
  named,
  grammar,
  files,
  terminals,
  sandbox,
}: Pick<SettingsInForce, "env" | "commandEnv" | "settings" | "trust"> & {
  budget: TreeBudget;
  guard: LateGuard;
  kept: OwnFiles;
  named: () => ReadonlyMap<string, string>;
  grammar: Grammar;
  files: Awaited<ReturnType<typeof filesWith>>;
  terminals: { terminals: OpenOptions["terminals"]; hostEnv: OpenOptions["env"] };
  sandbox: SessionSandbox | undefined;
}): (folders: Pick<LiveFolders, "cwd" | "roots">) => Workspace {
  const shellWith = (inside: LateGuard | undefined) =>
    boundShell(lateShell({ env: commandEnv, guard, inside, ...terminals }), budget);
  const commands = {
    grammar,
    home: commandEnv["HOME"] ?? "/",
    isTrusted: trust.state !== "untrusted",
    place: latePlace({ project: trust.root, env: commandEnv }),
  };
  return (folders) => {
    const { cwd } = folders;
    const confined = sandbox?.at(folders);
    const shell = shellWith(confined?.inside);
    const place = {
      cwd,
      own: [kept.folder],
      given: kept.given,
      named,
      // Looked up each time: folders come and go.
      get roots() {
        return folders.roots;
      },
    };
    return {
      cwd,
      get roots() {
        return folders.roots;
      },
      own: place.own,
      files: files(place),
      search: lateFileSearch(env, place.own),
      documents: lateDocuments(),
      shell,
      ...(confined ? { sandbox: confined.port } : {}),
      commands,
      diagnostics: lateDiagnostics(
        settings.diagnostics,
        { cwd, commands, shell },
        { env: withoutOwnPath(commandEnv, folders.roots), guard },
      ),
      formatter: lateFormatter(settings.formatters, { cwd, commands, shell }),
    };
  };
}
