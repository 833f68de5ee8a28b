// The built `keel serve` as those who have no business there find it: its address, its process, and what it has done.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import { type ModelServer, startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { launcher } from "./command.ts";

export type DoorServer = {
  readonly folder: string;
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly socket: string;
  readonly secretFile: string;
  readonly secret: string;
  readonly link: string;
  /** The code of the link that it printed. */
  readonly startCode: string;
  readonly model: ModelServer;
  /** Somebody who has business there. */
  readonly client: KeelClient;
  /** All that it printed. */
  said(): string;
  /** What it holds in memory right now, in MB. */
  rssMb(): number;
  close(): Promise<void>;
};

export type DoorServerOptions = {
  readonly args?: readonly string[];
  readonly script?: (turn: number) => Reply;
};

export async function startDoorServer({
  args = [],
  script = () => reply("Hello."),
}: DoorServerOptions = {}): Promise<DoorServer> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-door-")));
  const cwd = path.join(folder, "work");
  const home = path.join(folder, "home");
  mkdirSync(cwd);
  const model = await startModelServer({ script: (_, asked) => script(asked.assistantTurns) });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    KEEL_HOME: home,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "test-key",
    IS_SANDBOX: "1",
  };
  const child = spawn(launcher, ["serve", "--port", "0", "--json", ...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const first = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      said += `${line}\n`;
      resolve(line);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const state: { pid: number; url: string; socket: string; secretFile: string; link: string } =
    JSON.parse(first);
  const secret = readFileSync(state.secretFile, "utf8").trim();
  const client = connect({ url: state.url, secret });
  return {
    ...state,
    folder,
    home,
    cwd,
    env,
    child,
    port: Number(new URL(state.url).port),
    secret,
    startCode: new URL(state.link).searchParams.get("token") ?? "",
    model,
    client,
    said: () => said,
    rssMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${state.pid}/status`, "utf8"))?.[1] ?? 0) / 1024,
    async close() {
      client.close();
      child.kill("SIGKILL");
      await model.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
