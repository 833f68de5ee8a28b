/** Runs an open session until its work is done, somebody stops it, or nobody reads any more; then closes it. */

import { usage } from "../../../app/flags/arguments.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { toFault } from "../../../kernel/fault.ts";
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { text } from "../../../protocol/message.ts";
import type { Context } from "../context.ts";
import { exitCodeOf, untilStopped } from "../signals.ts";
import { hasPerson, refuseAsks } from "../terminal/answer-asks.ts";
import { sayWritten, showFault, watchOutcome } from "./outcome.ts";
import { showProgress } from "./progress.ts";

/** As much of an open session as a conversation on the command line needs, wherever it is. */
export type ConversedSession = Pick<
  OpenSession,
  | "id"
  | "info"
  | "fold"
  | "notices"
  | "toolNames"
  | "submit"
  | "onEvent"
  | "openAsks"
  | "hasWork"
  | "idle"
  | "tasks"
  | "keepRule"
  | "close"
> & { readonly mcp: Pick<OpenSession["mcp"], "status"> };

/** What every output format is: it hears all events of a session and writes what its readers want. */
export type NewPrinter = (
  session: Pick<ConversedSession, "id" | "info" | "fold" | "notices" | "mcp" | "toolNames">,
  context: Context,
) => Promise<{
  event(envelope: Envelope): void;
  /** Nothing comes any more. */
  finish(): void;
}>;

export type ConversationOptions<S extends ConversedSession = OpenSession> = {
  /** Without one the unfinished turn goes on. */
  readonly prompt: string | undefined;
  /** `as-is`: a slash at its start means nothing. */
  readonly words?: "as-is" | undefined;
  readonly newPrinter: NewPrinter;
  readonly context: Context;
  /** From which level on notices are shown. */
  readonly level: "info" | "warning";
  /** Whether a person at the terminal sees the steps on standard error. */
  readonly steps?: "shown" | "hidden";
  /** Who answers, in place of the person at the terminal or of nobody. Returns a function that stops it. */
  readonly answer?: ((session: S) => (() => void) | Promise<() => void>) | undefined;
};

/** Returns the exit code. Throws a fault of the log, and then too the session is closed. */
export async function converse<S extends ConversedSession>(
  session: S,
  conversation: ConversationOptions<S>,
): Promise<number> {
  const { newPrinter, context, level, steps = "shown" } = conversation;
  const answer =
    conversation.answer ??
    ((asked: S) => (hasPerson(context) ? askThePerson(asked, context) : refuseAsks(asked)));
  const printer = await newPrinter(session, context);
  const outcome = watchOutcome(session, context);
  session.onEvent((envelope) => printer.event(envelope));
  showProgress(session, context, { level, steps });
  const interrupted = new AbortController();
  // The first Ctrl-C interrupts the turn, with which the command comes to its end; a second one ends the session.
  const stopped = untilStopped(context, (signal) => {
    if (signal !== "SIGINT" || interrupted.signal.aborted || !session.hasWork())
      return Promise.resolve(exitCodeOf(signal));
    interrupted.abort();
    // What is queued was meant to follow; somebody who stops the command does not want it either.
    void session.submit({ type: "interrupt", dropQueued: true }).catch(() => undefined);
    return "goes on";
  });
  let code: number | undefined;
  try {
    const stopAsking = await answer(session);
    try {
      code = await Promise.race([work(session, conversation, interrupted.signal), stopped.code]);
    } finally {
      stopAsking();
    }
  } finally {
    const closed = session.close(code === undefined ? "ended" : "stopped");
    try {
      // Whoever stopped the command gets the code for that, also when the end itself went wrong.
      await (code === undefined ? closed : closed.catch((thrown) => showFault(context.err, toFault(thrown))));
    } finally {
      stopped.release();
      // A turn that ended is on disk: its answer is told, however the end of the session goes.
      printer.finish();
    }
  }
  return code ?? outcome.exitCode();
}

/** At the terminal; their rules can be kept in a file. Where nobody is, nothing of it is loaded. */
async function askThePerson(session: ConversedSession, context: Context): Promise<() => void> {
  const [{ askPerson }, { askLine, terminalAsker }] = await Promise.all([
    import("../terminal/ask-person.ts"),
    import("../terminal/terminal.ts"),
  ]);
  return askPerson(session, {
    ask: terminalAsker(context),
    readAnswer: (words, signal) => askLine(context, words, signal),
    keep: async (rule, to) => {
      try {
        sayWritten(await session.keepRule(rule, to), context);
      } catch (thrown) {
        // The answer still holds for this session.
        showFault(context.err, toFault(thrown));
      }
    },
  });
}

async function work<S extends ConversedSession>(
  session: S,
  { prompt, words, context }: ConversationOptions<S>,
  interrupted: AbortSignal,
): Promise<undefined> {
  if (prompt !== undefined)
    await session.submit({ type: "input", content: [text(prompt)], ...(words ? { words } : {}) });
  else if (!session.hasWork()) throw usage("This session has no unfinished turn: give a prompt to go on.");
  await session.idle();
  // Loaded late: most answers leave nothing running.
  if (session.tasks().some(({ reports }) => reports))
    await (await import("./await-tasks.ts")).awaitTasks(session, context, interrupted);
}
