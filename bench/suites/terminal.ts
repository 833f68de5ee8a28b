/** The terminal screen beside the least programs that show the same on a terminal: its start, its bytes, its work, its keys. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { anthropicWire } from "../../keel/src/testing/wires/anthropic.ts";
import { openaiWire } from "../../keel/src/testing/wires/openai.ts";
import type { Contest, Entrant, Samples } from "../measure.ts";
import { type OnTerminal, onTerminal } from "../on-terminal.ts";
import { installedPeers, type Peer } from "../peers.ts";
import { responsesWire } from "../responses-wire.ts";
import { runSpawned } from "../spawned.ts";
import { command, keelEnv, openStage, type StartStage } from "./start.ts";
import { kilobytes, type Suite } from "./suite.ts";

export const terminalSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  let next: Reply = reply("Done.");
  // A request of the last turns has all that was said: ten thousand of them would not fit.
  const server = await startModelServer({ script: () => next, maxRequests: 10 });
  // What others send is not ours to judge.
  const forPeers = await startModelServer({
    script: () => next,
    maxRequests: 10,
    check: "none",
    wires: [anthropicWire, responsesWire, openaiWire],
  });
  const showing: Showing = {
    stage,
    url: server.url,
    follow: (one) => {
      next = one;
    },
  };
  const entrants: Entrants = {
    keel: keelScreen(showing),
    bare: bareScreen(showing),
    peers: screenPeers().map((peer) => peerScreen(peer, { stage, server: forPeers })),
  };
  return {
    contests: [
      startContest(showing, entrants),
      replyContest(showing, entrants),
      keyContest(showing, entrants),
      escapeContest(showing, entrants),
      sampleContest(showing, entrants),
    ],
    close: async () => {
      await Promise.all([server.close(), forPeers.close()]);
    },
  };
};

type Showing = {
  readonly stage: StartStage;
  /** Where the model is. */
  readonly url: string;
  /** What the model says from now on. */
  follow(one: Reply): void;
};

/** A program with a screen. */
export type ScreenProgram = {
  readonly name: string;
  /** What it writes when it can be typed to. */
  readonly ready: string;
  /** What it writes when something of it is first seen; where that is not known, the same. */
  readonly drawn?: string;
  open(): Promise<OnTerminal>;
};

type Entrants = {
  readonly keel: ScreenProgram;
  readonly bare: ScreenProgram;
  readonly peers: readonly ScreenProgram[];
};

export function keelScreen({ stage, url }: Pick<Showing, "stage" | "url">): ScreenProgram {
  return {
    name: "keel",
    ready: "type, / commands",
    drawn: "\u001b[?7l",
    async open() {
      const env = Object.fromEntries(
        Object.entries(keelEnv(await stage.folder())).map(([name, value]) => [
          name,
          value.replaceAll("{URL}", url),
        ]),
      );
      return onTerminal(command, ["--permission-mode", "bypassPermissions"], {
        env: { ...env, IS_SANDBOX: "1" },
        cwd: stage.cwd,
      });
    },
  };
}

export function bareScreen({ stage, url }: Pick<Showing, "stage" | "url">): ScreenProgram {
  const options = { url, firstBytes: stage.keelBytes.first };
  const parameters = [stage.programs.pathOf("floors/terminal-text"), JSON.stringify(options)];
  return {
    name: "a bare program that writes the deltas",
    ready: "ready> ",
    open: async () => onTerminal(process.execPath, parameters, { env: {}, cwd: stage.cwd }),
  };
}

type ScreenPeer = Peer & Pick<ScreenProgram, "ready">;

const screenPeers = (): ScreenPeer[] =>
  installedPeers<ScreenPeer>(path.join(import.meta.dirname, "../peers/screens"));

function peerScreen(
  { name, ready, command: program, parameters, env, files = {} }: ScreenPeer,
  { stage, server }: { readonly stage: StartStage; readonly server: ModelServer },
): ScreenProgram {
  const filled = (text: string): string =>
    text.replaceAll("{URL}", server.url).replaceAll("{CWD}", stage.cwd);
  return {
    name,
    ready,
    async open() {
      const home = await stage.folder();
      for (const [file, content] of Object.entries(files)) {
        await mkdir(path.dirname(path.join(home, file)), { recursive: true });
        await writeFile(path.join(home, file), filled(content));
      }
      const given = Object.entries(env).map(([key, value]) => [key, filled(value)]);
      return onTerminal(program, parameters.map(filled), {
        env: { HOME: home, ...Object.fromEntries(given) },
        cwd: stage.cwd,
        answers: saidOfItself,
      });
    },
  };
}

/** Some wait for it: where the cursor stands, and which terminal it is. */
const saidOfItself = { "\u001b[6n": "\u001b[1;1R", "\u001b[c": "\u001b[?1;2c" };

/** Opens it, waits until it can be typed to, and closes it whatever happens. */
export async function shown<T>(
  { open, ready }: ScreenProgram,
  work: (program: OnTerminal) => Promise<T>,
): Promise<T> {
  const program = await open();
  try {
    await program.wrote(ready);
    return await work(program);
  } finally {
    program.close();
  }
}

function startContest({ stage }: Showing, { keel, peers }: Entrants): Contest {
  const started = ({ name, open, ready, drawn = ready }: ScreenProgram): Entrant => ({
    name,
    run: async () => {
      const program = await open();
      try {
        const frame = (await program.wrote(drawn)) - program.startedAt;
        return { frame: [frame], start: [(await program.wrote(ready)) - program.startedAt] };
      } finally {
        program.close();
      }
    },
  });
  return {
    name: "start",
    floor: {
      name: "keel -p to its first request",
      run: async () => {
        const parameters = ["-p", "Hello."];
        const env = keelEnv(await stage.folder());
        const { firstRequestMs } = await runSpawned({
          command,
          parameters,
          env,
          cwd: stage.cwd,
          toolTurns: 0,
        });
        return { frame: [firstRequestMs], start: [firstRequestMs] };
      },
    },
    keel: started(keel),
    peers: peers.map(started),
    figures: [
      { key: "frame", name: "start to the first frame", unit: "ms", goal: { kind: "value", most: 250 } },
      { key: "start", name: "start to a usable prompt", unit: "ms", goal: { kind: "ratio", most: 1.6 } },
    ],
  };
}

const deltaCharacters = 12;

/** Lines of words, so that there is something to break and to print. */
function textOf(characters: number): string {
  const line = "some words of a reply that is as long as replies are, with a comma in it\n";
  return line.repeat(Math.ceil(characters / line.length)).slice(0, characters);
}

/** Some take what comes at once for a paste, and Enter for a part of it. */
const handMs = 300;

function replyContest({ stage, follow }: Showing, { keel, bare, peers }: Entrants): Contest {
  const { deltas } = stage.counts;
  const text = `${textOf(deltas * deltaCharacters)}\nENDED`;
  const replied = (screen: ScreenProgram): Entrant => ({
    name: screen.name,
    run: () => {
      follow(replyWith({ chunkChars: deltaCharacters }, text));
      return shown(screen, async (program): Promise<Samples> => {
        await pause(handMs);
        program.type("go");
        await pause(handMs);
        const [bytes, cpu] = [program.written().length, program.cpuMs()];
        program.type("\r");
        await program.wrote("ENDED", bytes);
        await pause(restMs);
        return {
          bytes: [kilobytes(program.written().length - bytes)],
          cpu: [program.cpuMs() - cpu],
          memory: [program.treeResidentMb()],
        };
      });
    },
  });
  const what = `a reply of ${deltas.toLocaleString("en-US")} deltas`;
  return {
    name: "reply",
    floor: replied(bare),
    keel: replied(keel),
    peers: peers.map(replied),
    figures: [
      { key: "bytes", name: `${what}: bytes written`, unit: "KB", goal: { kind: "ratio", most: 3 } },
      { key: "cpu", name: `${what}: processor time`, unit: "ms", goal: { kind: "ratio", most: 3 } },
      { key: "memory", name: `${what}: resident after it`, unit: "MB" },
    ],
  };
}

/** What is drawn and written down after the last word. */
const restMs = 600;

/** Keys that no escape sequence and no word of the reply has. */
const keys = "QXZV";
/** Eight in a second: as fast as people type. */
const keyEveryMs = 125;
const deltaEveryMs = 5;

function keyContest({ stage, follow }: Showing, { keel, bare }: Entrants): Contest {
  const count = stage.counts.terminalKeys;
  const run =
    (screen: ScreenProgram): Entrant["run"] =>
    async () => {
      const characters = deltaCharacters * Math.ceil((count * keyEveryMs * 2) / deltaEveryMs);
      follow(replyWith({ chunkChars: deltaCharacters, betweenMs: deltaEveryMs }, textOf(characters)));
      return shown(screen, async (program) => {
        const start = program.written().length;
        program.type("go\r");
        await program.wrote("some words", start);
        const echoes: number[] = [];
        for (let key = 0; key < count; key++) {
          await pause(keyEveryMs);
          const from = program.written().length;
          const sign = keys[key % keys.length] ?? "Q";
          const typedAt = performance.now();
          program.type(sign);
          echoes.push((await program.wrote(sign, from)) - typedAt);
        }
        const sorted = echoes.sort((left, right) => left - right);
        return { echo: [sorted[Math.floor(sorted.length * 0.9)] ?? Number.NaN] };
      });
    };
  return {
    name: "keys",
    floor: { name: "a bare readline program under the same stream", run: run(bare) },
    keel: { name: "keel", run: run(keel) },
    figures: [
      {
        key: "echo",
        name: "echo of a key at 200 deltas/s, ninth decile",
        unit: "ms",
        goal: { kind: "ratio", most: 2 },
      },
    ],
  };
}

/** Whether Esc does what it says, however much is on its way: the slowest of many. */
function escapeContest({ stage, follow }: Showing, { keel }: Entrants): Contest {
  const count = stage.counts.terminalEscapes;
  return {
    name: "escape",
    floor: { name: "nothing", run: async () => ({ escape: [0] }) },
    keel: {
      name: "keel",
      run: async () => {
        follow(replyWith({ chunkChars: deltaCharacters, betweenMs: deltaEveryMs }, textOf(60_000)));
        return shown(keel, async (program) => {
          const took: number[] = [];
          for (let turn = 0; turn < count; turn++) {
            const start = program.written().length;
            program.type("go\r");
            await program.wrote("some words", start);
            await pause(200);
            const from = program.written().length;
            const typedAt = performance.now();
            program.type("\u001b");
            took.push((await program.wrote("Interrupted", from)) - typedAt);
            await program.wrote(keel.ready, from);
          }
          return { escape: [Math.max(...took)] };
        });
      },
    },
    figures: [
      {
        key: "escape",
        name: `Esc to "Interrupted" at 200 deltas/s, the slowest of ${count}`,
        unit: "ms",
        goal: { kind: "value", most: 300 },
      },
    ],
  };
}

const sampleMs = 5_000;
const sampleLines = 80;

/** Eighty lines that stay, then a command that runs for the rest of five seconds; then two seconds of nothing. */
function sampleContest({ follow }: Showing, { keel }: Entrants): Contest {
  const text = textOf(sampleLines * 73);
  return {
    name: "sample",
    floor: {
      name: "the lines alone",
      run: async () => ({ bytes: [kilobytes(text.length)], idle: [0] }),
    },
    keel: {
      name: "keel",
      run: async () => {
        follow(reply(text, toolUse("Bash", { command: "sleep 60" })));
        const during = await shown(keel, async (program) => {
          const from = program.written().length;
          program.type("go\r");
          await pause(sampleMs);
          return program.written().length - from;
        });
        const idle = await shown(keel, async (program) => {
          await pause(1_500);
          const from = program.written().length;
          await pause(2_000);
          return program.written().length - from;
        });
        return { bytes: [kilobytes(during)], idle: [kilobytes(idle)] };
      },
    },
    figures: [
      {
        key: "bytes",
        name: "5 s with 80 lines and a call that runs: bytes written",
        unit: "KB",
        goal: { kind: "value", most: 60 },
      },
      { key: "idle", name: "2 s of nothing: bytes written", unit: "KB", goal: { kind: "value", most: 0 } },
    ],
  };
}
