/**
 * The workspaces of a server, from afar: the calls of the table, and what is watched, over a link that may be cut. What
 * is watched goes on by itself: a list comes again as a whole, a terminal after the last position that was shown.
 */
import { type Backoff, delayMs } from "../kernel/backoff.ts";
import { byteLength } from "../kernel/text.ts";
import type { AnswerTo, OperationQuestion } from "../protocol/operation.ts";
import type { AgentUpdate, DiffSummary, TerminalUpdate, WorkspaceUpdate } from "../protocol/workspace.ts";
import type { WatchName, WatchUpdate, WorkspaceOperation } from "../protocol/workspace-operations.ts";
import { type ClientPorts, isLost } from "./far-handle.ts";
import type { LinkWatch, ServerLink } from "./link.ts";

type CallName = Exclude<WorkspaceOperation, "workspaces" | "typeInTerminal" | "resizeTerminal">;

/** Each row of the table under its name. Throws the fault that the server gives, and `link_lost`. */
type Calls = {
  readonly [Name in CallName]: (question: OperationQuestion<Name>) => Promise<AnswerTo<Name>>;
};

/** The names alone: a page that calls them needs none of their schemas. */
const callNames = Object.keys({
  choices: true,
  createWorkspace: true,
  changeWorkspace: true,
  deleteWorkspace: true,
  createWorker: true,
  changeWorker: true,
  restartWorker: true,
  deleteWorker: true,
  tellWorker: true,
  interruptWorker: true,
  answerWorker: true,
  diff: true,
  fileDiff: true,
  changeDiff: true,
} satisfies Record<CallName, true>) as CallName[];

export type FarWorkspaces = Calls & {
  list(question?: OperationQuestion<"workspaces">): Promise<AnswerTo<"workspaces">>;
  /** All once, then what changes; all again after the connection was cut. Ends with the signal. */
  watch(signal: AbortSignal): AsyncIterable<WorkspaceUpdate>;
  watchDiff(worker: string, signal: AbortSignal): AsyncIterable<DiffSummary>;
  terminal(worker: string): FarTerminal;
  /** What an agent of another engine says, after the message with this uuid; no message twice and none left out. */
  messages(worker: string, signal: AbortSignal, since?: string): AsyncIterable<AgentUpdate>;
};

export type FarTerminal = {
  /**
   * What the terminal shows, from its screen on. An update counts as shown when the next one is asked for: who takes
   * long to draw is told a fresh screen in place of all that it missed. Ends with the signal.
   */
  updates(signal: AbortSignal): AsyncIterable<TerminalUpdate>;
  /** In the order in which it was called. Rejects where it is not known whether the keys arrived. */
  type(keys: string): Promise<void>;
  resize(size: { readonly columns: number; readonly rows: number }): Promise<void>;
};

const reconnecting: Backoff = { firstMs: 100, maxMs: 5_000 };

export function farWorkspaces(link: ServerLink, ports: ClientPorts): FarWorkspaces {
  const calls = Object.fromEntries(
    callNames.map((name) => [name, (question: never) => link.call(name, question)]),
  ) as unknown as Calls;

  /** `open` is asked anew after each cut; what it tells goes on until the signal fires or the server ends it. */
  async function* patiently<Name extends WatchName>(
    open: (signal: AbortSignal) => LinkWatch<WatchUpdate<Name>>,
    signal: AbortSignal,
    shown: (update: WatchUpdate<Name>, drew: (at: number) => void) => void,
  ): AsyncGenerator<WatchUpdate<Name>, void> {
    let tries = 0;
    while (!signal.aborted) {
      try {
        const { updates, drew } = open(signal);
        for await (const update of updates) {
          tries = 0;
          yield update;
          shown(update, drew);
          if (signal.aborted) return;
        }
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        if (!isLost(thrown)) throw thrown;
      }
      tries += 1;
      await ports.sleep(delayMs(reconnecting, tries, ports.random()), signal);
    }
  }

  function terminal(worker: string): FarTerminal {
    let waiting = "";
    let next: Promise<void> | undefined;
    let sending: Promise<unknown> | undefined;
    /** What is typed while keys are on their way goes together, after them. */
    const send = async (): Promise<void> => {
      await sending?.catch(() => undefined);
      const keys = waiting;
      waiting = "";
      next = undefined;
      sending = link.call("typeInTerminal", { worker, keys });
      await sending;
    };
    return {
      updates(signal) {
        let epoch: string | undefined;
        let at = 0;
        const open = (stop: AbortSignal) =>
          link.watch("terminal", epoch === undefined ? { worker } : { worker, epoch, after: at }, stop);
        return patiently<"terminal">(open, signal, (update, drew) => {
          if (update.kind === "screen") {
            epoch = update.epoch;
            at = update.at;
          } else if (update.kind === "output") at = update.at + byteLength(update.text);
          else return;
          drew(at);
        });
      },
      type(keys) {
        waiting += keys;
        next ??= send();
        return next;
      },
      resize: async (size) => void (await link.call("resizeTerminal", { worker, ...size })),
    };
  }

  return {
    ...calls,
    list: (question = {}) => link.call("workspaces", question),
    watch: (signal) => patiently<"workspaces">((stop) => link.watch("workspaces", {}, stop), signal, nothing),
    watchDiff: (worker, signal) =>
      patiently<"diff">((stop) => link.watch("diff", { worker }, stop), signal, nothing),
    terminal,
    messages(worker, signal, since) {
      let last = since;
      const open = (stop: AbortSignal) =>
        link.watch("messages", last === undefined ? { worker } : { worker, since: last }, stop);
      return patiently<"messages">(open, signal, (update) => {
        // Pieces of a message are not kept: nobody can come back by them.
        const isPiece = update.kind === "message" && update.message["type"] === "stream_event";
        const uuid =
          update.kind === "message" ? update.message["uuid"] : update.kind === "event" && update.uuid;
        if (!isPiece && typeof uuid === "string") last = uuid;
      });
    },
  };
}

const nothing = (): void => undefined;
