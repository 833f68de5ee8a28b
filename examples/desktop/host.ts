// A host of `keel desktop` for Node: starts the runtime, sends requests, and gives each its answer by its id.
// Run as: node host.ts KEEL MESSAGE
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export type Response = { readonly type: string; readonly id?: string } & Readonly<Record<string, unknown>>;
export type Ask = { readonly askId: string; readonly title: string; readonly toolName?: string };

export type HostOptions = {
  /** How Keel is started. */
  readonly command: string;
  readonly folder: string;
  /** Hears every token of every message. */
  readonly onToken?: (token: string, id: string | undefined) => void;
  /** Whether what is asked about may be done. Nobody there: no. */
  readonly onAsk?: (ask: Ask) => Promise<boolean>;
};

export class DesktopHost {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #options: HostOptions;
  readonly #waiting = new Map<string, PromiseWithResolvers<Response>>();
  readonly #ready = Promise.withResolvers<Response>();
  #last = 0;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#child = spawn(options.command, ["desktop", "--cwd", options.folder]);
    this.#child.stderr.pipe(process.stderr);
    // A runtime that has ended takes no more lines; what waits is told below.
    this.#child.stdin.on("error", () => undefined);
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#hear(line));
    this.ended = new Promise((resolve) => this.#child.once("close", resolve));
    void this.ended.then((code) => {
      const gone = new Error(`Keel has ended (${code}).`);
      this.#ready.promise.catch(() => undefined);
      this.#ready.reject(gone);
      for (const { reject } of this.#waiting.values()) reject(gone);
    });
  }

  /** Resolves with what the runtime says of itself: its version and that of the protocol. */
  get ready(): Promise<Response> {
    return this.#ready.promise;
  }

  /** Resolves with `done`. Rejects with what `error` says. */
  async request(kind: string, fields: object = {}): Promise<Response> {
    const id = `r${++this.#last}`;
    const waiting = Promise.withResolvers<Response>();
    this.#waiting.set(id, waiting);
    this.#child.stdin.write(`${JSON.stringify({ ...fields, id, kind })}\n`);
    const end = await waiting.promise;
    if (end.type === "error") throw new Error(String(end["error"]));
    return end;
  }

  /** What was asked is finished, then the runtime ends. */
  close(): Promise<number | null> {
    this.#child.stdin.end();
    return this.ended;
  }

  #hear(line: string): void {
    const response = this.#read(line);
    switch (response?.type) {
      case "ready":
        return this.#ready.resolve(response);
      case "token":
        return this.#options.onToken?.(String(response["token"]), response.id);
      case "ask":
        return void this.#answer(response["data"] as Ask);
      case "done":
      case "error": {
        const waiting = this.#waiting.get(response.id ?? "");
        this.#waiting.delete(response.id ?? "");
        waiting?.resolve(response);
      }
    }
  }

  /** A line that cannot be read is passed over: the next one may be whole. */
  #read(line: string): Response | undefined {
    try {
      return JSON.parse(line);
    } catch {
      return undefined;
    }
  }

  async #answer({ askId, ...ask }: Ask): Promise<void> {
    const approved = (await this.#options.onAsk?.({ askId, ...ask })) ?? false;
    await this.request("answer_ask", { ask_id: askId, approved }).catch(() => undefined);
  }
}

async function main([command = "keel", message = "hello"]: readonly string[]): Promise<void> {
  const onToken = (token: string): void => void process.stdout.write(token);
  const host = new DesktopHost({ command, folder: process.cwd(), onToken });
  const { protocol } = await host.ready;
  console.log(`protocol ${protocol}`);
  await host.request("get_status");
  await host.request("new_conversation");
  const done = await host.request("user_message", { message });
  const { conversation_id } = done["data"] as { conversation_id: string };
  await host.request("list_conversations");
  await host.request("interrupt");
  await host.request("load_conversation", { conversation_id });
  await host.request("clear_history");
  await host.request("delete_conversation", { conversation_id });
  console.log(`\nexit ${await host.close()}`);
}

if (import.meta.main) await main(process.argv.slice(2));
