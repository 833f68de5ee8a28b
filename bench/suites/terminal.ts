/** The terminal screen beside the least programs that show the same on a terminal: its start, its bytes, its work, its keys. */
import { setTimeout as pause } from "node:timers/promises";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import type { Contest, Entrant, Samples } from "../measure.ts";
import { type OnTerminal, onTerminal } from "../on-terminal.ts";
import { runSpawned } from "../spawned.ts";
import { command, keelEnv, openStage, type StartStage } from "./start.ts";
import { kilobytes, type Suite } from "./suite.ts";

export const terminalSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  let next: Reply = reply("Done.");
  // A request of the last turns has all that was said: ten thousand of them would not fit.
  const server = await startModelServer({ script: () => next, maxRequests: 10 });
  const show: Showing = {
    stage,
    server,
    follow: (one) => {
      next = one;
    },
  };
  return {
    contests: [
      startContest(show),
      replyContest(show),
      keyContest(show),
      escapeContest(show),
      turnsContest(show),
      sampleContest(show),
    ],
    close: () => server.close(),
  };
};

type Showing = {
  readonly stage: StartStage;
  readonly server: ModelServer;
  /** What the model says from now on. */
  follow(one: Reply): void;
};

/** The words of an empty input; of the bare program, what it writes when it can be typed to. */
const prompts = { keel: "type, / commands", bare: "ready> " } as const;

async function keelOn({ stage, server }: Showing): Promise<OnTerminal> {
  const env = Object.fromEntries(
    Object.entries(keelEnv(await stage.folder())).map(([name, value]) => [
      name,
      value.replaceAll("{URL}", server.url),
    ]),
  );
  return onTerminal(command, ["--permission-mode", "bypassPermissions"], {
    env: { ...env, IS_SANDBOX: "1" },
    cwd: stage.cwd,
  });
}

async function bareOn({ stage, server }: Showing): Promise<OnTerminal> {
  const options = { url: server.url, firstBytes: stage.keelBytes.first };
  return onTerminal(
    process.execPath,
    [stage.programs.pathOf("floors/terminal-text"), JSON.stringify(options)],
    { env: {}, cwd: stage.cwd },
  );
}

const programs = { keel: keelOn, bare: bareOn } as const;
type Which = keyof typeof programs;

/** Opens it, waits until it can be typed to, and closes it whatever happens. */
async function shown<T>(
  which: Which,
  showing: Showing,
  work: (program: OnTerminal) => Promise<T>,
): Promise<T> {
  const program = await programs[which](showing);
  try {
    await program.wrote(prompts[which]);
    return await work(program);
  } finally {
    program.close();
  }
}

function startContest(showing: Showing): Contest {
  const { stage } = showing;
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
        return { start: [firstRequestMs] };
      },
    },
    keel: {
      name: "keel",
      run: async () => {
        const program = await keelOn(showing);
        try {
          return { start: [(await program.wrote(prompts.keel)) - program.startedAt] };
        } finally {
          program.close();
        }
      },
    },
    figures: [
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

function replyContest(showing: Showing): Contest {
  const { deltas } = showing.stage.counts;
  const text = `${textOf(deltas * deltaCharacters)}\nENDED`;
  const run = (which: Which) => async (): Promise<Samples> => {
    showing.follow(replyWith({ chunkChars: deltaCharacters }, text));
    return shown(which, showing, async (program) => {
      const [bytes, cpu] = [program.written().length, program.cpuMs()];
      program.type("go\r");
      await program.wrote("ENDED", bytes);
      await program.wrote(prompts[which], program.written().indexOf("ENDED", bytes));
      await pause(300);
      return {
        bytes: [kilobytes(program.written().length - bytes)],
        cpu: [program.cpuMs() - cpu],
      };
    });
  };
  const what = `a reply of ${deltas.toLocaleString("en-US")} deltas`;
  return {
    name: "reply",
    floor: { name: "a bare program that writes the deltas", run: run("bare") },
    keel: { name: "keel", run: run("keel") },
    figures: [
      { key: "bytes", name: `${what}: bytes written`, unit: "KB", goal: { kind: "ratio", most: 3 } },
      { key: "cpu", name: `${what}: processor time`, unit: "ms", goal: { kind: "ratio", most: 3 } },
    ],
  };
}

/** Keys that no escape sequence and no word of the reply has. */
const keys = "QXZV";
/** Eight in a second: as fast as people type. */
const keyEveryMs = 125;
const deltaEveryMs = 5;

function keyContest(showing: Showing): Contest {
  const count = showing.stage.counts.terminalKeys;
  const run =
    (which: Which): Entrant["run"] =>
    async () => {
      const characters = deltaCharacters * Math.ceil((count * keyEveryMs * 2) / deltaEveryMs);
      showing.follow(replyWith({ chunkChars: deltaCharacters, betweenMs: deltaEveryMs }, textOf(characters)));
      return shown(which, showing, async (program) => {
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
    floor: { name: "a bare readline program under the same stream", run: run("bare") },
    keel: { name: "keel", run: run("keel") },
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
function escapeContest(showing: Showing): Contest {
  const count = showing.stage.counts.terminalEscapes;
  return {
    name: "escape",
    floor: { name: "nothing", run: async () => ({ escape: [0] }) },
    keel: {
      name: "keel",
      run: async () => {
        showing.follow(replyWith({ chunkChars: deltaCharacters, betweenMs: deltaEveryMs }, textOf(60_000)));
        return shown("keel", showing, async (program) => {
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
            await program.wrote(prompts.keel, from);
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

/** One run for all rounds: it takes minutes. */
function turnsContest(showing: Showing): Contest {
  const count = showing.stage.counts.terminalTurns;
  let once: Promise<Samples> | undefined;
  const run = (): Promise<Samples> => {
    showing.follow(reply("Done."));
    return shown("keel", showing, async (program) => {
      for (let turn = 0; turn < count; turn++) {
        const from = program.written().length;
        program.type("go\r");
        await program.wrote("Done.", from);
        await program.wrote(prompts.keel, program.written().indexOf("Done.", from));
      }
      return { memory: [program.residentMb()] };
    });
  };
  return {
    name: "turns",
    floor: { name: "nothing", run: async () => ({ memory: [0] }) },
    keel: {
      name: "keel",
      run: () => {
        once ??= run();
        return once;
      },
    },
    figures: [
      {
        key: "memory",
        name: `resident after ${count.toLocaleString("en-US")} turns (one run)`,
        unit: "MB",
        goal: { kind: "value", most: 150 },
      },
    ],
  };
}

const sampleMs = 5_000;
const sampleLines = 80;

/** Eighty lines that stay, then a command that runs for the rest of five seconds; then two seconds of nothing. */
function sampleContest(showing: Showing): Contest {
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
        showing.follow(reply(text, toolUse("Bash", { command: "sleep 60" })));
        const during = await shown("keel", showing, async (program) => {
          const from = program.written().length;
          program.type("go\r");
          await pause(sampleMs);
          return program.written().length - from;
        });
        const idle = await shown("keel", showing, async (program) => {
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
