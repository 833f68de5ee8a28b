/** What is watched of workspaces, by the table of watches: the same for every door. */
import type { ServedWorkspaces } from "../../app/workspaces/served-workspaces.ts";
import type { ClientFrame } from "../../protocol/wire.ts";
import type { WatchName, WatchQuestion, WatchUpdate } from "../../protocol/workspace-operations.ts";

export type WatchFrame = Extract<ClientFrame, { type: `watch-${WatchName}` }>;

export const watchOf = ({ type }: WatchFrame): WatchName => type.slice("watch-".length) as WatchName;

/** `drew` is for terminals: what of their output was shown. */
export type OpenWatch<Update> = {
  readonly updates: AsyncIterable<Update>;
  drew(at: number): void;
};

type Watched = Pick<ServedWorkspaces, "watch" | "workers">;

/** Throws what keeps it from being watched. */
export async function openWatch(
  served: Watched,
  frame: WatchFrame,
  signal: AbortSignal,
): Promise<OpenWatch<WatchUpdate<WatchName>>> {
  switch (frame.type) {
    case "watch-workspaces":
      return { updates: served.watch(signal), drew: unheard };
    case "watch-terminal":
      return served.workers.watchTerminal(frame.worker, frame, signal);
    case "watch-messages":
      return {
        updates: await served.workers.watchMessages(frame.worker, frame.since, signal),
        drew: unheard,
      };
    case "watch-diff":
      return { updates: await served.workers.watchDiff(frame.worker, signal), drew: unheard };
  }
}

/** The same for a request that names the row. */
export const watchFrame = <Name extends WatchName>(name: Name, question: WatchQuestion<Name>): WatchFrame =>
  ({ type: `watch-${name}`, id: 0, ...question }) as unknown as WatchFrame;

const unheard = (): void => undefined;
