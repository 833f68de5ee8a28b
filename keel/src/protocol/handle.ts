/**
 * An open session as every face has it, whether it lives in this process or behind a wire: what can be wanted of it,
 * what happens in it, what it needs of a person, and what can be asked about it. Near it is made in `app/`, far in
 * `client/`; one suite (`test/handle-suite.ts`) holds both to the same behaviour.
 */
import type { Ask } from "./ask.ts";
import type { Command, Receipt } from "./command.ts";
import type { Envelope } from "./event/envelope.ts";
import type { Inquire } from "./inquiry.ts";

/**
 * Takes an event in the moment that it happens, where whoever follows waits for the next one: most events are told
 * without a wait of their own. False where it cannot be taken now; then it waits its turn.
 */
export type TakeAtOnce = (envelope: Envelope) => boolean;

export type SessionHandle = {
  readonly id: string;
  /**
   * The receipt comes when the command's facts are on disk. A command reaches the session at most once, however often a
   * wire is cut. Throws a Fault: `link_lost` where it is not known what became of it.
   */
  submit(command: Command): Promise<Receipt>;
  /**
   * The durable events after `afterSeq`, then all events as they happen: no gap and none twice, also over a wire that is
   * cut. What was live while it was cut is not told again. Ends when the session is closed, the handle is let go or the
   * signal fires. A session that is near asks `take` first; one behind a wire tells all of them in turn.
   */
  events(afterSeq?: number, signal?: AbortSignal, take?: TakeAtOnce): AsyncIterable<Envelope>;
  /** What nobody has answered yet, of agents too. */
  asks(): Promise<readonly Ask[]>;
  /** What the table of inquiries has. */
  readonly inquire: Inquire;
  /** Lets go of the handle. The session goes on; the command `close` ends it, for everybody. */
  detach(): Promise<void>;
};
