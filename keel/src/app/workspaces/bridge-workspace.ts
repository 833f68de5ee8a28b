/** A bridge as a workspace: its folder is elsewhere, and so are its agents. */
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import type { BridgeEntry } from "../../protocol/bridge.ts";
import type { OperationQuestion } from "../../protocol/operation.ts";
import type { NewWorker } from "../../protocol/workspace.ts";
import type { WorkspaceSessions } from "./worker.ts";
import { titleOf, type WorkspaceRecord } from "./workspace-store.ts";

/** What is given to a bridge, and ended there. */
export type BridgedWork = {
  give(work: OperationQuestion<"giveWork">, by: string): Promise<string>;
  stop(session: string): Promise<void>;
};

export const bridgeWorkspace = (
  { id, machineName, dir }: BridgeEntry,
  createdAt: number,
): WorkspaceRecord => ({
  id,
  title: titleOf(`${path.basename(dir) || dir} on ${machineName}`),
  cwd: dir,
  folder: `${machineName}:${dir}`,
  bridge: { machine: machineName },
  createdAt,
  changedAt: createdAt,
  archived: false,
  workers: [],
});

/** Throws `work_refused`. */
export function mustFitBridge({ kind, engine = "keel", session }: NewWorker): void {
  if (kind !== "agent" || engine !== "keel" || session !== undefined)
    throw fault("work_refused", {
      reason: "Behind a bridge there are agents of Keel's own and nothing else.",
    });
}

/** What it is told first goes along: the bridge may be away now. */
export const workFor =
  (
    { id: bridge, title }: WorkspaceRecord,
    asked: NewWorker | undefined,
    bridged: BridgedWork,
  ): WorkspaceSessions["open"] =>
  ({ options: { model } }) =>
    bridged.give(
      {
        bridge,
        prompt: asked?.prompt,
        title: asked?.name ?? title,
        ...(typeof model === "string" ? { model } : {}),
      },
      "the console",
    );
