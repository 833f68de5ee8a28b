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

/** A line of the agent. `message` is undefined for one that is no JSON object. */
export type HeardLine = { readonly text: string; readonly message: JsonObject | undefined };

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
    const found = await this.wait(({ message }) => isResponse(message) && message?.["id"] === id);
    return found?.message;
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
      this.lines.push({ text: piece, message });
      if (message && typeof message["method"] === "string" && "id" in message) this.#answer(message);
    }
    this.#wake();
  }

  #answer(request: JsonObject): void {
    const method = String(request["method"]);
    this.wanted.push(method);
    const answer =
      method === "session/request_permission"
        ? { result: { outcome: this.#outcome(request["params"]) } }
        : { error: { code: -32_601, message: "Not announced" } };
    this.raw(JSON.stringify({ jsonrpc: "2.0", id: request["id"], ...answer }));
  }

  #outcome(params: unknown): JsonObject {
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
