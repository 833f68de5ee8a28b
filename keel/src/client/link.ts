/**
 * The way to a server, as the client needs it: one call for each operation, and what happens in a session. A link may
 * be cut at any moment; then whatever is under way throws `link_lost`, and a new try opens it anew.
 */
import type { Envelope } from "../protocol/event/envelope.ts";
import type { Access, AnswerTo, OperationName, OperationQuestion } from "../protocol/operation.ts";

export type Greeting = { readonly keel: string; readonly boot: string; readonly access: Access };

export type ServerLink = {
  /** Who answers now; opens the link where it is not. Throws `link_lost`, and faults of the server's door. */
  greeting(): Promise<Greeting>;
  /** Throws the fault that the server gives, and `link_lost` where no answer came. */
  call<Name extends OperationName>(name: Name, question: OperationQuestion<Name>): Promise<AnswerTo<Name>>;
  /** Ends with the session, or with the signal; throws `link_lost` when it is cut. */
  follow(session: string, after: number, signal: AbortSignal): AsyncIterable<Envelope>;
  close(): void;
};
