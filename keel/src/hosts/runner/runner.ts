/**
 * One conversation over two streams: lines in, lines out. This object holds wiring only: what a line means is in
 * `inputs.ts`, what an event is called in `dialect.ts`, and everything that lasts is the session's.
 */
import type { Home } from "../../app/home.ts";
import { refuseAsks } from "../../app/lines/answers.ts";
import type { LineEnding, LineHost, LineOutput } from "../../app/lines/line-host.ts";
import { HostOutlet } from "../../app/lines/outlet.ts";
import { type BadLine, complaintOf } from "../../app/lines/read-line.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import { type Fault, toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { toLine } from "../../kernel/json.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { LineRead } from "../../transport/lines.ts";
import { controls } from "./controls.ts";
import { askEvent, lastEvents, toEvents } from "./dialect.ts";
import type { RunnerEvent } from "./events.ts";
import { initEvents } from "./init.ts";
import { type RunnerInput, readInput } from "./inputs.ts";
import { newMemo, type RunnerMemo } from "./memo.ts";
import { authError, resultOf } from "./results.ts";
import type { RunnerStart } from "./start.ts";

export type RunnerOptions = {
  readonly start: RunnerStart;
  readonly options: OpenOptions;
  readonly home: Home;
  readonly out: LineOutput;
  /** Hears every line that goes out. */
  readonly debug?: ((line: string) => void) | undefined;
};

/** Inputs that came before the session was open. */
const maxEarly = 1_000;

export class Runner implements LineHost {
  readonly #wish: RunnerOptions;
  #memo: RunnerMemo = newMemo({ sessionId: "", checkpointing: false });
  #session: OpenSession | undefined;
  #early: RunnerInput[] | undefined = [];
  /** Messages are taken one after the other, in the order of their lines. */
  #taking: Promise<void> = Promise.resolve();
  /** Inputs that do not wait for messages, and are not answered yet. */
  readonly #answering = new Set<Promise<void>>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #answered = new Set<string>();
  readonly #outlet: HostOutlet<RunnerEvent>;
  #isClosing = false;
  readonly #ending = Promise.withResolvers<LineEnding>();
  /** Resolves when the conversation is to end, and says why. */
  readonly ended: Promise<LineEnding> = this.#ending.promise;

  constructor(runnerOptions: RunnerOptions) {
    this.#wish = runnerOptions;
    const { out, debug, start } = runnerOptions;
    const conversationId = start.conversationId ?? "default";
    this.#outlet = new HostOutlet(out, {
      isPastime: ({ type }) => type === "tool_progress" || type === "thinking_delta",
      textOf: (event) => (event.type === "assistant_text" ? event.text : undefined),
      join: (held, next) =>
        held.type === "assistant_text" && next.type === held.type && next.inputId === held.inputId
          ? { ...next, text: held.text + next.text }
          : undefined,
      line({ type, ...fields }) {
        const line = toLine({ type, conversationId, ...fields });
        debug?.(line);
        return line;
      },
    });
  }

  emit(event: RunnerEvent): void {
    this.#outlet.tell(event);
  }

  /** Opens the session and takes what came meanwhile. Throws what keeps it from opening. */
  async open(): Promise<void> {
    const { start, options, home } = this.#wish;
    const session = await home.open(options);
    // Told to stop meanwhile: what came early has its end, and nothing runs any more.
    if (this.#isClosing) return void (await session.close("stopped", "dropped"));
    this.#session = session;
    const facts = { sessionId: session.id, checkpointing: options.checkpoints === "on" };
    // What was spent before counts on; nothing of it is told again.
    this.#memo = await session.fold({
      name: "runner",
      start: this.#memo,
      step: (memo, event) => toEvents(event, memo)[1],
      takeUp: (memo) => ({ ...memo, ...facts }),
    });
    session.onEvent((envelope) => {
      const [events, next] = toEvents(envelope, this.#memo);
      this.#memo = next;
      for (const event of events) this.emit(event);
    });
    for (const event of initEvents(session, { start, options })) this.emit(event);
    for (const ask of session.openAsks()) this.emit(askEvent(ask));
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const input of early) this.#take(session, input);
    if (session.hasWork()) void session.run();
    this.#opened.resolve();
  }

  /** A line of the host. Never throws. */
  read(line: LineRead): void {
    const input = readInput(line);
    if (!input) return;
    if (!input.ok) return this.complain(input.error);
    const { id } = input.value;
    if (this.#isClosing) return this.complain({ code: "closed", message: "The conversation is ending.", id });
    if (this.#early && input.value.type !== "stop") {
      if (this.#early.length >= maxEarly)
        return this.complain({ code: "queue_full", message: "Too many lines before the start.", id });
      this.#early.push(input.value);
      return;
    }
    if (input.value.type === "stop") return this.stop({ reason: "stop", code: exitCodes.ended });
    if (this.#session) this.#take(this.#session, input.value);
  }

  complain({ code, message, id }: BadLine): void {
    this.emit({ type: "error", code, message, fatal: false, inputId: id });
  }

  /** No line comes any more: what was accepted is finished, unless somebody would have to be asked. */
  async inputEnded(): Promise<void> {
    await Promise.race([this.#opened.promise, this.ended]);
    const session = this.#session;
    if (session) refuseAsks(session, isOutsideCall);
    await this.#taking;
    await Promise.race([Promise.all(this.#answering), this.ended]);
    if (session && session.openAsks().length === 0) {
      const asked = new Promise<void>((resolve) => {
        session.onEvent(({ type }) => type === "ask.opened" && resolve());
      });
      await Promise.race([session.idle().catch(() => undefined), asked, this.ended]);
    }
    this.stop({ reason: "end of input", code: exitCodes.ended });
  }

  /** What has happened in the session. */
  async *history(): AsyncGenerator<Durable> {
    if (this.#session) yield* this.#session.history();
  }

  stop(ending: LineEnding): void {
    this.#isClosing = true;
    this.#ending.resolve(ending);
  }

  /** A fault that ends everything, told once. */
  tellFatal(found: Fault): void {
    const auth = authError(found);
    if (auth !== undefined) this.emit({ type: "auth_error", message: auth, code: found.code });
    const message = found.message.slice(0, 1_000);
    this.emit({ type: "error", code: "fatal", message, fatal: true, fault: found.code });
  }

  /**
   * The one order of ending: nothing is taken any more; what runs is stopped, questions are closed, calls and the turn
   * end, text goes out, connections are closed; then whatever is still open is ended in words, and last comes the word.
   */
  async close({ reason }: LineEnding): Promise<void> {
    this.#isClosing = true;
    const session = this.#session;
    // Before the session was open nothing was accepted, and still every message has its end.
    for (const input of this.#early ?? [])
      if (input.type === "message")
        this.emit({ inputId: input.id, ...resultOf(this.#memo, { dropped: { inputId: input.id } }) });
    this.#early = [];
    if (session) {
      refuseAsks(session, isOutsideCall);
      await this.#taking;
      try {
        // Whoever stops the conversation does not want what waits in it; a later opening must not run it unasked.
        await session.close("stopped", "dropped");
      } catch (thrown) {
        this.tellFatal(toFault(thrown));
      }
    }
    for (const event of lastEvents(this.#memo)) this.emit(event);
    this.emit({ type: "complete", sessionId: session?.id });
    this.emit({ type: "shutdown", reason });
  }

  #take(session: OpenSession, input: RunnerInput): void {
    const work = async (): Promise<void> => {
      try {
        for (const event of await controls(session, input, { answered: this.#answered }))
          this.emit(input.id === undefined ? event : { inputId: input.id, ...event });
      } catch (thrown) {
        this.complain({ ...complaintOf(toFault(thrown)), id: input.id });
      }
    };
    if (input.type === "message") this.#taking = this.#taking.then(work);
    // Whoever interrupts means what was sent before, unless that waits for the end of the turn itself.
    else if (input.type === "interrupt" && !session.hasWork() && !session.openAsks().some(isOutsideCall))
      this.#answer(this.#taking.then(work));
    // At once: what is under way may wait for just this.
    else if (input.type === "interrupt" || input.type.endsWith("_response")) this.#answer(work());
    // Questions are answered after what was said before them.
    else this.#answer(Promise.allSettled([...this.#answering]).then(work));
  }

  #answer(work: Promise<void>): void {
    const done = work.finally(() => this.#answering.delete(done));
    this.#answering.add(done);
  }
}

/** A question about words that are no input yet. */
const isOutsideCall = ({ callId }: Ask): boolean => callId === undefined;
