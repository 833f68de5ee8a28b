// `keel ssh` with a program in place of ssh, whose line is slow and cut: nothing that happens there is lost or told twice,
// and nothing there ends with the line. What is missing there is said plainly.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHome } from "../../keel/src/app/home.ts";
import { readServerState } from "../../keel/src/app/sessions/home-server.ts";
import { clientOver, type KeelClient, webPorts } from "../../keel/src/client/connect.ts";
import type { LinkTimers } from "../../keel/src/client/link.ts";
import { wireLink } from "../../keel/src/client/wire-link.ts";
import { SshLine } from "../../keel/src/hosts/cli/ssh/ssh-line.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import { asksNowAndThen } from "../handle/several-hands.ts";
import { type FakeSsh, fakeSsh, install } from "../ssh/fake-ssh.ts";
import { startSshd } from "../ssh/real-sshd.ts";
import { countOf, seed } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { openScreen } from "../tui/screen.ts";
import { ready } from "../tui/stage.ts";
import { keel } from "./command.ts";
import { command, openStage, type Stage, until } from "./stage.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Silence is found sooner, so that a test need not wait for it; a busy machine may still take two seconds to answer. */
const hurry = 4;
const quickTimers: LinkTimers = {
  every(ms, tick) {
    const timer = setInterval(tick, ms / hurry);
    return () => clearInterval(timer);
  },
  now: () => performance.now() * hurry,
};

type OtherMachine = Stage & {
  readonly ssh: FakeSsh;
  /** What its shell has. */
  readonly there: Record<string, string>;
  /** Here, where nothing of it is known. */
  readonly here: Record<string, string>;
};

/** The stage is the other machine; here is a home that knows nothing of it. */
async function otherMachine(...script: Parameters<typeof openStage>): Promise<OtherMachine> {
  const stage = await openStage(...script);
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-ssh-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(() => stopServer(stage.home));
  install(command, path.join(folder, "bin"));
  mkdirSync(path.join(folder, "here"));
  const there = {
    ...stage.env,
    HOME: path.dirname(stage.home),
    KEEL_MODEL: "claude-haiku-4-5",
    PATH: `${path.join(folder, "bin")}:${process.env["PATH"]}`,
  };
  const ssh = fakeSsh(path.join(folder, "fake"), { env: there });
  const here = {
    HOME: path.join(folder, "here"),
    KEEL_HOME: path.join(folder, "here", ".keel"),
    KEEL_SSH_COMMAND: ssh.program,
    ...ssh.env,
  };
  return { ...stage, ssh, there, here };
}

async function stopServer(home: string): Promise<void> {
  const state = await readServerState(home);
  if (!state) return;
  try {
    process.kill(state.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function clientBy(machine: OtherMachine, program: string = machine.ssh.program): KeelClient {
  const line = new SshLine({
    destination: "there",
    folder: machine.project,
    keel: "keel",
    program: [program],
    env: { PATH: process.env["PATH"], ...machine.here },
  });
  // Opening takes as long as a machine needs to start Node: that is not hurried.
  const link = wireLink({ open: (signal) => line.open(signal), timers: quickTimers, openMs: 30_000 * hurry });
  const client = clientOver(link, webPorts());
  onTestFinished(() => client.close());
  return client;
}

const logOf = async (machine: OtherMachine, session: string): Promise<Durable[]> => {
  const home = openHome({ cwd: machine.project, env: machine.there });
  try {
    return await Array.fromAsync(home.sessions.read(session));
  } finally {
    await home.close();
  }
};

/** Follows from the first event on, answers what is asked, and says something again and again until it is enough. */
async function converse(
  client: KeelClient,
  session: string,
  isEnough: () => boolean,
): Promise<{ heard: Durable[]; said: string[]; answered: number }> {
  const handle = client.attach(session);
  const heard: Durable[] = [];
  const said: string[] = [];
  let answered = 0;
  const stop = new AbortController();
  let turns = 0;
  const answering: Promise<void>[] = [];
  const following = (async () => {
    for await (const event of handle.events(0, stop.signal)) {
      if ("seq" in event && !event.origin) heard.push(event);
      if (event.type === "turn.finished") turns++;
      if (event.type === "ask.opened")
        answering.push(
          handle
            .submit({ type: "answer", askId: event.ask.id, answer: { verdict: "allow" } })
            .then(({ type }) => {
              if (type === "answered") answered++;
            }),
        );
    }
  })();
  while (!isEnough()) {
    const id = crypto.randomUUID();
    const content = [{ type: "text" as const, text: `Word ${said.length}` }];
    expect(await handle.submit({ type: "input", id, content })).toMatchObject({ duplicate: false });
    said.push(id);
    await until("the end of its turn", () => turns >= said.length);
  }
  await Promise.all(answering);
  // What is only asked is asked again where a cut took the answer.
  await until("the last event", async () => {
    const { seq } = await client.session(session).catch(() => ({ seq: -1 }));
    return heard.at(-1)?.seq === seq;
  });
  stop.abort();
  await following;
  return { heard, said, answered };
}

/** Every event once and in order, as the log has it; every input and every answer once. */
function expectWhole(
  log: readonly Durable[],
  { heard, said, answered }: Awaited<ReturnType<typeof converse>>,
) {
  expect(heard).toEqual(log);
  expect(log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []))).toEqual(said);
  const opened = log.filter(({ type }) => type === "ask.opened").length;
  expect(answered).toBe(opened);
  expect(log.filter(({ type }) => type === "ask.closed")).toHaveLength(opened);
}

describe("a line that is cut", () => {
  test("costs nobody an event, a command or an answer, and ends nothing there", async () => {
    verifies("S4.39");
    const wanted = countOf("ssh-cuts");
    const machine = await otherMachine(asksNowAndThen);
    machine.ssh.change({ seed: seed(), cuts: wanted, maxBytes: 6_000 });
    const client = clientBy(machine);
    const { id: session } = await client.open({ cwd: machine.project });
    const { pid } = await client.status();
    // The first line is never cut by itself.
    process.kill(machine.ssh.opened()[0]?.pid ?? 0, "SIGKILL");
    const whole = await converse(client, session, () => machine.ssh.opened().length > wanted + 1);
    expectWhole(await logOf(machine, session), whole);
    expect(whole.answered).toBeGreaterThan(0);
    expect((await client.status()).pid).toBe(pid);
    // A screen may be in front of a line that comes back: it is never asked anything there.
    const [first, ...later] = machine.ssh.opened();
    expect(first?.given).not.toContain("BatchMode=yes");
    for (const { given } of later) expect(given).toContain("BatchMode=yes");
  }, 3_600_000);

  test("leaves nobody behind there when whoever came has gone", async () => {
    const machine = await otherMachine({ replies: [reply("Here.")] });
    const client = clientBy(machine);
    await client.greeting();
    const { clients } = await client.status();
    expect(clients).toBe(1);
    client.close();
    const another = clientBy(machine);
    await until("the way is gone", async () => (await another.status()).clients === 1);
  });
});

describe("keel ssh", () => {
  test("shows a session there on the screen; no key that is typed over a slow line with cuts is lost", async () => {
    verifies("S4.39");
    const words = (number: number): string => `typed-${number} äöü 'quoted' $HOME`;
    const machine = await otherMachine((_, { assistantTurns }) =>
      replyWith({ betweenMs: 5, chunkChars: 10 }, `Answer ${assistantTurns} of some length to that.`),
    );
    machine.ssh.change({ seed: seed(), cuts: 3, maxBytes: 20_000, delayMs: 200 });
    const screen = openScreen({
      command,
      parameters: ["ssh", "somebody@there", machine.project],
      cwd: machine.here["HOME"] ?? "/",
      env: { PATH: process.env["PATH"], ...machine.here },
    });
    onTestFinished(() => screen.kill("SIGKILL"));
    await ready(screen);
    const lines = () => machine.ssh.opened().map(({ pid }) => pid);
    for (let number = 0; number < 4; number++) {
      const text = words(number);
      for (const [at, letter] of [...text].entries()) {
        screen.type(letter);
        // In the middle of a word the line goes.
        if (at === 5) process.kill(lines().at(-1) ?? 0, "SIGKILL");
      }
      screen.type("\r");
      await screen.until("its answer", ({ text: all }) =>
        all().includes(`Answer ${number} of some length to that.`),
      );
      await ready(screen);
    }
    screen.type("\u0004");
    expect((await screen.ended).code).toBe(0);
    await screen.settled();
    const [session = ""] = machine.sessions();
    expect(screen.text()).toContain(`keel ssh somebody@there --resume ${session}`);
    const inputs = (await logOf(machine, session)).flatMap((event) =>
      event.type === "input.accepted" ? [event.input.content] : [],
    );
    expect(inputs).toEqual([0, 1, 2, 3].map((number) => [{ type: "text", text: words(number) }]));
    expect(lines().length).toBeGreaterThanOrEqual(5);
    expect(machine.ssh.opened()[0]?.given).toContain("somebody@there");
    // Nothing of it was left here.
    expect(openHome({ cwd: "/", env: machine.here }).sessions.location(session)).toBeUndefined();
  }, 120_000);

  test("goes on with a session there, by lines where there is no terminal", async () => {
    const machine = await otherMachine({ replies: [reply("The first."), reply("The second.")] });
    const run = (args: string[], stdin: string) =>
      keel(["ssh", "there", ...args], { env: { PATH: process.env["PATH"] ?? "", ...machine.here }, stdin });
    const first = await run([machine.project], "One\n");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain("The first.");
    const second = await run([machine.project, "--continue"], "Two\n");
    expect(second.stdout).toContain("The second.");
    const [session = ""] = machine.sessions();
    expect(machine.sessions()).toHaveLength(1);
    expect(machine.log(session).filter(({ type }) => type === "turn.finished")).toHaveLength(2);
  });

  test("says plainly what is missing there", async () => {
    verifies("S4.39");
    const machine = await otherMachine({ replies: [] });
    const run = (...args: string[]) =>
      keel(["ssh", ...args], { env: { PATH: process.env["PATH"] ?? "", ...machine.here } });
    machine.ssh.change({
      env: { ...machine.there, PATH: "/usr/bin:/bin" },
      noise: "Welcome!\nno newline here",
    });
    const without = await run("there");
    expect(without.code).toBe(78);
    expect(without.stderr).toMatch(/there has no Keel/);
    const bin = path.join(machine.there["HOME"] ?? "", "old");
    const stub = (text: string): void => {
      rmSync(bin, { recursive: true, force: true });
      mkdirSync(bin);
      writeFileSync(path.join(bin, "keel"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    };
    machine.ssh.change({ env: { ...machine.there, PATH: `${bin}:/usr/bin:/bin` } });
    stub('echo "keel: needs Node 24 or newer, but found 18.1.0." >&2; exit 78');
    const old = await run("there");
    expect(old.code).toBe(78);
    expect(old.stderr).toContain("it does not start: keel: needs Node 24 or newer, but found 18.1.0.");
    stub('if [ "$1" = --version ]; then echo 0.0.1; exit 0; fi; echo "Unknown option" >&2; exit 64');
    const older = await run("there");
    expect(older.code).toBe(78);
    expect(older.stderr).toContain("there has Keel 0.0.1, which cannot be attached to over ssh");
    stub("kill -9 $$");
    const killed = await run("there");
    expect(killed.code).toBe(69);
    expect(killed.stderr).not.toContain("does not start");
    machine.ssh.change({ env: machine.there });
    const folder = await run("there", "/no/such folder'");
    expect(folder.code).toBe(78);
    expect(folder.stderr).toContain("has no folder /no/such folder'");
    const nowhere = await run("nowhere");
    expect(nowhere.code).toBe(69);
    expect(nowhere.stderr).toContain("Could not resolve hostname nowhere");
    const option = await run("--", "-oProxyCommand=evil");
    expect(option.code).toBe(64);
    expect(machine.ssh.opened().some(({ given }) => given.includes("-oProxyCommand=evil"))).toBe(false);
  });
});

describe("a real sshd on this machine", () => {
  test("the line is cut and comes back, and the work there goes on", async () => {
    verifies("S4.39");
    const machine = await otherMachine(asksNowAndThen);
    const sshd = await startSshd(machine.there);
    if (typeof sshd === "string") return notRunHere("keel ssh by a real sshd", sshd);
    const line = new SshLine({
      destination: sshd.destination,
      folder: machine.project,
      keel: "keel",
      program: sshd.command,
      env: { PATH: process.env["PATH"], ...machine.here },
    });
    const client = clientOver(
      wireLink({ open: (signal) => line.open(signal), timers: quickTimers, openMs: 30_000 * hurry }),
      webPorts(),
    );
    onTestFinished(() => client.close());
    const { id: session } = await client.open({ cwd: machine.project });
    const { pid } = await client.status();
    const wanted = countOf("sshd-cuts");
    let cuts = 0;
    const cutting = (async () => {
      for (; cuts < wanted; cuts++) {
        // The line is there again: cut while it is opened, it would never be.
        const isThere = () =>
          client.status().then(
            () => true,
            () => false,
          );
        await until("the line is there", isThere);
        await pause(100);
        if (cuts % 2 === 0) sshd.cutHere();
        else sshd.cutThere();
      }
    })();
    const [whole] = await Promise.all([converse(client, session, () => cuts >= wanted), cutting]);
    expectWhole(await logOf(machine, session), whole);
    await until("the server that was there before", () =>
      client.status().then(
        (status) => status.pid === pid,
        () => false,
      ),
    );
  }, 3_600_000);
});
