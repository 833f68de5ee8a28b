/** `keel mcp serve`: tasks of another agent, each a turn of a session that stays open for the next one. */
import type { Readable, Writable } from "node:stream";
import { toFault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import { shorten, undisguised } from "../../kernel/text.ts";
import { type ServedTask, type ServedTaskEnd, serveTasks, type TaskHost } from "../../mcp/serve.ts";
import type { Ask } from "../../protocol/ask.ts";
import { type Envelope, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { text, textOf } from "../../protocol/message.ts";
import { type Home, openHome } from "../home.ts";
import type { OpenSession } from "../open-session.ts";
import type { OpenOptions } from "../options.ts";

export type McpServeOptions = {
  readonly options: OpenOptions;
  readonly input: Readable;
  readonly output: Writable;
};

/** Sessions that are kept open: the oldest is closed, and opened again from its log when it is asked for. */
const maxOpen = 8;
const maxQuestion = 2_000;

export async function serveMcp({ options, input, output }: McpServeOptions): Promise<void> {
  const sessions = new Map<string, OpenSession>();
  await using home = openHome(options);

  await serveTasks({
    version: options.version,
    input,
    output,
    run: async (task, host) => {
      try {
        return await runTask(await sessionFor(task, { options, sessions, home }), task, host);
      } catch (thrown) {
        return { text: toFault(thrown).message, session: task.session ?? "", failed: true };
      }
    },
  });
}

async function sessionFor(
  task: ServedTask,
  { options, sessions, home }: { options: OpenOptions; sessions: Map<string, OpenSession>; home: Home },
): Promise<OpenSession> {
  const known = task.session === undefined ? undefined : sessions.get(task.session);
  if (known) return known;
  const which: OpenOptions["which"] =
    task.session === undefined ? { kind: "new" } : { kind: "resume", from: { session: task.session } };
  const session = await home.open({ ...options, which, unfinished: "lost" });
  sessions.set(session.id, session);
  const [oldest] = sessions.keys();
  if (sessions.size > maxOpen && oldest !== undefined) {
    await sessions.get(oldest)?.close("ended");
    sessions.delete(oldest);
  }
  return session;
}

async function runTask(
  session: OpenSession,
  { prompt, trace }: ServedTask,
  host: TaskHost,
): Promise<ServedTaskEnd> {
  let said = "";
  let failed = false;
  const answer = async (ask: Ask): Promise<void> => {
    const yes = ask.kind === "permission" && (await host.confirm(questionOf(ask)).catch(() => false));
    const verdict = yes ? "allow" : "deny";
    await session.submit({ type: "answer", askId: ask.id, answer: { verdict } }).catch(() => undefined);
  };
  const heard: EventHandlers<Envelope, [], void> = {
    "ask.opened": ({ ask }) => void answer(ask),
    "tool.started": ({ tool }) => host.progress(tool),
    "model.finished": ({ content }) => {
      said = textOf(content) || said;
    },
    "turn.finished": ({ reason }) => {
      failed = reason !== "completed";
    },
  };
  const stop = session.onEvent((event) => handle(heard, event));
  const interrupt = (): void => void session.submit({ type: "interrupt" }).catch(() => undefined);
  host.signal.addEventListener("abort", interrupt, { once: true });
  try {
    await session.submit({ type: "input", content: [text(prompt)], ...present({ trace }) });
    await session.idle();
    return { text: said || "(no words)", session: session.id, failed };
  } finally {
    host.signal.removeEventListener("abort", interrupt);
    stop();
  }
}

function questionOf({ title, body, reason }: Ask): string {
  const shown =
    body.kind === "terminal"
      ? body.command
      : body.kind === "text" || body.kind === "markdown"
        ? body.text
        : body.kind;
  return undisguised(shorten([title, shown, reason].filter(Boolean).join("\n"), maxQuestion));
}
