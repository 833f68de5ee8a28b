/** The agents of the console wire that somebody looks at, one for each worker however many clients it has. */
import path from "node:path";
import { ConsoleAgent, type ConsoleAgentOptions } from "./console-agent.ts";

/** A list that nobody looks at is let go after this. */
const unheardMs = 60_000;

export type ConsoleAgentsOptions = Pick<ConsoleAgentOptions, "served" | "version"> & {
  /** Where copies are kept. */
  readonly folder: string;
};

export class ConsoleAgents {
  readonly #options: ConsoleAgentsOptions;
  readonly #open = new Map<string, Promise<ConsoleAgent>>();

  constructor(options: ConsoleAgentsOptions) {
    this.#options = options;
  }

  /** Throws what keeps its session from being attached to. */
  of(worker: string, session: string): Promise<ConsoleAgent> {
    const known = this.#open.get(worker);
    if (known) return known;
    const { folder, ...options } = this.#options;
    const file = path.join(folder, "messages", `${path.basename(worker)}.jsonl`);
    const opened = ConsoleAgent.open({ ...options, session, file });
    this.#open.set(worker, opened);
    const forget = (): void => {
      if (this.#open.get(worker) === opened) this.#open.delete(worker);
    };
    opened.then((agent) => agent.ended.then(forget), forget);
    return opened;
  }

  /** Somebody has gone: what nobody looks at is let go after a while. */
  rest(worker: string): void {
    const opened = this.#open.get(worker);
    const timer = setTimeout(async () => {
      const agent = await opened?.catch(() => undefined);
      if (agent && !agent.isHeard && this.#open.get(worker) === opened) await agent.close();
    }, unheardMs);
    timer.unref();
  }
}
