/** `keel attach`: a session of the server on this terminal, as lines. It goes on when the terminal has gone. */
import { randomUUID } from "node:crypto";
import { usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { type AttachedSession, attachTo } from "../../../app/sessions/attached-session.ts";
import { connectHere } from "../../../app/sessions/home-server.ts";
import type { KeelClient } from "../../../client/connect.ts";
import type { LinkStatus } from "../../../client/link.ts";
import { fault, toFault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { type Envelope, type EventHandlers, handle } from "../../../protocol/event/envelope.ts";
import { text } from "../../../protocol/message.ts";
import type { SessionEntry } from "../../../protocol/operation.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";
import { sayWritten, showFault } from "../print/outcome.ts";
import { exitCodeOf } from "../signals.ts";
import { hasPerson } from "../terminal/answer-asks.ts";
import { askPerson } from "../terminal/ask-person.ts";
import type { FarSession } from "../terminal/screen.ts";
import { personAsker } from "../terminal/terminal.ts";
import { type AttachLine, attachLines, newAttachMemo, recentLines } from "./attach-lines.ts";
import { type TypedLines, typedLines } from "./typed-lines.ts";

/** Enough for the last dozen rows, whatever they consist of. */
const recentEvents = 200;

export const attach: CommandRun = async ({ positionals }, context) => {
  const [named, ...more] = positionals;
  if (more.length > 0) throw usage("Name one session.");
  const { client } = await connectHere(openHome(context).path, "keel attach");
  try {
    const id = named ?? (await newestHere(client, context));
    if (id === undefined) return exitCodes.noSession;
    return await attachHere(
      { client, id, home: openHome(context).path, again: `keel attach ${id}` },
      context,
    );
  } finally {
    client.close();
  }
};

/** A session of a server, wherever it is, on this terminal: on the screen, or as lines where there is none. */
export async function attachHere(
  { client, id, home, again }: FarSession & { readonly home: string },
  context: Context,
): Promise<number> {
  if (context.out.isTerminal && context.input.isTTY === true && !isPlainTerminal(context.env)) {
    const { attachOnScreen } = await import("../terminal/screen.ts");
    return await attachOnScreen({ client, id, home, again }, context);
  }
  return await converse({ client, id, again }, context);
}

/** One that cannot be drawn on, or whose person listens: lines. */
const isPlainTerminal = (env: Context["env"]): boolean =>
  !env["TERM"] || env["TERM"] === "dumb" || env["KEEL_PLAIN"] === "1";

/** The newest of this folder; where there is none, those of other folders are told. */
async function newestHere(client: KeelClient, { cwd, err }: Context): Promise<string | undefined> {
  const [newest] = await client.sessions({ cwd, limit: 1 });
  if (newest) return newest.id;
  const others = await client.sessions({ limit: 20 });
  if (others.length === 0) throw fault("session_unknown", { session: "there is none yet" });
  err.line("There are no sessions of this folder. Of others, newest first:");
  for (const entry of others) err.line(`  ${entry.id}  ${sayEntry(entry)}`);
  err.line("`keel attach ID` joins one of them.");
  return undefined;
}

const sayEntry = ({ cwd, title, firstInput = "", owner }: SessionEntry): string =>
  visible(`${owner}  ${cwd}  ${shorten((title ?? firstInput).replaceAll("\n", " "), 60)}`).trimEnd();

async function converse({ client, id: joined, again }: FarSession, context: Context): Promise<number> {
  const session = await attachTo(client, joined, recentEvents);
  const { out, err } = context;
  const tell = (lines: readonly AttachLine[]): void => {
    for (const { kind, text: words } of lines) (kind === "said" ? out : err).line(words);
  };
  const typed = new Set<string>();
  const own = { has: (inputId: string) => typed.has(inputId), areSeen: context.input.isTTY === true };
  let memo = newAttachMemo;
  tell(recentLines(session.recent));
  sayJoined(session, context);
  session.onEvent((event) => {
    const [lines, next] = attachLines(event, memo, own);
    memo = next;
    tell(lines);
  });
  const letGo = new AbortController();
  const done = Promise.withResolvers<number>();
  const detach = (code: number): void => {
    letGo.abort();
    done.resolve(code);
  };
  const work = unfinishedWork(session);
  let stops = 0;
  const say = async (line: string): Promise<void> => {
    stops = 0;
    if (line.trim() === "") return;
    if (line.trim() === "/detach") return detach(exitCodes.ended);
    const id = randomUUID();
    typed.add(id);
    try {
      const receipt = await session.submit({ type: "input", id, content: [text(line)] });
      if (receipt.type === "accepted") work.begun(id);
    } catch (thrown) {
      showFault(err, toFault(thrown));
    }
  };
  const unwatch = client.onLink((status) => sayLink(status, context));
  const sending = new Set<Promise<void>>();
  const lines = typedLines(context, (line) => {
    const sent: Promise<void> = say(line).finally(() => sending.delete(sent));
    sending.add(sent);
  });
  const release = context.signals.take((signal) => {
    if (signal !== "SIGINT") return detach(exitCodeOf(signal));
    stops++;
    if (stops > 1) return detach(exitCodes.ended);
    void interrupt(session, context);
  });
  const stopAsking = hasPerson(context) ? answerHere(session, lines, context) : sayAsks(session, context);
  void lines.ended.then(async () => {
    // Whoever types Ctrl-D has gone; a pipe that has ended was everything to say, and waits for what comes of it.
    while (sending.size > 0) await Promise.all(sending);
    if (context.input.isTTY !== true) await work.done();
    detach(exitCodes.ended);
  });
  void out.closed.then(() => detach(exitCodes.outputClosed));
  session
    .follow(letGo.signal)
    .then(() => detach(exitCodes.ended))
    .catch(done.reject);
  try {
    return await done.promise;
  } finally {
    stopAsking();
    lines.close();
    unwatch();
    release();
    if (context.input.isTTY === true) err.line(`Detached; the session goes on. To come back: ${again}`);
  }
}

function sayJoined({ handle, openAsks }: AttachedSession, { input, err }: Context): void {
  if (input.isTTY !== true) return;
  const waits = openAsks().length > 0 ? " It waits for an answer." : "";
  err.line(`Attached to ${handle.id}.${waits} Ctrl-C interrupts, twice detaches; so does /detach.`);
}

async function interrupt(session: AttachedSession, { err }: Context): Promise<void> {
  try {
    const receipt = await session.submit({ type: "interrupt" });
    const running = receipt.type === "interrupted" && receipt.running;
    err.line(running ? "Interrupted. Once more: detach." : "Nothing runs. Once more: detach.");
  } catch (thrown) {
    showFault(err, toFault(thrown));
  }
}

/** The person here answers; whoever else is attached may be quicker. */
function answerHere(session: AttachedSession, { readAnswer }: TypedLines, context: Context): () => void {
  return askPerson(session, {
    ask: personAsker(readAnswer),
    readAnswer,
    keep: async (rule, to) => {
      try {
        const { cwd } = await session.handle.inquire("facts");
        const { writeRule } = await import("../../../app/maintenance/settings-files.ts");
        sayWritten(await writeRule({ env: context.env, cwd }, to, { list: "allow", rule }), context);
      } catch (thrown) {
        // The answer still holds for this session.
        showFault(context.err, toFault(thrown));
      }
    },
  });
}

/** Lines of a pipe were not written as answers: somebody else gives those. */
function sayAsks(session: AttachedSession, { err }: Context): () => void {
  const say = (title: string): void => err.line(`(waits for an answer: ${visible(title)})`);
  for (const { title } of session.openAsks()) say(title);
  return session.onEvent((event) => {
    if (event.type === "ask.opened") say(event.ask.title);
  });
}

function sayLink(status: LinkStatus, { err }: Context): void {
  if (status.state === "lost")
    err.line(`keel: the connection is lost (${visible(status.reason)}); trying again.`);
  if (status.state === "connected") err.line("keel: connected again.");
}

/** What was said here and has not come to its end yet. */
function unfinishedWork(session: AttachedSession): { begun(inputId: string): void; done(): Promise<void> } {
  const ended = new Set<string>();
  const open = new Set<string>();
  let turn: readonly string[] = [];
  let wake: (() => void) | undefined;
  const end = (ids: readonly string[]): void => {
    for (const id of ids) {
      ended.add(id);
      open.delete(id);
    }
    if (open.size === 0) wake?.();
  };
  const take = ({ inputIds }: { readonly inputIds: readonly string[] }): void => {
    turn = [...turn, ...inputIds];
  };
  const told: EventHandlers<Envelope, [], void> = {
    "turn.started": take,
    "input.joined": take,
    "input.dropped": ({ inputId }) => end([inputId]),
    "turn.finished": () => {
      end(turn);
      turn = [];
    },
    "session.closed": () => end([...open]),
  };
  session.onEvent((event: Envelope) => {
    if (!event.origin) handle(told, event);
  });
  return {
    begun(id) {
      // Its end may have been told before its receipt.
      if (!ended.has(id)) open.add(id);
    },
    done: () =>
      new Promise((resolve) => {
        wake = resolve;
        if (open.size === 0) resolve();
      }),
  };
}
