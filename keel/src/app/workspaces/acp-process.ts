/** The process of an agent of other people, and the wire to it: met, in a session, until it ends. */
import { codeOf, fault, reasonOf } from "../../kernel/fault.ts";
import { asObject, asText } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import { type RpcAnswer, type RpcHandler, RpcPeer } from "../../transport/json-rpc.ts";
import { lineReader } from "../../transport/lines.ts";
import { type Piped, pipedPrograms } from "../../workspace/processes/piped.ts";
import type { ProcessGuard } from "../../workspace/processes/process-guard.ts";
import type { AgentProgram } from "./known-agents.ts";
import type { WorkerContext } from "./worker.ts";

export type AcpProcessOptions = {
  readonly program: AgentProgram;
  readonly context: Pick<WorkerContext, "cwd" | "env" | "clock">;
  readonly guard: ProcessGuard;
  readonly handler: RpcHandler;
  /** The session that it had. */
  readonly session: string | undefined;
};

export type AcpProcess = {
  readonly session: string;
  /** What it said of the session when it began or was taken up. */
  readonly begun: Record<string, unknown>;
  /** It does not know what was said before. */
  readonly isForgetful: boolean;
  /** What a prompt may hold beside words. */
  readonly name: string;
  request(method: string, params: object, signal?: AbortSignal): Promise<RpcAnswer>;
  notify(method: string, params: object): void;
  /** Settles when it has ended, with how. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
};

const maxStartMs = 60_000;
const maxLineBytes = 64 * 1024 * 1024;
const maxStderr = 2_000;

/** Throws `work_refused` with words where it cannot be started, or does not speak the protocol. */
export async function startAcpProcess(options: AcpProcessOptions): Promise<AcpProcess> {
  const { program, context, guard, handler } = options;
  const { file, args, env } = program;
  const piped = await pipedPrograms({ env: context.env, guard })({ file, args, cwd: context.cwd, env }).catch(
    (thrown: unknown) => {
      throw codeOf(thrown) === "ENOENT" ? notThere(file) : unstartable(file, reasonOf(thrown));
    },
  );
  const said = stderrOf(piped);
  const peer = new RpcPeer((message) => {
    if (piped.stdin.writable) piped.stdin.write(`${message}\n`);
  }, handler);
  hearLines(piped, peer);
  const ended = piped.ended.then((how) => {
    peer.close();
    return [how, said()].filter((part) => part !== "").join(": ");
  });
  const request = (method: string, params: object, signal?: AbortSignal): Promise<RpcAnswer> =>
    peer.request(method, params, signal);
  try {
    const within = new AbortController();
    const done = new AbortController();
    void context.clock.sleep(maxStartMs, done.signal).then(() => within.abort());
    const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
      const answer = await request(method, params, within.signal);
      if (answer.ok) return asObject(answer.result);
      const how = answer.isClosed ? await ended : undefined;
      // What shells and doorkeepers say of a program that is not there.
      if (how?.startsWith("exit code 127")) throw notThere(file);
      throw how === undefined
        ? fault("work_refused", {
            reason: `${file} refused ${method}: ${shorten(answer.error.message, 500)}`,
          })
        : unstartable(file, shorten(how, 500));
    };
    const met = await meet(ask);
    const { session, begun, isForgetful } = await enter(ask, {
      met,
      cwd: context.cwd,
      session: options.session,
    });
    done.abort();
    const name = asText(asObject(met["agentInfo"])["title"]) || asText(asObject(met["agentInfo"])["name"]);
    const notify = (method: string, params: object): void => peer.notify(method, params);
    return { session, begun, isForgetful, name, request, notify, ended, stop: () => piped.stop() };
  } catch (thrown) {
    await piped.stop();
    throw thrown;
  }
}

const unstartable = (file: string, why: string) =>
  fault("work_refused", { reason: `${file} could not be started: ${why}` });
const notThere = (file: string) => unstartable(file, "it is not installed, or not on the path.");

type AskAgent = (method: string, params: object) => Promise<Record<string, unknown>>;

/** What goes through us: files and terminals. */
const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

async function meet(ask: AskAgent): Promise<Record<string, unknown>> {
  const met = await ask("initialize", {
    protocolVersion: 1,
    clientCapabilities,
    clientInfo: { name: "keel", title: "Keel", version: "1" },
  });
  if (met["protocolVersion"] === 1) return met;
  throw fault("work_refused", {
    reason: `It speaks version ${String(met["protocolVersion"])} of the protocol, and Keel version 1.`,
  });
}

/** The session that it had goes on where it can; its history is ours to tell, so that none is wanted of it. */
async function enter(
  ask: AskAgent,
  { met, cwd, session }: { met: Record<string, unknown>; cwd: string; session: string | undefined },
): Promise<{ session: string; begun: Record<string, unknown>; isForgetful: boolean }> {
  const can = asObject(met["agentCapabilities"]);
  const place = { cwd, mcpServers: [] };
  if (session !== undefined) {
    const method =
      asObject(can["sessionCapabilities"])["resume"] != null
        ? "session/resume"
        : can["loadSession"] === true
          ? "session/load"
          : undefined;
    const begun = method && (await ask(method, { sessionId: session, ...place }).catch(() => undefined));
    if (begun) return { session, begun, isForgetful: false };
  }
  const begun = await ask("session/new", place);
  const id = asText(begun["sessionId"]);
  if (id === "") throw fault("work_refused", { reason: "It began a session without an id." });
  return { session: id, begun, isForgetful: session !== undefined };
}

function hearLines({ stdout }: Piped, peer: RpcPeer): void {
  const lines = lineReader({ maxBytes: maxLineBytes });
  stdout.on("data", (chunk: Buffer) => {
    for (const read of lines.push(chunk)) {
      // A line that is no JSON is some word of a library that it has loaded: it is passed over.
      if (read.ok && read.line.trimStart().startsWith("{")) peer.hear(read.line);
      else if (read.ok && read.line.trimStart().startsWith("[")) peer.hear(read.line);
    }
  });
}

/** The end of what it wrote there, for who wants to know why it ended. */
function stderrOf({ stderr }: Piped): () => string {
  let kept = "";
  stderr.on("data", (chunk: Buffer) => {
    kept = (kept + chunk.toString("utf8")).slice(-maxStderr);
  });
  return () => kept.trim().split("\n").slice(-5).join("\n");
}
