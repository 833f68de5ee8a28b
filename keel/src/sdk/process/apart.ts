/** `isolation: "process"`: a query whose session runs in a process of its own. What that needs is loaded when it starts. */
import { fault } from "../../kernel/fault.ts";
import type { Queue } from "../../kernel/queue.ts";
import type { SDKMessage } from "../messages/messages.ts";
import { environmentOf } from "../options/environment.ts";
import type { Options } from "../options/options.ts";
import type { Prompt } from "../query/conversation.ts";
import { homeOf } from "../query/homes.ts";
import { processMethods } from "./methods.ts";
import type { ProcessSession } from "./process-session.ts";

/** Whoever names an executable wants it to be used. */
export const runsApart = ({
  isolation,
  pathToClaudeCodeExecutable,
  spawnClaudeCodeProcess,
}: Options): boolean =>
  isolation === "process" ||
  (isolation === undefined && (pathToClaudeCodeExecutable ?? spawnClaudeCodeProcess) !== undefined);

type ApartQuery = AsyncGenerator<SDKMessage, void> &
  ReturnType<typeof processMethods> & { [Symbol.asyncDispose](): Promise<void> };

export type Apart = {
  /** Resolves when the process has said what it can do. Throws what kept it from starting. */
  readonly introduced: Promise<unknown>;
  /** Once only: a session has one beginning. */
  query(prompt: Prompt): ApartQuery;
  close(): void;
};

export function startApart(options: Options, out: Queue<SDKMessage>): Apart {
  const running = start(options, out);
  running.catch((thrown: unknown) => out.fail(thrown));
  const close = async (): Promise<void> => (await running.catch(() => undefined))?.close();
  const introduced = running.then((session) => session.introduced);
  introduced.catch(() => undefined);
  let used = false;
  return {
    introduced,
    query(prompt) {
      if (used) throw fault("usage", { reason: "A warm query takes one prompt." });
      used = true;
      void running.then((session) => session.live(prompt)).catch(() => undefined);
      return Object.assign(read(out, close), {
        ...processMethods(running),
        [Symbol.asyncDispose]: close,
      });
    },
    close: () => void close(),
  };
}

async function start(options: Options, out: Queue<SDKMessage>): Promise<ProcessSession> {
  const { ProcessSession: Session } = await import("./process-session.ts");
  if (options.sessionStore && options.resume !== undefined) {
    const { restored } = await import("../stored/restored.ts");
    const cwd = options.cwd ?? process.cwd();
    const { sessions } = await homeOf({ env: environmentOf(options, process.env), cwd });
    await restored(options, { cwd, sessions });
  }
  return new Session(options, out);
}

/** The iterator. Leaving it early ends the process. */
async function* read(out: Queue<SDKMessage>, close: () => Promise<void>): AsyncGenerator<SDKMessage, void> {
  try {
    yield* out;
  } finally {
    await close();
  }
}
