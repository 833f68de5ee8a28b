/**
 * `keel acp`: Keel as an agent of editors, over standard input and output. It introduces itself first, and loads what
 * sessions need behind that.
 */
import type { Readable } from "node:stream";
import type { Home } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import { toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { asObject } from "../../kernel/json.ts";
import { type RpcHandler, RpcPeer, type RpcReply, rpcCodes } from "../../transport/json-rpc.ts";
import { lineReader } from "../../transport/lines.ts";
import { readInput } from "../../transport/node/input.ts";
import {
  type AcpVersion,
  abilitiesOf,
  type EditorAbilities,
  initializeV1,
  initializeV2,
  versionFor,
} from "./capabilities.ts";
import type { EditorSessions } from "./sessions.ts";

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

/** `protocol`: the newest version that is spoken. */
export type AcpOptions = Pick<OpenOptions, "model" | "permissionMode" | "bypass"> & {
  readonly protocol: AcpVersion;
};

/** An editor that is gone must not find us again: what has not ended by then dies with the process. */
const maxEndingMs = 700;
/** A prompt may hold pictures and files. */
const maxLineBytes = 256 * 1024 * 1024;
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

type ServedEditor = { readonly sessions: EditorSessions; readonly home: Home; readonly agent: RpcHandler };
type Met = { readonly version: AcpVersion; readonly editor: EditorAbilities };

/** Returns the exit code. */
export async function run({ protocol, ...wanted }: AcpOptions, context: AcpContext): Promise<number> {
  const { version, env, cwd, out, err } = context;
  let met: Met | undefined;
  let serving: Promise<ServedEditor> | undefined;
  const peer = new RpcPeer((message) => out.write(`${message}\n`), {
    request: (call) => {
      if (call.method === "initialize") return introduced(call.params);
      return serving ? serving.then(({ agent }) => agent.request(call)) : notMet;
    },
    notice: (method, params) => void serving?.then(({ agent }) => agent.notice(method, params)),
  });

  /** The first meeting counts: a connection speaks one version. */
  const introduced = (params: unknown): RpcReply => {
    const chosen = met?.version ?? versionFor(asObject(params)["protocolVersion"], protocol);
    met ??= { version: chosen, editor: abilitiesOf(params, chosen) };
    const { editor } = met;
    // Behind the answer, which is written by then; what the editor asks meanwhile without waiting for it is kept.
    serving ??= new Promise(setImmediate).then(() => serve({ version: chosen, editor }));
    return { result: chosen === 1 ? initializeV1({ version, editor }) : initializeV2({ version, editor }) };
  };

  const serve = async ({ version: spoken, editor }: Met): Promise<ServedEditor> => {
    const { openServed } = await import("./serve.ts");
    const options = { ...wanted, version, env, asks: "answered", checkpoints: "on", memory: "on" } as const;
    const wire = {
      request: (method: string, params: object, signal?: AbortSignal) => peer.request(method, params, signal),
      notify: (method: string, params: object) => peer.notify(method, params),
      gone: peer.gone,
      can: editor,
    };
    return openServed({ place: { env, cwd }, options, wire, spoken });
  };

  const ending = Promise.withResolvers<number>();
  const lines = lineReader({ maxBytes: maxLineBytes });
  readInput(0, () => context.input, {
    chunk: (bytes) => {
      for (const read of lines.push(bytes))
        if (read.ok) peer.hear(read.line);
        else peer.refuse(rpcCodes.parseError, read.fault.message);
    },
    end: () => ending.resolve(exitCodes.ended),
  });
  const release = [
    context.signals.take((signal) => ending.resolve(signalCodes[signal])),
    context.crashes.take((thrown) => {
      err.line(`keel: ${toFault(thrown).message}`);
      ending.resolve(exitCodes.internal);
    }),
    out.watch(),
  ];
  void out.closed.then(() => ending.resolve(exitCodes.outputClosed));
  const code = await ending.promise;
  peer.close();
  await Promise.race([
    serving?.then(({ sessions }) => sessions.closeAll()).catch(() => undefined),
    new Promise((resolve) => setTimeout(resolve, maxEndingMs)),
  ]);
  for (const give of release) give();
  return code;
}

const notMet: RpcReply = {
  error: { code: rpcCodes.invalidRequest, message: "The first request must be initialize." },
};
