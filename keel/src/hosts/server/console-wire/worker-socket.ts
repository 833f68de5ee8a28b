/** The socket of one worker on the console wire: of an agent, of a terminal or of a diff, each with lines of its own. */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ServedSessions } from "../../../app/sessions/served-sessions.ts";
import { fault, toFault } from "../../../kernel/fault.ts";
import { type Caller, mayDo } from "../../../protocol/operation.ts";
import type { WorkerEntry, WorkspaceEntry } from "../../../protocol/workspace.ts";
import type { ClientConnection, ClientPeer } from "../connection.ts";
import { type LineQueue, lineQueue } from "../line-queue.ts";
import { toCommand } from "./agent-dialect.ts";
import type { ConsoleAgent } from "./console-agent.ts";
import type { ConsoleAgents } from "./console-agents.ts";
import {
  agentLineSchema,
  diffLineSchema,
  readLine,
  type TerminalClientLine,
  type ToldOfAgent,
  type ToldOfDiff,
  type ToldOfTerminal,
  terminalLineSchema,
} from "./lines.ts";
import { openMessages } from "./sdk-worker-socket.ts";

export type WorkerSocketOptions = {
  readonly served: ServedSessions;
  readonly agents: ConsoleAgents;
  readonly caller: Caller;
  readonly workspace: string;
  readonly worker: string;
  readonly server: ConsoleServer;
};

/** Which start of the server this is, and where it keeps things. */
export type ConsoleServer = { readonly pid: number; readonly startedAt: number; readonly folder: string };

type WorkerConnection = Pick<ClientConnection, "receive" | "end">;

/** Throws `worker_unknown` and `work_refused`; both are told before the socket is closed. */
export async function openWorkerSocket(
  options: WorkerSocketOptions,
  peer: ClientPeer,
): Promise<WorkerConnection> {
  const lines = lineQueue(peer);
  try {
    const entry = await findWorker(options);
    // Who was here before has to ask for what it missed; who is new asks for all of it anyway.
    if (entry.createdAt < options.server.startedAt)
      lines.say(JSON.stringify({ type: "server-restarted", serverPid: options.server.pid }));
    if (entry.kind === "diff") return await openDiff(options, lines);
    if (entry.kind === "terminal" || entry.engine === "pty") return await openTerminal(options, lines);
    if (entry.engine === "keel" && entry.session !== undefined)
      return await openAgent({ ...options, session: entry.session }, lines);
    return await openMessages(options, lines);
  } catch (thrown) {
    tellFault(lines, thrown);
    lines.end();
    return { receive: () => undefined, end: () => lines.end() };
  }
}

async function findWorker({ served, caller, workspace, worker }: WorkerSocketOptions): Promise<WorkerEntry> {
  const all = (await served.call("workspaces", { archived: true }, caller)) as readonly WorkspaceEntry[];
  const found = all.find(({ id }) => id === workspace)?.workers.find(({ id }) => id === worker);
  if (!found) throw fault("worker_unknown", { worker });
  return found;
}

const tellFault = (lines: LineQueue, thrown: unknown): void => {
  const { code, message } = toFault(thrown);
  lines.say(JSON.stringify({ type: "error", message, code } satisfies ToldOfAgent));
};
const tellWrong = (lines: LineQueue, why: string): void =>
  void lines.say(JSON.stringify({ type: "error", message: why, code: "line_invalid" } satisfies ToldOfAgent));

async function openAgent(
  { served, agents, caller, worker, session }: WorkerSocketOptions & { readonly session: string },
  lines: LineQueue,
): Promise<WorkerConnection> {
  let heard: { readonly agent: ConsoleAgent; readonly stop: () => void } | undefined;
  let isOver = false;
  const say = (line: ToldOfAgent): void => {
    const text = JSON.stringify(line);
    if (line.type === "sdk-message" && line.message.type === "stream_event") lines.sayLive(text);
    else lines.say(text);
  };
  /** The agent may have been closed and opened anew since. */
  const listen = async (): Promise<ConsoleAgent> => {
    const agent = await agents.of(worker, session);
    if (heard?.agent === agent || isOver) return agent;
    heard?.stop();
    heard = { agent, stop: agent.listen(say) };
    say({ type: "activity", state: agent.activity() });
    for (const ask of agent.asks()) say({ type: "ask", ask });
    return agent;
  };
  await listen();
  const take = async (message: string): Promise<void> => {
    const read = readLine(agentLineSchema, message);
    if (!read.ok) return tellWrong(lines, read.error);
    const command = toCommand(read.value);
    const agent = await listen();
    if (read.value.type === "request-history")
      return say({ type: "message-history", ...agent.after(read.value.lastUuid) });
    if (!command) return;
    const receipt = await served.call("submit", { session, command }, caller);
    const { type, who } = receipt as { type: string; who?: string };
    if (type === "late")
      say({ type: "error", message: `Answered before${who ? ` by ${who}` : ""}.`, code: "answered_before" });
    // Using it may have opened it anew.
    await listen();
  };
  // In their order: what is cancelled is what was said before.
  let taking: Promise<void> = Promise.resolve();
  return {
    receive(message) {
      taking = taking.then(() => take(message)).catch((thrown: unknown) => tellFault(lines, thrown));
    },
    end() {
      isOver = true;
      heard?.stop();
      agents.rest(worker);
      lines.end();
    },
  };
}

const imageTypes: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

async function openTerminal(
  { served, caller, worker, server }: WorkerSocketOptions,
  lines: LineQueue,
): Promise<WorkerConnection> {
  const stop = new AbortController();
  const say = (line: ToldOfTerminal): void => void lines.say(JSON.stringify(line));
  /** A screen first, then what is written; what was sent counts as drawn, since this wire has no word for it. */
  const show = async (signal: AbortSignal): Promise<void> => {
    const { updates, drew } = await served.workspaces.workers.watchTerminal(worker, {}, signal);
    for await (const update of updates) {
      if (update.kind === "screen") {
        const { paint, at, epoch, columns, rows } = update;
        say({ type: "history", data: paint, offset: at, epoch, cols: columns, rows });
        drew(at);
      } else if (update.kind === "output") {
        say({ type: "output", data: update.text, offset: update.at });
        drew(update.at + Buffer.byteLength(update.text));
      } else if (update.kind === "exit") say({ type: "exit", exitCode: update.code, signal: update.signal });
    }
  };
  let shown = new AbortController();
  const begin = (): void => {
    shown.abort();
    shown = new AbortController();
    const signal = AbortSignal.any([stop.signal, shown.signal]);
    show(signal).catch((thrown: unknown) => {
      if (!signal.aborted) tellFault(lines, thrown);
    });
  };
  begin();
  const type = (keys: string) => served.call("typeInTerminal", { worker, keys }, caller);
  const take = async (line: TerminalClientLine): Promise<unknown> => {
    switch (line.type) {
      case "input":
        return type(line.data);
      case "resize":
        return served.call("resizeTerminal", { worker, columns: line.cols, rows: line.rows }, caller);
      case "image":
        if (!mayDo(caller.access, "work")) throw fault("access_refused", { needed: "work" });
        return type(await keepImage(server, worker, line));
      case "request-history":
        return begin();
    }
  };
  let taking: Promise<unknown> = Promise.resolve();
  return {
    receive(message) {
      const read = readLine(terminalLineSchema, message);
      if (!read.ok) return tellWrong(lines, read.error);
      taking = taking.then(() => take(read.value)).catch((thrown: unknown) => tellFault(lines, thrown));
    },
    end() {
      stop.abort();
      lines.end();
    },
  };
}

/** A program in a terminal takes a picture by the path of its file. */
async function keepImage(
  { folder }: ConsoleServer,
  worker: string,
  { data, mimeType }: Extract<TerminalClientLine, { type: "image" }>,
): Promise<string> {
  const ending = Object.hasOwn(imageTypes, mimeType) ? imageTypes[mimeType] : undefined;
  if (ending === undefined) throw fault("usage", { reason: `image: ${mimeType.slice(0, 50)} is no picture` });
  const images = path.join(folder, "images", path.basename(worker));
  await mkdir(images, { recursive: true, mode: 0o700 });
  const file = path.join(images, `${randomUUID()}.${ending}`);
  await writeFile(file, Buffer.from(data, "base64"), { mode: 0o600, flag: "wx" });
  return file;
}

async function openDiff(
  { served, worker }: WorkerSocketOptions,
  lines: LineQueue,
): Promise<WorkerConnection> {
  const stop = new AbortController();
  const say = (line: ToldOfDiff): void => void lines.say(JSON.stringify(line));
  let shown = new AbortController();
  const begin = (): void => {
    shown.abort();
    shown = new AbortController();
    const signal = AbortSignal.any([stop.signal, shown.signal]);
    void (async () => {
      for await (const data of await served.workspaces.workers.watchDiff(worker, signal))
        say({ type: "diff-data", data });
    })().catch((thrown: unknown) => {
      if (!signal.aborted) tellFault(lines, thrown);
    });
  };
  begin();
  return {
    receive(message) {
      const read = readLine(diffLineSchema, message);
      if (read.ok) begin();
      else tellWrong(lines, read.error);
    },
    end() {
      stop.abort();
      lines.end();
    },
  };
}
