// A screen whose session is a recording: events are told as they stand there, inquiries are answered from a table.
import { PassThrough } from "node:stream";
import type { MemoryPassage, MemorySide, ScreenHost } from "../../keel/src/hosts/tui/screen/host.ts";
import type { PanelItem } from "../../keel/src/hosts/tui/screen/panel.ts";
import { usualSettings } from "../../keel/src/hosts/tui/screen/settings.ts";
import type { Envelope } from "../../keel/src/protocol/event/envelope.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import { textOfParts } from "../../keel/src/view/shown.ts";

export type FedScene = {
  readonly name: string;
  readonly events: readonly Envelope[];
  /** Answers by the names of inquiries; facts of a plain session otherwise. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** What commands say that the session answers itself, by their words. */
  readonly says?: Readonly<Record<string, string>>;
  /** The other sessions. */
  readonly sessions?: readonly PanelItem[];
  /** What memory finds for any words that it has. */
  readonly memory?: readonly MemoryPassage[];
  /** What a person typed before. */
  readonly history?: readonly string[];
};

export type GoldenScene = FedScene & {
  /** What is typed into it, one after the other, each with a picture behind it. */
  readonly keys?: readonly { readonly say: string; readonly type: string }[];
};

const facts = {
  cwd: "/home/ada/shop",
  model: "claude-opus-5-5",
  permissionMode: "default",
  models: {},
  commands: [],
  agents: [],
  skills: [],
  tools: [],
  servers: [],
  plugins: [],
};

/** More than a scene has: it waits until it is left, and for what commands say. */
async function* told(
  events: readonly Envelope[],
  more: AsyncIterable<Envelope>,
  onTold: () => void,
): AsyncGenerator<Envelope> {
  for (const event of events) yield event;
  onTold();
  yield* more;
}

function fedHandle({ events, answers = {}, says = {} }: FedScene, onTold: () => void): SessionHandle {
  const words = new PassThrough({ objectMode: true });
  const table: Readonly<Record<string, unknown>> = {
    facts,
    position: { seq: 0 },
    explain: {
      verdict: "ask",
      because: "no rule allows it",
      programs: ["node"],
      wrapped: [],
      flags: { readOnly: false, writesOutsideCwd: false, network: false, destructive: false },
    },
    usage: { costUsd: 0, unknownRequests: 0, unpricedTokens: 0 },
    ...answers,
  };
  return {
    id: "0198f3c2-0000-7000-8000-000000000001",
    async submit(command) {
      const text = command.type === "input" ? textOfParts(command.content) : "";
      const said = says[text];
      const at = events.at(-1)?.at ?? 0;
      if (said !== undefined)
        words.write({ type: "command.answered", name: text.slice(1), text: said, at, session: "s" });
      if (command.type === "rewind")
        return {
          type: "rewound",
          preview: true,
          files: [{ path: "/home/ada/shop/src/login.ts", insertions: 3, deletions: 12 }],
          skipped: [],
          lost: [],
        };
      return { type: "done" };
    },
    events: (_, signal) => {
      signal?.addEventListener("abort", () => words.end(), { once: true });
      return told(events, words, onTold);
    },
    asks: async () => [],
    inquire: (async (name: string) => {
      if (!(name in table)) throw new Error(`nothing is known of ${name}`);
      return table[name];
    }) as SessionHandle["inquire"],
    detach: async () => undefined,
  };
}

function fedMemory(passages: readonly MemoryPassage[]): MemorySide {
  let left = passages;
  return {
    search: async (words, scope) =>
      scope === "session" ? [] : left.filter(({ passage }) => passage.includes(words)),
    holds: async () => `${left.length} pieces of 2 sessions\nType words to look for them.`,
    async forget(piece) {
      left = left.filter(({ id }) => id !== piece);
      return "Forgotten: 1 pieces. The log of the session says so, and stays.";
    },
  };
}

export function fedHost(
  scene: FedScene,
  around: {
    elapsed(): number;
    readonly process: NodeJS.Process;
    /** All that there is to be seen was told. */
    onTold?(): void;
  },
): ScreenHost {
  const { stdin, stdout } = around.process;
  const last = scene.events.at(-1)?.at ?? 0;
  return {
    handle: fedHandle(scene, () => around.onTold?.()),
    terminal: {
      input: stdin,
      out: {
        write: (text) => void stdout.write(text),
        get waitingBytes() {
          return stdout.writableLength;
        },
        drained: async () => undefined,
      },
      size: () => ({ columns: stdout.columns, rows: stdout.rows }),
      onResize: () => () => undefined,
    },
    own: {
      editText: async () => undefined,
      clipboardImage: async () => undefined,
      readImage: async () => undefined,
      readHistory: async () => scene.history ?? [],
      addHistory: async () => undefined,
      branchOf: async () => "login-fix",
      statusLine: async () => undefined,
      suspend: async () => undefined,
      newId: () => "",
      writeExport: async (name) => name,
    },
    sessions: {
      list: async () => scene.sessions ?? [],
      async *read() {
        for (const event of scene.events) if ("seq" in event && !event.origin) yield event;
      },
      ...(scene.memory ? { memory: fedMemory(scene.memory) } : {}),
    },
    settings: { ...usualSettings, title: false },
    env: { ...around.process.env, PWD: "/home/ada/shop", HOME: "/home/ada" },
    version: "0.1.0",
    clock: { now: () => last + 8_000 + around.elapsed() },
  };
}
