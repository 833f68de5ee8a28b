/**
 * Writes the transcript of a session while it happens, for programs of the official interface and for hooks. It only ever
 * adds lines, and what is there already is told by its last one. Nothing depends on it here: what cannot be written is
 * told once, and the session goes on.
 */

import { appendFile, mkdir, open, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { branchOf } from "../../config/definitions/git-head.ts";
import { reasonOf } from "../../kernel/fault.ts";
import { toLine } from "../../kernel/json.ts";
import { withoutSecrets } from "../../kernel/secrets.ts";
import type { Origin } from "../../protocol/ask.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../protocol/event/envelope.ts";
import type { TaskData } from "../../protocol/task.ts";
import type { HostFold } from "../compose/host-folds.ts";
import {
  newTranscript,
  type TranscriptEntry,
  type TranscriptFacts,
  type TranscriptMemo,
  toEntries,
} from "./entries.ts";
import { agentTranscripts } from "./places.ts";

export type CopiedSession = {
  readonly id: string;
  onEvent(listener: (envelope: Envelope) => void): () => void;
  history(): AsyncIterable<Durable>;
  fold<M>(wanted: HostFold<M>): Promise<M>;
  /** The events of an agent's session. */
  agent(session: string): AsyncIterable<Durable>;
};

type CopyOptions = {
  readonly file: string;
  readonly version: string;
  readonly entrypoint: string;
  /** What no line may hold. */
  readonly secrets: readonly string[];
  /** Called at most once. */
  failed(why: string): void;
};

/** One file: that of the session, or that of an agent. */
type Chain = { memo: TranscriptMemo; readonly file: string; readonly agentId: string | undefined };

type AgentAbout = {
  readonly id: string;
  readonly kind: string | undefined;
  readonly description: string | undefined;
  readonly callId: string | undefined;
  readonly depth: number | undefined;
};

const noFacts: TranscriptFacts = { sessionId: "", version: "", entrypoint: "", gitBranch: "" };

/** The memo that goes on where another process ended. */
const memoFold: HostFold<TranscriptMemo> = {
  name: "transcript",
  start: newTranscript,
  step: (memo, event) => toEntries(event, memo, noFacts)[1],
  takeUp: (memo) => memo,
};

/** Lines that are made before they are written, when a long history is. */
const maxHeld = 500;

export class TranscriptCopy {
  readonly file: string;
  readonly #options: CopyOptions;
  readonly #session: CopiedSession;
  readonly #agents = new Map<string, Chain>();
  #main: Chain;
  #heard: (Durable & { origin?: Origin | undefined })[] = [];
  #work: Promise<void>;
  #hasFailed = false;

  /** From now on what happens is copied, and what happened before if it is not there yet. */
  constructor(session: CopiedSession, options: CopyOptions) {
    this.file = options.file;
    this.#options = options;
    this.#session = session;
    this.#main = { memo: newTranscript, file: options.file, agentId: undefined };
    session.onEvent((envelope) => {
      if (!isDurable(envelope)) return;
      this.#heard.push(envelope);
      if (this.#heard.length === 1) this.#then(() => this.#drain());
    });
    this.#work = this.#guarded(() => this.#catchUp());
  }

  agentFile(agentId: string): string {
    return path.join(agentTranscripts(this.file), `agent-${agentId.replaceAll(/[^\w-]/g, "_")}.jsonl`);
  }

  /** So that whoever is told of it finds it, also before anything was said. Never rejects. */
  async begin(): Promise<void> {
    this.#then(async () => {
      await this.#place(this.file);
      await appendFile(this.file, "", { mode: 0o600 });
    });
    await this.flush();
  }

  /** Settles when all that was heard of is written. Never rejects. */
  async flush(): Promise<void> {
    await this.#work;
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(() => this.#guarded(work));
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      if (!this.#hasFailed) await work();
    } catch (thrown) {
      this.#hasFailed = true;
      this.#options.failed(reasonOf(thrown));
    }
  }

  async #drain(): Promise<void> {
    const events = this.#heard;
    this.#heard = [];
    for (const { origin, ...event } of events) {
      const chain = origin ? await this.#agent(aboutOrigin(origin)) : this.#main;
      await this.#write(chain, await this.#step(chain, event));
      if (origin && event.type === "session.closed") await this.#describe(aboutOrigin(origin), "finished");
    }
  }

  async #step(chain: Chain, event: Durable): Promise<readonly TranscriptEntry[]> {
    const { version, entrypoint } = this.#options;
    const gitBranch = speaks.has(event.type) ? await branchOf(chain.memo.cwd) : "";
    const facts = { sessionId: this.#session.id, version, entrypoint, gitBranch, agentId: chain.agentId };
    const [entries, memo] = toEntries(event, chain.memo, facts);
    chain.memo = memo;
    return entries;
  }

  /** What the log has and the file has not. */
  async #catchUp(): Promise<void> {
    const kept = await this.#session.fold(memoFold);
    const last = await lastIdIn(this.file);
    await endLine(this.file);
    if (kept.leaf !== null && last === kept.leaf) {
      this.#main.memo = kept;
      return;
    }
    const agents = await this.#copy(this.#main, this.#session.history());
    for (const agent of agents) await this.#catchUpAgent(agent);
  }

  /** Those below it follow it. */
  async #catchUpAgent({ session, ...about }: AgentAbout & { session: string }): Promise<void> {
    const isThere = await stat(this.agentFile(about.id)).catch(() => undefined);
    const chain = await this.#agent(about);
    if (isThere) return;
    const below = await this.#copy(chain, this.#session.agent(session));
    for (const agent of below) await this.#catchUpAgent(agent);
  }

  async #copy(
    chain: Chain,
    events: AsyncIterable<Durable>,
  ): Promise<readonly (AgentAbout & { session: string })[]> {
    const known = await idsIn(chain.file);
    const agents = new Map<string, AgentAbout & { session: string }>();
    let held: TranscriptEntry[] = [];
    for await (const event of events) {
      const entries = await this.#step(chain, event);
      held.push(...entries.filter(({ uuid }) => (uuid === undefined ? known.size === 0 : !known.has(uuid))));
      const about = event.type === "task.changed" && aboutTask(event.taskId, event.data);
      if (about && !agents.has(about.id)) agents.set(about.id, about);
      if (held.length < maxHeld) continue;
      await this.#write(chain, held);
      held = [];
    }
    await this.#write(chain, held);
    return [...agents.values()];
  }

  async #agent(about: AgentAbout): Promise<Chain> {
    const known = this.#agents.get(about.id);
    if (known) return known;
    const file = this.agentFile(about.id);
    const leaf = (await lastIdIn(file)) ?? null;
    await endLine(file);
    const chain: Chain = { memo: { ...newTranscript, leaf }, file, agentId: about.id };
    this.#agents.set(about.id, chain);
    await this.#describe(about, "begun");
    return chain;
  }

  async #describe(about: AgentAbout, state: "begun" | "finished"): Promise<void> {
    const { id, kind, description, callId, depth } = about;
    const said = { agentType: kind, description, toolUseId: callId, spawnDepth: depth };
    const text = toLine({ ...said, finished: state === "finished" });
    await this.#place(this.agentFile(id));
    await writeFile(this.agentFile(id).replace(/jsonl$/, "meta.json"), this.#shown(text), { mode: 0o600 });
  }

  async #write({ file }: Chain, entries: readonly TranscriptEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#place(file);
    const lines = entries.map((entry) => `${this.#shown(toLine(entry))}\n`);
    // Like the log itself, nobody else's business.
    await appendFile(file, lines.join(""), { mode: 0o600 });
  }

  async #place(file: string): Promise<void> {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  }

  #shown(line: string): string {
    return withoutSecrets(line, this.#options.secrets);
  }
}

/** Events that become messages, which say on which branch they were said. */
const speaks: ReadonlySet<Durable["type"]> = new Set([
  "turn.started",
  "input.joined",
  "context.added",
  "model.finished",
  "tool.finished",
  "context.compacted",
  "turn.finished",
]);

const aboutOrigin = ({ agentId, kind, description, parentCallId, depth }: Origin): AgentAbout => ({
  id: agentId,
  kind,
  description,
  callId: parentCallId,
  depth,
});

function aboutTask(
  id: string,
  { kind, session, agent, description, callId, depth }: TaskData = {},
): (AgentAbout & { session: string }) | undefined {
  if (kind !== "agent" || session === undefined) return undefined;
  return { id, session, kind: agent, description, callId, depth };
}

/** Longer than most lines; a longer last one is looked for from the start. */
const tailBytes = 256 * 1024;
const idPattern = /"uuid":"([0-9a-f-]{36})","timestamp":"[^"]*"\}$/;

async function lastIdIn(file: string): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - tailBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    const lines = buffer.subarray(0, bytesRead).toString("utf8").split("\n");
    // What others add behind it, such as a title, is no message; a line that was cut off ends in nothing.
    for (const line of lines.toReversed()) {
      const id = idPattern.exec(line)?.[1];
      if (id !== undefined) return id;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Of a line that was cut off by the end of a process: what follows stands on lines of its own. */
async function endLine(file: string): Promise<void> {
  const handle = await open(file, "r+").catch(() => undefined);
  if (!handle) return;
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    if (size > 0 && buffer.toString() !== "\n") await handle.write("\n", size);
  } finally {
    await handle.close();
  }
}

async function idsIn(file: string): Promise<Set<string>> {
  const known = new Set<string>();
  const handle = await open(file).catch(() => undefined);
  if (!handle) return known;
  for await (const line of handle.readLines()) {
    if (!line.endsWith("}")) continue;
    for (const [, id = ""] of line.matchAll(/"uuid":"([0-9a-f-]{36})"/g)) known.add(id);
  }
  return known;
}
