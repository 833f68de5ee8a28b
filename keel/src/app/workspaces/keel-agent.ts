/** An agent of our own: a session of the server. What is shown of it is folded from its events, open or stored. */

import { reasonOf } from "../../kernel/fault.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import { type AgentLine, entryFacts, foldAgentLine, noLine } from "./agent-line.ts";
import type { FollowableSession, StartWorker, Worker, WorkerContext } from "./worker.ts";

export const startKeelAgent: StartWorker = async (context) => {
  const { asked, sessions, cwd } = context;
  let session = context.record().session;
  if (session === undefined) {
    session = await sessions.open({ cwd, options: asked?.options ?? {} });
    await context.keep({ session });
  }
  const agent = new KeelAgent(context, session);
  if (asked?.prompt !== undefined) await sessions.say(session, asked.prompt);
  return agent;
};

class KeelAgent implements Worker {
  readonly #context: WorkerContext;
  readonly #session: string;
  #facts: AgentLine = noLine;
  #seq = 0;
  #isOpen = false;
  #followed: FollowableSession | undefined;
  #failure: string | undefined;
  readonly #unheard: () => void;
  /** One at a time reads on where the one before it stopped. */
  #reading: Promise<void>;

  constructor(context: WorkerContext, session: string) {
    this.#context = context;
    this.#session = session;
    const open = context.sessions.current(session);
    this.#reading = open ? this.#follow(open) : this.#read();
    this.#unheard = context.sessions.onOpened((opened) => {
      if (opened.id !== session) return;
      this.#reading = this.#reading.then(() => this.#follow(opened));
    });
  }

  state() {
    const shown = { session: this.#session, ...entryFacts(this.#facts, { isOpen: this.#isOpen }) };
    return this.#failure === undefined
      ? shown
      : { ...shown, activity: "failed" as const, failure: this.#failure };
  }

  tell(words: string, id?: string): Promise<void> {
    return this.#context.sessions.say(this.#session, words, id);
  }

  interrupt(): Promise<void> {
    return this.#context.sessions.interrupt(this.#session);
  }

  /** The engine is in this process: anew is closed, and opened with the next use. */
  restart(): Promise<void> {
    return this.rest();
  }

  rest(): Promise<void> {
    return this.#context.sessions.rest(this.#session);
  }

  async end(): Promise<void> {
    this.#unheard();
    await this.rest();
  }

  async #follow(session: FollowableSession): Promise<void> {
    // Whoever came while it was being opened has it already.
    if (this.#followed === session) return;
    this.#followed = session;
    this.#isOpen = true;
    await this.#take(session.attach(this.#seq));
    this.#isOpen = false;
    this.#context.changed();
  }

  #read(): Promise<void> {
    return this.#take(this.#context.sessions.stored(this.#session, this.#seq));
  }

  async #take(events: AsyncIterable<Envelope>): Promise<void> {
    try {
      for await (const event of events) {
        if (isDurable(event) && !event.origin) this.#seq = event.seq;
        const facts = foldAgentLine(this.#facts, event);
        if (facts === this.#facts) continue;
        this.#facts = facts;
        this.#failure = undefined;
        this.#context.changed();
      }
    } catch (thrown) {
      this.#failure = reasonOf(thrown);
      this.#context.changed();
    }
  }
}
