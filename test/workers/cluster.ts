// Several servers as real processes on one real database, each behind a way of its own that can be cut.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { ServerState } from "../../keel/src/app/sessions/home-server.ts";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { command } from "../e2e/stage.ts";
import { type Cutter, openCutter } from "../support/cutter.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";

export type WorkerProcess = {
  readonly name: string;
  readonly cutter: Cutter;
  /** Undefined while it is down. */
  current:
    | { readonly child: ChildProcess; readonly state: ServerState; readonly client: KeelClient }
    | undefined;
  start(): Promise<void>;
  /** Whatever it does, it is over. */
  kill(signal?: NodeJS.Signals): Promise<void>;
};

export type Cluster = {
  readonly server: Postgres;
  readonly schema: string;
  readonly url: string;
  readonly project: string;
  readonly effects: string;
  readonly model: ModelServer;
  readonly workers: readonly WorkerProcess[];
};

export async function openCluster(count: number): Promise<Cluster> {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-workers-")));
  const project = path.join(base, "project");
  mkdirSync(project);
  const effects = path.join(base, "effects");
  writeFileSync(effects, "");
  // Whoever runs it leaves a trace that nothing takes back.
  writeFileSync(path.join(project, "record.sh"), `echo "$1" >> ${effects}\n`);
  const server = await startPostgres();
  const schema = await server.schema();
  const model = await startModelServer({ script: (body) => replyTo(body), law: "none" });
  const workers: WorkerProcess[] = [];
  onTestFinished(async () => {
    for (const worker of workers) {
      await worker.kill();
      await worker.cutter.close();
    }
    await model.close();
    await server.close();
    rmSync(base, { recursive: true, force: true });
  });
  for (let index = 0; index < count; index++)
    workers.push(await workerProcess(`w${index}`, { base, project, model, server, schema }));
  await Promise.all(workers.map((worker) => worker.start()));
  return { server, schema, url: server.url(schema), project, effects, model, workers };
}

async function workerProcess(
  name: string,
  at: { base: string; project: string; model: ModelServer; server: Postgres; schema: string },
): Promise<WorkerProcess> {
  const cutter = await openCutter(at.server.port);
  const home = path.join(at.base, name);
  let port = "0";
  const env = {
    PATH: process.env["PATH"],
    HOME: path.join(at.base, `${name}-home`),
    KEEL_HOME: home,
    ANTHROPIC_BASE_URL: at.model.url,
    ANTHROPIC_API_KEY: "test-key",
  };
  mkdirSync(env.HOME);
  const worker: WorkerProcess = {
    name,
    cutter,
    current: undefined,
    async start() {
      const store = at.server.url(at.schema, { port: cutter.port });
      const child = spawn(command, ["serve", "--json", "--port", port, "--store", store], {
        cwd: at.project,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      for await (const line of createInterface({ input: child.stdout })) {
        const state: ServerState = JSON.parse(line);
        const url = state.url ?? "";
        // The next one of this home is found at the same place.
        port = new URL(url).port;
        const secret = (await readFile(state.secretFile, "utf8")).trim();
        worker.current = { child, state, client: connect({ url, secret }) };
        return;
      }
      throw new Error(`${name} said nothing`);
    },
    async kill(signal = "SIGKILL") {
      const { current } = worker;
      worker.current = undefined;
      if (!current) return;
      current.client.close();
      const ended = new Promise((resolve) => current.child.once("exit", resolve));
      if (current.child.exitCode === null && current.child.signalCode === null) {
        current.child.kill("SIGCONT");
        current.child.kill(signal);
        await ended;
      }
    },
  };
  return worker;
}

/** By what was said last, so that the same is said when it is asked again. */
function replyTo(body: unknown): Reply {
  const messages = (body as { messages: { role: string; content: { type: string; text?: string }[] }[] })
    .messages;
  const last = messages.at(-1)?.content ?? [];
  if (last.some(({ type }) => type === "tool_result")) return reply("Done.");
  const texts = last.flatMap(({ type, text = "" }) => (type === "text" ? [text] : []));
  const [, kind = "", id = ""] =
    texts.map((text) => /(plain|tool|ask|agent|part|slow) ([0-9a-f-]{36})/.exec(text)).findLast(Boolean) ??
    [];
  if (kind === "tool" || kind === "part") return reply(toolUse("Bash", { command: `sh record.sh ${id}` }));
  if (kind === "ask") return reply(toolUse("Bash", { command: `touch asked-${id}` }));
  if (kind === "agent")
    return reply(toolUse("Agent", { description: "a part", prompt: `part ${id}`, run_in_background: false }));
  if (kind === "slow") return replyWith({ delayMs: 1_500 }, `Slowly: ${id}.`);
  return reply(`Answer to ${id}.`);
}
