// The built `keel bridge` and `keel serve`, each in a home of its own: paired by a code, killed on either side, and the
// session behind the bridge on the terminal of the server's machine.
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import { connect } from "../../keel/src/client/connect.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { randomOf } from "../store/random.ts";
import { countOf, seed } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import { openScreen } from "../tui/screen.ts";
import { asked } from "../tui/stage.ts";
import { type Ended, keel } from "./command.ts";
import { command, openStage, type Stage, until, watch } from "./stage.ts";

type Machines = Stage & {
  readonly url: string;
  /** Of the machine with the server. */
  readonly here: Record<string, string>;
  serve(): Promise<ChildProcess>;
  /** On the machine of the server. */
  run(args: readonly string[]): Promise<Ended>;
  /** On the other one; with its words. */
  bridge(...args: string[]): ReturnType<typeof watch>;
};

/** The stage is the machine behind the bridge: it has the project, the model and the key. */
async function machines(...script: Parameters<typeof openStage>): Promise<Machines> {
  const stage = await openStage(...script);
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-server-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const here = { HOME: folder, KEEL_HOME: path.join(folder, "home") };
  const port = await freePort();
  const started = new Set<ChildProcess>();
  onTestFinished(() => {
    for (const child of started) child.kill("SIGKILL");
  });
  const start = (args: readonly string[], env: Record<string, string>, cwd: string): ChildProcess => {
    const child = spawn(command, args, { cwd, env: { PATH: process.env["PATH"], ...env } });
    started.add(child);
    child.once("exit", () => started.delete(child));
    return child;
  };
  return {
    ...stage,
    url: `http://127.0.0.1:${port}`,
    here,
    async serve() {
      const child = start(["serve", "--port", String(port), "--json"], here, folder);
      const running = watch(child);
      await until("the server", () => running.out().includes("\n") || child.exitCode !== null);
      if (child.exitCode !== null) throw new Error(running.err());
      return child;
    },
    run: (args) => keel(args, { env: here, cwd: folder }),
    bridge: (...args) =>
      watch(
        start(
          ["bridge", `http://127.0.0.1:${port}`, ...args],
          { ...stage.env, KEEL_MODEL: "claude-haiku-4-5" },
          stage.project,
        ),
      ),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === "object" ? address.port : 0;
}

/** A code for a bridge, and whoever comes with it is let in. */
async function code(at: Machines): Promise<string> {
  const child = spawn(command, ["serve", "pair", "--access", "bridge", "--yes", "--json"], {
    env: { PATH: process.env["PATH"], ...at.here },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const running = watch(child);
  await until("a code", () => running.out().includes("\n"));
  return JSON.parse(running.out().split("\n")[0] ?? "").code;
}

async function given(at: Machines, prompt: string): Promise<string> {
  await until("the bridge", async () => (await at.run(["serve", "bridges"])).stdout.includes("connected"));
  const listed = await at.run(["serve", "bridges"]);
  const [id = ""] = listed.stdout.split("  ");
  const work = await at.run(["serve", "bridges", "work", id.slice(0, 8), prompt, "--json"]);
  expect(work).toMatchObject({ code: 0 });
  return JSON.parse(work.stdout).session;
}

describe("keel bridge", () => {
  test("is paired by a code, takes work, and is asked and answered on the other machine's screen", async () => {
    verifies("S4.41", "S4.73", "S4.75", "P26");
    const at = await machines({
      replies: [reply(toolUse("Bash", { command: "echo made > made.txt" })), reply("It is made there.")],
    });
    await at.serve();
    const bridge = at.bridge("--pair", await code(at), "--name", "the lab");
    const session = await given(at, "Make it");
    const screen = openScreen({
      command,
      parameters: ["attach", session],
      cwd: at.here["HOME"] ?? "/",
      env: { PATH: process.env["PATH"], ...at.here },
    });
    onTestFinished(() => screen.kill("SIGKILL"));
    await asked(screen, "echo made > made.txt");
    expect(existsSync(path.join(at.project, "made.txt"))).toBe(false);
    screen.type("\r");
    await screen.until("the reply", ({ text }) => text().includes("It is made there."));
    expect(readFileSync(path.join(at.project, "made.txt"), "utf8")).toBe("made\n");
    const { stdout } = await at.run(["serve", "bridges"]);
    expect(stdout).toContain(`the lab:${at.project}`);
    // Nothing of its log is a session of the server's machine, and its secrets are nobody else's to read.
    expect(openHome({ cwd: "/", env: at.here }).sessions.location(session)).toBeUndefined();
    const kept = path.join(at.home, "bridge");
    for (const name of readdirSync(kept).filter((one) => one.endsWith(".json")))
      expect(statSync(path.join(kept, name)).mode & 0o777).toBe(0o600);
    const said = bridge.out() + bridge.err();
    for (const name of readdirSync(kept).filter((one) => one.endsWith(".json")))
      for (const secret of readFileSync(path.join(kept, name), "utf8").match(/[\w-]{40,}/g) ?? [])
        expect(said).not.toContain(secret);
    bridge.child.kill("SIGTERM");
    expect((await bridge.ended).code).toBe(0);
  });

  test("and its server are killed again and again, and the work is done once", async () => {
    verifies("S4.73");
    const kills = countOf("bridge-kills");
    const random = randomOf(seed());
    const pieces = 6;
    const at = await machines((_, { assistantTurns }) =>
      assistantTurns % 2 === 0
        ? reply(toolUse("Bash", { command: `echo ${assistantTurns} >> trace.txt` }))
        : replyWith({ betweenMs: 10, chunkChars: 5 }, "A reply in some pieces, which take their time."),
    );
    let server = await at.serve();
    let bridge = at.bridge("--pair", await code(at), "--permission-mode", "acceptEdits");
    const session = await given(at, "Word 0");
    const secret = readFileSync(path.join(at.here["KEEL_HOME"] ?? "", "server", "secret"), "utf8").trim();
    const client = connect({ url: at.url, secret });
    onTestFinished(() => client.close());
    const handle = client.attach(session);
    const heard: Durable[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for (;;) {
        try {
          for await (const event of handle.events(heard.at(-1)?.seq ?? 0, stop.signal)) {
            if ("seq" in event && !event.origin) heard.push(event);
            if (event.type === "ask.opened")
              void handle
                .submit({ type: "answer", askId: event.ask.id, answer: { verdict: "allow" } })
                .catch(() => undefined);
          }
          return;
        } catch {
          // It was killed: it comes back.
        }
      }
    })();
    const said: string[] = ["Word 0"];
    for (let count = 0; count < Math.max(kills, pieces); count++) {
      await new Promise((resolve) => setTimeout(resolve, 100 + random.below(700)));
      if (count < kills) {
        if (random.below(2) === 0) {
          server.kill("SIGKILL");
          server = await at.serve();
        } else {
          bridge.child.kill("SIGKILL");
          bridge = at.bridge("--permission-mode", "acceptEdits");
        }
      }
      if (count >= pieces) continue;
      const text = `Word ${count + 1}`;
      const id = crypto.randomUUID();
      for (let tries = 0; ; tries++) {
        try {
          await handle.submit({ type: "input", id, content: [{ type: "text", text }], when: "after" });
          break;
        } catch (thrown) {
          if (tries > 5) throw thrown;
        }
      }
      said.push(text);
    }
    const read = async (): Promise<Durable[]> => {
      const home = openHome({ cwd: at.project, env: at.env });
      try {
        return await Array.fromAsync(home.sessions.read(session));
      } finally {
        await home.close();
      }
    };
    const isDone = (log: readonly Durable[]): boolean => {
      const ended = log.flatMap((event) => (event.type === "turn.finished" ? event.inputIds : []));
      const inputs = log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
      return inputs.length === said.length && inputs.every((id) => ended.includes(id));
    };
    // A question that was open when somebody was killed is asked again.
    const answering = setInterval(() => {
      void handle
        .asks()
        .then((asks) =>
          Promise.all(
            asks.map(({ id }) => handle.submit({ type: "answer", askId: id, answer: { verdict: "allow" } })),
          ),
        )
        .catch(() => undefined);
    }, 500);
    onTestFinished(() => clearInterval(answering));
    const deadline = performance.now() + 120_000;
    while (!isDone(await read())) {
      if (performance.now() > deadline) throw new Error(`not done: ${bridge.err()}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    clearInterval(answering);
    const log = await read();
    await until("the last event", () => heard.at(-1)?.seq === log.at(-1)?.seq);
    stop.abort();
    await following;
    expect(heard).toEqual(log);
    const inputs = log.flatMap((event) =>
      event.type === "input.accepted"
        ? event.input.content.map((block) => ("text" in block ? block.text : ""))
        : [],
    );
    expect(inputs).toEqual(said);
    const calls = log.flatMap((event) => (event.type === "tool.started" ? [event.callId] : []));
    expect(calls).toHaveLength(new Set(calls).size);
    expect(at.sessions()).toEqual([session]);
  }, 3_600_000);

  test("goes over TLS or stays on this machine, and says why it is not let in", async () => {
    const at = await machines({ replies: [] });
    mkdirSync(path.join(at.here["HOME"] ?? "", "x"));
    const open = await keel(["bridge", "http://keel.example"], { env: at.env });
    expect(open).toMatchObject({ code: 64 });
    expect(open.stderr).toContain("https");
    await at.serve();
    const without = await keel(["bridge", at.url], { env: at.env, cwd: at.project });
    expect(without).toMatchObject({ code: 77 });
    expect(without.stderr).toContain("keel serve pair --access bridge");
    const wrong = await keel(["bridge", at.url], {
      env: { ...at.env, KEEL_BRIDGE_SECRET: "wrong" },
      cwd: at.project,
    });
    expect(wrong).toMatchObject({ code: 77 });
    expect(wrong.stderr).toContain("The secret is wrong.");
  });
});
