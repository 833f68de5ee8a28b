/**
 * A program that is started as its users start it, and a scripted model in our own process that looks at the clock: when
 * the first request is there, how long the gaps are, and how much memory the program has held at its last request.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { http } from "./bare-loop.ts";
import { megabytes } from "./suites/suite.ts";

export type SpawnedWish = {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Replies that ask for this call before the answer. */
  readonly toolTurns: number;
  readonly call?: { readonly name: string; readonly input: object };
  /** Talks to the program once it runs; says when it was ready, for those that are. */
  drive?(child: ChildProcess): Promise<number | undefined>;
};

export type SpawnedRun = {
  readonly firstRequestMs: number;
  readonly readyMs: number | undefined;
  readonly gapsMs: readonly number[];
  readonly peakMb: number;
  readonly firstRequestBytes: number;
};

/** Longer than any start that can be meant. */
const maxMs = 60_000;

/** `{URL}` in the environment and the parameters stands for the model's address. Throws when no request came. */
export async function runSpawned(wish: SpawnedWish): Promise<SpawnedRun> {
  const model = await startModel(wish);
  const fill = (text: string): string => text.replaceAll("{URL}", model.url);
  const env = Object.fromEntries(Object.entries(wish.env).map(([name, value]) => [name, fill(value)]));
  const startedAt = performance.now();
  const child = spawn(wish.command, wish.parameters.map(fill), {
    cwd: wish.cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: [wish.drive ? "pipe" : "ignore", "pipe", "ignore"],
  });
  child.stdout?.resume();
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const late = setTimeout(() => child.kill("SIGKILL"), maxMs);
  model.watch(child);
  try {
    const readyAt = await wish.drive?.(child);
    await exited;
    const [first] = model.arrivals;
    if (first === undefined) throw new Error(`${wish.command} sent no request`);
    return {
      firstRequestMs: first - startedAt,
      readyMs: readyAt === undefined ? undefined : readyAt - startedAt,
      gapsMs: model.arrivals.slice(1).map((at, index) => at - (model.replies[index] ?? Number.NaN)),
      peakMb: model.peakMb(),
      firstRequestBytes: model.firstBytes(),
    };
  } finally {
    clearTimeout(late);
    model.close();
  }
}

type Model = {
  readonly url: string;
  readonly arrivals: number[];
  readonly replies: number[];
  watch(child: ChildProcess): void;
  peakMb(): number;
  firstBytes(): number;
  close(): void;
};

async function startModel({ toolTurns, call }: SpawnedWish): Promise<Model> {
  const arrivals: number[] = [];
  const replies: number[] = [];
  let child: ChildProcess | undefined;
  let peak = 0;
  let firstBytes = 0;
  const server = http.createServer((request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on("end", () => {
      if (request.method !== "POST" || !request.url?.includes("/messages"))
        return void response.writeHead(404).end();
      arrivals.push(performance.now());
      if (arrivals.length === 1) firstBytes = bytes;
      peak = Math.max(peak, peakOf(child));
      response.writeHead(200, { "content-type": "text/event-stream" });
      const asks = call && arrivals.length <= toolTurns;
      response.end(asks ? callReply(arrivals.length, call) : textReply(arrivals.length), () =>
        replies.push(performance.now()),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    replies,
    watch: (started) => {
      child = started;
    },
    peakMb: () => peak,
    firstBytes: () => firstBytes,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The most that the process and those below it have held so far. */
function peakOf(child: ChildProcess | undefined): number {
  return child?.pid === undefined ? 0 : treePeak(child.pid);
}

function treePeak(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const own = megabytes(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024);
    const tasks = readdirSync(`/proc/${pid}/task`);
    const children = tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
    );
    return children.reduce((sum, below) => sum + treePeak(Number(below)), own);
  } catch {
    return 0; // It ended while we looked.
  }
}

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const usage = {
  input_tokens: 10,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

function reply(turn: number, block: object, delta: object, stop: string): string {
  const message = {
    id: `m${turn}`,
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return [
    event("message_start", { message }),
    event("content_block_start", { index: 0, content_block: block }),
    event("content_block_delta", { index: 0, delta }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 2 },
    }),
    event("message_stop", {}),
  ].join("");
}

const callReply = (turn: number, { name, input }: { name: string; input: object }): string =>
  reply(
    turn,
    { type: "tool_use", id: `c${turn}`, name, input: {} },
    { type: "input_json_delta", partial_json: JSON.stringify(input) },
    "tool_use",
  );

const textReply = (turn: number): string =>
  reply(turn, { type: "text", text: "" }, { type: "text_delta", text: "Done." }, "end_turn");
