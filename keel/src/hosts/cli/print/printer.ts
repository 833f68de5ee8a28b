/** What every output format is: it hears all events of a session and writes what its readers want. */
import type { OpenSession } from "../../../app/open-session.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import type { Context } from "../context.ts";

export type Printer = {
  event(envelope: Envelope): void;
  /** Nothing comes any more. */
  finish(): void;
};

export type NewPrinter = (
  session: Pick<OpenSession, "id" | "info" | "fold" | "notices" | "mcp" | "toolNames">,
  context: Context,
) => Promise<Printer>;
