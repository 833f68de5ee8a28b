/**
 * The scripted model of the benchmark, in a process of its own: its work is not counted, and it looks at the clock when
 * a reply's last bytes leave and when the next request is there. One script at a time; conversations are told apart by
 * the `user_id` of the request.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export type ServerScript = {
  /** So many replies of each conversation ask for this call; the one after them is the answer. */
  readonly toolTurns: number;
  readonly call: { readonly name: string; readonly input: object };
  /** Text deltas of the answer. */
  readonly deltas: number;
  /** What the answer says again and again, in place of one sentence. */
  readonly words?: string;
  /** In place of `toolTurns`: every input that ends with these words is answered with a call, and its result with words. */
  readonly callFor?: string;
  /** `counted`: a request has a token for every four bytes, as a provider would say; few for all when left out. */
  readonly usage?: "counted";
  /** How fast it writes, a token being four characters; as fast as it can when left out. */
  readonly tokensPerSecond?: number;
};

/** Times are of the server's clock, in milliseconds; all lists have one entry per request. */
export type ConversationReport = {
  /** When the last byte of the request was there. */
  readonly arrivedAt: readonly number[];
  /** When the last bytes of the reply were handed to the kernel. */
  readonly repliedAt: readonly number[];
  readonly requestBytes: readonly number[];
  /** What the strict rules of the provider say against the last request. */
  readonly violations: readonly string[];
};

export type BenchServer = {
  readonly url: string;
  /** Forgets every conversation and follows this script from now on. */
  follow(script: ServerScript): Promise<void>;
  report(): Promise<ConversationReport[]>;
  close(): Promise<void>;
};

/** `program` is the bundled `programs/model-server`. */
export async function startBenchServer(program: string): Promise<BenchServer> {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  const { url }: { url: string } = JSON.parse(String(line));
  return {
    url,
    async follow(script) {
      await fetch(`${url}/script`, { method: "PUT", body: JSON.stringify(script) });
    },
    async report() {
      const response = await fetch(`${url}/report`);
      return (await response.json()) as ConversationReport[];
    },
    async close() {
      const ended = once(child, "exit");
      // The end of its input is its sign to go: it also comes when we are killed.
      child.stdin.end();
      await ended;
    },
  };
}

/** The gap of a turn: from the end of a reply to the arrival of the next request. The first stands for turn 1. */
export function gapsOf({ arrivedAt, repliedAt }: ConversationReport): number[] {
  return arrivedAt.slice(1).map((arrived, index) => arrived - (repliedAt[index] ?? Number.NaN));
}
