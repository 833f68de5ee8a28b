/** The console as people have it: the built command serves it, a real browser shows it, a scripted model answers. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Browser, BrowserContext } from "playwright-core";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { encodeHeader, encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { launchChromium } from "../../test/support/chromium.ts";
import { type BenchServer, startBenchServer } from "../model-server.ts";
import type { Bench } from "../suites/suite.ts";
import { typicalEvents } from "../workloads/events.ts";
import { type BareServer, startBareServer } from "./bare-page.ts";

const repository = path.resolve(import.meta.dirname, "../..");

export type ConsoleStage = {
  readonly url: string;
  /** Of the server. */
  readonly pid: number;
  readonly client: KeelClient;
  readonly model: BenchServer;
  readonly bare: BareServer;
  readonly browser: Browser;
  /** Let in; what it keeps stays from page to page. */
  readonly visitor: BrowserContext;
  /** Let in as well, with nothing kept yet. */
  newcomer(): Promise<BrowserContext>;
  /** Of the bare page, which has nothing to keep. */
  readonly stranger: BrowserContext;
  /** A session with about so many events, in a workspace of its own. */
  session(wish: SessionWish): Promise<WrittenSession>;
  readonly cwd: string;
  /** Of the server, and of whoever joins it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  close(): Promise<void>;
};

export type SessionWish = { readonly events: number; readonly resultBytes: number };

export type WrittenSession = {
  readonly id: string;
  /** Of its page. */
  readonly path: string;
  readonly seq: number;
  /** Their inputs are `input-1` and so on. */
  readonly turns: number;
};

/** Throws where nothing was built: the console is measured as users get it. */
export async function openConsoleStage({ programs, folder }: Bench): Promise<ConsoleStage> {
  if (!existsSync(path.join(repository, "keel/dist/web")))
    throw new Error("The suite console needs a build: npm run build.");
  const home = await folder();
  const cwd = await folder();
  const model = await startBenchServer(programs.pathOf("programs/model-server"));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    KEEL_HOME: home,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "bench",
    IS_SANDBOX: "1",
  };
  const server = await startServer(cwd, env);
  const secret = (await readFile(path.join(home, "server/secret"), "utf8")).trim();
  const client = connect({ url: server.url, secret });
  const browser = await launchChromium();
  const viewport = { viewport: { width: 1440, height: 900 } };
  const newcomer = async (): Promise<BrowserContext> => {
    const visitor = await browser.newContext(viewport);
    const door = await visitor.newPage();
    await door.goto(await client.devices.link());
    await door.getByRole("main").waitFor();
    await door.close();
    return visitor;
  };
  const visitor = await newcomer();
  const bare = await startBareServer();
  return {
    url: server.url,
    pid: server.pid,
    client,
    model,
    bare,
    browser,
    visitor,
    newcomer,
    stranger: await browser.newContext(viewport),
    cwd,
    env,
    async session(wish) {
      const written = await writeLog(home, cwd, wish);
      const workspace = await client.workspaces.createWorkspace({
        cwd,
        title: `${wish.events} events`,
        workers: [{ kind: "agent", session: written.id }],
      });
      return { ...written, path: `/workspaces/${workspace.id}` };
    },
    async close() {
      client.close();
      await browser.close();
      await Promise.all([bare.close(), server.close(), model.close()]);
    },
  };
}

async function startServer(cwd: string, env: ConsoleStage["env"]) {
  const child = spawn(path.join(repository, "node_modules/.bin/keel"), ["serve", "--port", "0", "--json"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, pid } = JSON.parse(line) as { url: string; pid: number };
    return {
      url,
      pid,
      async close() {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error("The server did not start.");
}

/** Whole turns: a session that stopped in the middle of one would go on with it. */
async function writeLog(
  home: string,
  cwd: string,
  { events, resultBytes }: SessionWish,
): Promise<Omit<WrittenSession, "path">> {
  const id = randomUUID();
  const place = path.join(home, "projects", "bench");
  await mkdir(place, { recursive: true, mode: 0o700 });
  const all = typicalEvents({ count: Math.max(events, eventsOfTurn), resultBytes, session: id });
  const whole = all.slice(0, all.findLastIndex(({ type }) => type === "turn.finished") + 1);
  const lines = whole.map((event): Durable => (event.type === "session.opened" ? { ...event, cwd } : event));
  const bytes = [encodeHeader({ session: id, cwd, at: 1 }), ...lines.map(encodeRecord)];
  await writeFile(path.join(place, `${id}.jsonl`), Buffer.concat(bytes), { mode: 0o600 });
  const turns = whole.filter(({ type }) => type === "turn.finished").length;
  return { id, seq: whole.length, turns };
}

/** At least; the first has two more. */
const eventsOfTurn = 60;
