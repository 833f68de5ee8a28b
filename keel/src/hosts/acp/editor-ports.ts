/** What an editor lends: its open files and its terminals, where it said that it has them. Who is late has said no. */
import type {
  CreateTerminalRequest,
  ReadTextFileRequest,
  TerminalOutputRequest,
  WaitForTerminalExitResponse,
  WriteTextFileRequest,
} from "@agentclientprotocol/sdk";
import type { OpenOptions } from "../../app/options.ts";
import { asObject } from "../../kernel/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RpcAnswer } from "../../transport/json-rpc.ts";
import { askSoon, type EditorWire } from "./wire.ts";

type Buffers = NonNullable<OpenOptions["buffers"]>;
type Terminals = NonNullable<OpenOptions["terminals"]>;
type MadeTerminal = NonNullable<Awaited<ReturnType<Terminals["create"]>>>;

/** Where it does not answer the disk counts. */
export function buffersOf(
  wire: EditorWire,
  { clock, sessionId }: { clock: Clock; sessionId: string },
): Buffers | undefined {
  const { readsFiles, writesFiles } = wire.can;
  if (!readsFiles && !writesFiles) return undefined;
  const ask = (method: string, params: object) => askSoon(wire, clock, [method, params]);
  return {
    read: readsFiles
      ? async (path) => {
          const params: ReadTextFileRequest = { sessionId, path };
          const answer = await ask("fs/read_text_file", params);
          const { content } = asObject(answer.ok ? answer.result : undefined);
          return typeof content === "string" ? content : undefined;
        }
      : undefined,
    write: writesFiles
      ? async (path, content) => {
          const params: WriteTextFileRequest = { sessionId, path, content };
          return (await ask("fs/write_text_file", params)).ok;
        }
      : undefined,
  };
}

export class LentTerminals {
  readonly #wire: EditorWire;
  readonly #clock: Clock;
  /** Those that this editor has made. */
  readonly #known = new Set<string>();

  constructor(wire: EditorWire, clock: Clock) {
    this.#wire = wire;
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  of(sessionId: string): Terminals {
    return {
      create: async ({ command, args, cwd, env, maxBytes }) => {
        const params: CreateTerminalRequest = {
          sessionId,
          command,
          args: [...args],
          cwd,
          env: Object.entries(env).map(([name, value]) => ({ name, value })),
          outputByteLimit: maxBytes,
        };
        const answer = await this.#ask("terminal/create", params);
        const { terminalId } = asObject(answer.ok ? answer.result : undefined);
        if (typeof terminalId !== "string") return undefined;
        this.#known.add(terminalId);
        return this.#made({ sessionId, terminalId });
      },
    };
  }

  #made(about: TerminalOutputRequest): MadeTerminal {
    return {
      id: about.terminalId,
      output: async () => {
        const answer = await this.#ask("terminal/output", about);
        const { output, truncated } = asObject(answer.ok ? answer.result : undefined);
        return typeof output === "string" ? { text: output, truncated: truncated === true } : undefined;
      },
      ended: this.#wire
        .request("terminal/wait_for_exit", about)
        .then((answer) => (answer.ok ? exitOf(asObject(answer.result)) : undefined)),
      kill: async () => {
        await this.#ask("terminal/kill", about);
      },
      release: () => void this.#ask("terminal/release", about),
    };
  }

  #ask(method: string, params: object): Promise<RpcAnswer> {
    return askSoon(this.#wire, this.#clock, [method, params]);
  }
}

const exitOf = ({ exitCode, signal }: WaitForTerminalExitResponse) => ({
  exitCode: exitCode ?? null,
  signal: signal ?? null,
});
