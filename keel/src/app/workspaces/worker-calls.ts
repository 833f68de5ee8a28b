/** What one worker is asked, told and watched for, where it can be: the rows of the table that name a worker. */
import { fault } from "../../kernel/fault.ts";
import type { AnswerTo, OperationName, OperationQuestion } from "../../protocol/operation.ts";
import type { AgentUpdate, DiffSummary } from "../../protocol/workspace.ts";
import type { TerminalFeed, TerminalPosition } from "../../workspace/terminals/terminal-watcher.ts";
import type { Worker } from "./worker.ts";

export type HandlersOf<Names extends OperationName> = {
  readonly [Name in Names]: (question: OperationQuestion<Name>) => Promise<AnswerTo<Name>>;
};

export type WorkerHandlers = HandlersOf<
  | "tellWorker"
  | "interruptWorker"
  | "answerWorker"
  | "typeInTerminal"
  | "resizeTerminal"
  | "diff"
  | "fileDiff"
  | "changeDiff"
>;

export class WorkerCalls {
  /** Throws `worker_unknown`. */
  readonly #find: (id: string) => Promise<Worker>;

  constructor(find: (id: string) => Promise<Worker>) {
    this.#find = find;
  }

  readonly handlers: WorkerHandlers = {
    tellWorker: async ({ worker, content, id }) => {
      const agent = await this.#find(worker);
      if (!agent.tell) throw refused("This worker takes no words.");
      await agent.tell(content, id);
      return {};
    },
    interruptWorker: async ({ worker }) => {
      const agent = await this.#find(worker);
      if (!agent.interrupt) throw refused("This worker cannot be interrupted.");
      await agent.interrupt();
      return {};
    },
    answerWorker: async ({ worker, ask, ...answer }) => (await this.#messages(worker)).answer(ask, answer),
    typeInTerminal: async ({ worker, keys }) => {
      (await this.#terminal(worker)).type(keys);
      return {};
    },
    resizeTerminal: async ({ worker, columns, rows }) => {
      (await this.#terminal(worker)).resize({ columns, rows });
      return {};
    },
    diff: async ({ worker }) => (await this.#diff(worker)).summary(),
    fileDiff: async ({ worker, path }) => (await this.#diff(worker)).file(path),
    changeDiff: async ({ worker, ...wanted }) => (await this.#diff(worker)).change(wanted),
  };

  /** Throws `worker_unknown`, and `work_refused` for a worker without a terminal. */
  async watchTerminal(worker: string, from: TerminalPosition, signal: AbortSignal): Promise<TerminalFeed> {
    return (await this.#terminal(worker)).watch(from, signal);
  }

  /** As `watchTerminal`, of what an agent says in messages of its own. */
  async watchMessages(
    worker: string,
    since: string | null | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<AgentUpdate>> {
    return (await this.#messages(worker)).follow(since, signal);
  }

  async storedMessages(worker: string, since: string | undefined): Promise<AsyncIterable<AgentUpdate>> {
    return (await this.#messages(worker)).stored(since);
  }

  /** As `watchTerminal`, of a diff. */
  async watchDiff(worker: string, signal: AbortSignal): Promise<AsyncIterable<DiffSummary>> {
    return (await this.#diff(worker)).watch(signal);
  }

  async #messages(id: string) {
    const { messages } = await this.#find(id);
    if (!messages) throw refused("This worker has no messages of its own: an agent of ours has a session.");
    return messages;
  }

  async #terminal(id: string) {
    const { terminal } = await this.#find(id);
    if (!terminal) throw refused("This worker has no terminal.");
    return terminal;
  }

  async #diff(id: string) {
    const { diff } = await this.#find(id);
    if (!diff) throw refused("This worker has no diff.");
    return diff;
  }
}

const refused = (reason: string) => fault("work_refused", { reason });
