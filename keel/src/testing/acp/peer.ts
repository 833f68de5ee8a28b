/**
 * An agent of the protocol as its kit drives it: a process, lines both ways, and everything that came, in its order.
 * Whatever the agent asks of its editor is answered: permissions by the first option, all else as not there.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { isObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";

export type AgentCommand = {
  readonly command: string;
  readonly parameters?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
};

/** A line of the agent. `message` is undefined for one that is no JSON object; `messages` has those of a batch too. */
export type HeardLine = {
  readonly text: string;
  readonly message: JsonObject | undefined;
  readonly messages: readonly JsonObject[];
};

export type PeerLimits = {
  /** For an answer. */
  readonly answerMs: number;
  /** How long nothing must come for nothing to come. */
  readonly quietMs: number;
};

/** A process that ends when its input does needs no more than this. */
const graceMs = 2_000;

export class AcpPeer {
  readonly lines: HeardLine[] = [];
  /** What it asked of its editor: the method of each. */
  readonly wanted: string[] = [];
  /** From now on permissions are answered as those of a turn that was cancelled. */
  isCancelled = false;
  /** What a request for permission is answered with, in place of its first option; `never` leaves it open. */
  outcome: JsonObject | "never" | undefined;
  readonly limits: PeerLimits;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #bytes: Buffer[] = [];
  readonly #ended: Promise<void>;
  #stderrBytes = 0;
  #rest = "";
  #next = 1;
  #hasEnded = false;
  #waiting: (() => void)[] = [];

  constructor({ command, parameters = [], env }: AgentCommand, limits: PeerLimits) {
    this.limits = limits;
    this.#child = spawn(command, parameters, { ...(env ? { env } : {}) });
    const decoder = new TextDecoder();
    this.#child.stdin.on("error", () => undefined);
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#stderrBytes += chunk.length;
    });
    this.#child.stdout.on("data", (chunk: Buffer) => {
      this.#bytes.push(chunk);
      this.#take(decoder.decode(chunk, { stream: true }));
    });
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true;
        this.#wake();
        resolve();
      };
      this.#child.once("error", end).once("close", end);
    });
  }

  get stderrBytes(): number {
    return this.#stderrBytes;
  }

  /** All that it wrote to its standard output. */
  get output(): Buffer {
    return Buffer.concat(this.#bytes);
  }

  raw(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  notify(method: string, params: JsonObject): void {
    this.raw(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Its response, whatever it says; undefined where none comes in time. */
  async request(
    method: string,
    params: JsonObject = {},
    id: Json = this.#next++,
  ): Promise<JsonObject | undefined> {
    this.raw(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return this.response(id);
  }

  async response(id: Json): Promise<JsonObject | undefined> {
    const isMeant = (message: JsonObject): boolean => isResponse(message) && message["id"] === id;
    const found = await this.wait(({ messages }) => messages.some(isMeant));
    return found?.messages.find(isMeant);
  }

  /** The first line that fits, also one that came before. */
  async wait(
    fits: (line: HeardLine) => boolean,
    { from = 0, ms = this.limits.answerMs }: { from?: number; ms?: number } = {},
  ): Promise<HeardLine | undefined> {
    const late = new AbortController();
    const timer = pause(ms, undefined, { signal: late.signal }).catch(() => undefined);
    let isLate = false;
    void timer.then(() => {
      isLate = true;
      this.#wake();
    });
    try {
      for (let at = from; ; ) {
        for (; at < this.lines.length; at++) {
          const line = this.lines[at];
          if (line && fits(line)) return line;
        }
        if (isLate || this.#hasEnded) return undefined;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      late.abort();
    }
  }

  /** Closes its input. Says whether it ended by itself, and sees to it that it is gone. */
  async close(): Promise<boolean> {
    this.#child.stdin.end();
    const done = new AbortController();
    const late = pause(graceMs, false, { signal: done.signal }).catch(() => false);
    const ended = await Promise.race([this.#ended.then(() => true), late]);
    done.abort();
    if (!ended) this.#child.kill("SIGKILL");
    await this.#ended;
    return ended;
  }

  #take(text: string): void {
    const pieces = (this.#rest + text).split("\n");
    this.#rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      const parsed = parseJson(piece);
      const message = isObject(parsed) ? (parsed as JsonObject) : undefined;
      const parts = Array.isArray(parsed) ? parsed : [message];
      const messages = parts.filter((part): part is JsonObject => isObject(part));
      this.lines.push({ text: piece, message, messages });
      for (const one of messages) if (typeof one["method"] === "string" && "id" in one) this.#answer(one);
    }
    this.#wake();
  }

  #answer(request: JsonObject): void {
    const method = String(request["method"]);
    this.wanted.push(method);
    if (method === "session/request_permission" && this.outcome === "never") return;
    const answer =
      method === "session/request_permission"
        ? { result: { outcome: this.#outcome(request["params"]) } }
        : { error: { code: -32_601, message: "Not announced" } };
    this.raw(JSON.stringify({ jsonrpc: "2.0", id: request["id"], ...answer }));
  }

  #outcome(params: unknown): JsonObject {
    if (this.outcome !== undefined && this.outcome !== "never" && !this.isCancelled) return this.outcome;
    const options = isObject(params) && Array.isArray(params["options"]) ? params["options"] : [];
    const [first] = options;
    return this.isCancelled || !isObject(first)
      ? { outcome: "cancelled" }
      : { outcome: "selected", optionId: String(first["optionId"]) };
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Also one that is broken: whatever has no method is an answer to something. */
export const isResponse = (message: JsonObject | undefined): boolean =>
  message !== undefined && !("method" in message);
