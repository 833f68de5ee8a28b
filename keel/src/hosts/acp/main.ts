/** `keel acp`: Keel as an agent of editors. Joins the protocol's library to standard input and output. */
import type { Readable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { openHome } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import { toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { readInput } from "../../transport/node/input.ts";
import { acpAgent } from "./agent.ts";
import { Outbox } from "./outbox.ts";
import { EditorSessions } from "./sessions.ts";

/** What the command line gives a host: read once, and passed on. */
export type AcpContext = {
  readonly version: string;
  readonly env: OpenOptions["env"];
  readonly cwd: string;
  readonly input: Readable;
  readonly out: {
    readonly closed: Promise<void>;
    write(text: string): void;
    drained(): Promise<void>;
    watch(): () => void;
  };
  readonly err: { line(text: string): void };
  readonly signals: { take(handler: (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => void): () => void };
  /** Whoever takes it hears of what nobody caught. */
  readonly crashes: { take(handler: (thrown: unknown) => void): () => void };
};

export type AcpOptions = Pick<OpenOptions, "model" | "permissionMode" | "bypass">;

/** An editor that is gone must not find us again: what has not ended by then dies with the process. */
const maxEndingMs = 700;
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Returns the exit code. */
export async function run(wanted: AcpOptions, context: AcpContext): Promise<number> {
  const { version, env, cwd, out, err } = context;
  const home = openHome({ env, cwd });
  const outbox = new Outbox();
  const all: EditorSessions[] = [];
  const options = { ...wanted, version, env, asks: "answered", checkpoints: "on", memory: "on" } as const;
  const app = acpAgent({
    version,
    outbox,
    sessions(editor, client) {
      const sessions = new EditorSessions({ home, options, client, gone: connection.signal, editor });
      all.push(sessions);
      return sessions;
    },
  });
  const stream = ndJsonStream(outputOf(out), inputOf(context.input));
  const connection = app.connect(outbox.watch(stream));
  const ending = Promise.withResolvers<number>();
  const release = [
    context.signals.take((signal) => ending.resolve(signalCodes[signal])),
    context.crashes.take((thrown) => {
      err.line(`keel: ${toFault(thrown).message}`);
      ending.resolve(exitCodes.internal);
    }),
    out.watch(),
  ];
  void connection.closed.then(() => ending.resolve(exitCodes.ended));
  void out.closed.then(() => ending.resolve(exitCodes.outputClosed));
  const code = await ending.promise;
  connection.close();
  await Promise.race([
    Promise.all(all.map((sessions) => sessions.closeAll())),
    new Promise((resolve) => setTimeout(resolve, maxEndingMs)),
  ]);
  for (const give of release) give();
  return code;
}

/** Each chunk is copied: the reader uses its buffer again. */
function inputOf(input: Readable): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      readInput(0, () => input, {
        chunk: (bytes) => controller.enqueue(bytes.slice()),
        end: () => controller.close(),
      });
    },
  });
}

function outputOf(out: AcpContext["out"]): WritableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return new WritableStream({
    write: (bytes) => out.write(decoder.decode(bytes, { stream: true })),
  });
}
