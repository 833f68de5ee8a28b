/** `keel acp` as editors start it: how soon it introduces itself, and how soon a prompt is a request. */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Contest, Samples } from "../measure.ts";
import { runSpawned } from "../spawned.ts";
import { command, keelEnv, openStage, type StartStage } from "./start.ts";
import type { Suite } from "./suite.ts";

const prompt = "Read the file.";

export const acpSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  return { contests: [startContest(stage), promptContest(stage)], close: async () => undefined };
};

function startContest(stage: StartStage): Contest {
  return {
    name: "start",
    floor: {
      name: "keel -p to its first request",
      run: async (): Promise<Samples> => {
        const home = await stage.folder();
        const run = { command, parameters: ["-p", prompt], env: keelEnv(home), cwd: stage.cwd, toolTurns: 0 };
        return { ready: [(await runSpawned(run)).firstRequestMs] };
      },
    },
    keel: { name: "keel acp", run: async () => ({ ready: [(await runEditor(stage)).readyMs] }) },
    figures: [
      {
        key: "ready",
        name: "spawn to the answer to initialize",
        unit: "ms",
        goal: { kind: "ratio", most: 1 },
      },
    ],
  };
}

function promptContest(stage: StartStage): Contest {
  return {
    name: "prompt",
    floor: {
      name: "a near handle",
      run: async (): Promise<Samples> => ({ first: [(await runNear(stage)).promptMs] }),
    },
    keel: { name: "keel acp", run: async () => ({ first: [(await runEditor(stage)).promptMs] }) },
    figures: [
      {
        key: "first",
        name: "a prompt to its request at the server",
        unit: "ms",
        goal: { kind: "ratio", most: 1.3 },
      },
    ],
  };
}

type Driven = { readonly readyMs: number; readonly promptMs: number };

/** Notes when it was ready and when it was told its prompt. */
async function runDriven(
  wish: Pick<Parameters<typeof runSpawned>[0], "command" | "parameters" | "env" | "cwd">,
  drive: (child: ChildProcess) => Promise<{ readyAt: number; promptAt: number }>,
): Promise<Driven> {
  let told = { readyAt: 0, promptAt: 0 };
  const { firstRequestMs, readyMs = 0 } = await runSpawned({
    ...wish,
    toolTurns: 0,
    async drive(child) {
      told = await drive(child);
      return told.readyAt;
    },
  });
  return { readyMs, promptMs: firstRequestMs - readyMs - (told.promptAt - told.readyAt) };
}

async function runNear({ programs, cwd, folder }: StartStage): Promise<Driven> {
  const options = { home: await folder(), cwd, url: "{URL}" };
  const parameters = [programs.pathOf("programs/near-prompt"), JSON.stringify(options)];
  return runDriven({ command: process.execPath, parameters, env: {}, cwd }, async (child) => {
    await lineOf(child, (line) => line === "ready");
    const readyAt = performance.now();
    child.stdin?.end(`${prompt}\n`);
    return { readyAt, promptAt: readyAt };
  });
}

async function runEditor({ cwd, folder }: StartStage): Promise<Driven> {
  const env = keelEnv(await folder());
  return runDriven({ command, parameters: ["acp"], env, cwd }, async (child) => {
    const call = (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
      const answered = lineOf(child, (line) => JSON.parse(line).id === id);
      child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      return answered.then((line) => JSON.parse(line).result);
    };
    await call(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    const readyAt = performance.now();
    const { sessionId } = await call(1, "session/new", { cwd, mcpServers: [] });
    const promptAt = performance.now();
    await call(2, "session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
    child.stdin?.end();
    return { readyAt, promptAt };
  });
}

/** The next line that is meant. */
function lineOf({ stdout }: ChildProcess, isMeant: (line: string) => boolean): Promise<string> {
  if (!stdout) throw new Error("It has no output.");
  const lines = createInterface(stdout);
  return new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      if (!isMeant(line)) return;
      lines.removeAllListeners();
      resolve(line);
    });
    lines.on("close", () => reject(new Error("It ended.")));
  });
}
