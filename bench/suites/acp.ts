/**
 * `keel acp` as editors start it: how soon it introduces itself, how soon a prompt is a request, and how long an editor
 * waits for a session beside servers that never answer, and for the list of very many sessions.
 */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Contest, Samples } from "../measure.ts";
import { runSpawned } from "../spawned.ts";
import { command, keelEnv, openStage, type StartStage } from "./start.ts";
import type { Suite } from "./suite.ts";

const prompt = "Read the file.";

export const acpSuite: Suite = async (bench) => {
  const stage = await openStage(bench);
  return {
    contests: [startContest(stage), promptContest(stage), serversContest(stage), await listContest(stage)],
    close: async () => undefined,
  };
};

function startContest(stage: StartStage): Contest {
  return {
    name: "start",
    floor: {
      name: "keel -p to its first request",
      run: async (): Promise<Samples> => {
        const home = await stage.folder();
        const run = { command, parameters: ["-p", prompt], env: keelEnv(home), cwd: stage.cwd, toolTurns: 0 };
        const { firstRequestMs } = await runSpawned(run);
        return { ready: [firstRequestMs], waited: [firstRequestMs] };
      },
    },
    keel: {
      name: "keel acp",
      run: async () => {
        const { readyMs } = await runEditor(stage);
        return { ready: [readyMs], waited: [readyMs] };
      },
    },
    figures: [
      {
        key: "waited",
        name: "spawn to the answer to initialize, as an editor waits",
        unit: "ms",
        goal: { kind: "value", most: 150 },
      },
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

/** What an editor passes may hang: nobody waits for it. */
function serversContest(stage: StartStage): Contest {
  const silent = Array.from({ length: 5 }, (_, index) => ({
    name: `silent-${index}`,
    command: "sleep",
    args: ["600"],
    env: [],
  }));
  const run = (mcpServers: readonly object[]) => async (): Promise<Samples> => {
    const wish = { cwd: stage.cwd, mcpServers };
    return { opened: [await timeCall(stage, await stage.folder(), ["session/new", wish])] };
  };
  return {
    name: "servers",
    floor: { name: "keel acp without servers", run: run([]) },
    keel: { name: "keel acp", run: run(silent) },
    figures: [
      {
        key: "opened",
        name: "session/new with five servers that never answer",
        unit: "ms",
        goal: { kind: "value", most: 100 },
      },
    ],
  };
}

/** The sessions are made once: nobody changes them. */
async function listContest(stage: StartStage): Promise<Contest> {
  const { counts, programs, folder } = stage;
  const { listedSessions: sessions } = counts;
  const place = await folder();
  const home = path.join(place, ".keel");
  const { result } = await programs.run<{ directory: string }>("programs/write-logs", {
    home,
    cwd: stage.cwd,
    sessions,
  });
  return {
    name: "list",
    floor: {
      name: "the names, their times, and the first and the last 4 KB of as many files",
      run: async (): Promise<Samples> => {
        const options = { home, cwd: stage.cwd, directory: result.directory };
        return {
          listed: [(await programs.run<{ newestMs: number }>("floors/list-files", options)).result.newestMs],
        };
      },
    },
    keel: {
      name: "keel acp",
      run: async () => ({ listed: [await timeCall(stage, place, ["session/list", { cwd: stage.cwd }])] }),
    },
    figures: [
      {
        key: "listed",
        name: `session/list, the first page of ${sessions.toLocaleString("en")} sessions`,
        unit: "ms",
        goal: { kind: "value", most: 100 },
      },
    ],
  };
}

/** How long one call takes after the introduction. Throws what is answered by an error. */
async function timeCall({ cwd }: StartStage, home: string, call: readonly [string, object]): Promise<number> {
  const env = { PATH: process.env["PATH"], ...keelEnv(home), ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  const child = spawn(command, ["acp"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  try {
    await callOf(child, 0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    const startedAt = performance.now();
    await callOf(child, 1, ...call);
    return performance.now() - startedAt;
  } finally {
    child.stdin.end();
    await ended;
  }
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
    await callOf(child, 0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    const readyAt = performance.now();
    const { sessionId } = await callOf(child, 1, "session/new", { cwd, mcpServers: [] });
    const promptAt = performance.now();
    await callOf(child, 2, "session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
    child.stdin?.end();
    return { readyAt, promptAt };
  });
}

async function callOf(
  child: ChildProcess,
  id: number,
  method: string,
  params: object,
): Promise<Record<string, unknown>> {
  const answered = lineOf(child, (line) => JSON.parse(line).id === id);
  child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  const { result, error } = JSON.parse(await answered);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
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
