// A server and a bridge with homes of their own, over real sockets: either may end and start anew, and a proxy between
// them cuts connections.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Home, openHome } from "../../keel/src/app/home.ts";
import { ServedSessions } from "../../keel/src/app/sessions/served-sessions.ts";
import { settingsOf } from "../../keel/src/app/workspaces/official-sdk.ts";
import { WorkspaceWorktrees } from "../../keel/src/app/workspaces/workspace-worktrees.ts";
import { connect, type KeelClient } from "../../keel/src/client/connect.ts";
import { Bridge, type BridgeEnd, type BridgeOptions } from "../../keel/src/hosts/bridge/bridge.ts";
import { BridgeState } from "../../keel/src/hosts/bridge/bridge-state.ts";
import { Doorkeeper } from "../../keel/src/hosts/server/admission.ts";
import { Devices } from "../../keel/src/hosts/server/devices.ts";
import { deviceHandlers, Pairings } from "../../keel/src/hosts/server/pairings.ts";
import { openWebDoor } from "../../keel/src/hosts/server/web-door.ts";
import type { RetryPorts } from "../../keel/src/kernel/backoff.ts";
import type { BridgeConfig, SpawnMode } from "../../keel/src/protocol/bridge.ts";
import { type ModelServerOptions, startModelServer } from "../../keel/src/testing/model-server.ts";
import { type CuttingProxy, cuttingProxy } from "../handle/cutting-proxy.ts";
import { randomOf } from "../store/random.ts";

/** Pauses between tries are as many times shorter. */
const hurry = 40;
/** Silence is found sooner than in life, and late enough for a busy machine: a side that is slow is not gone. */
const silentMs = 2_000;
const pingMs = 500;

/** Nobody gives up within a test: that has a test of its own, on a clock that it moves. */
const quickRetry: RetryPorts = {
  clock: {
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, ms / hurry);
        if (signal.aborted) end();
        else signal.addEventListener("abort", end);
      }),
  },
  draw: () => 0,
};

export type BridgeStage = {
  readonly folder: string;
  readonly proxy: CuttingProxy;
  /** What the bridge calls the server by. */
  readonly url: string;
  readonly devices: Devices;
  /** What lets a bridge in, and the person. */
  readonly bridgeSecret: string;
  readonly ownSecret: string;
  served(): ServedSessions;
  restartServer(): Promise<void>;
  /** Of the person, past the proxy. */
  client(): KeelClient;
  /** A bridge over the home there; its folder is `dir`. */
  startBridge(more?: StartBridge): Promise<RunningBridge>;
  readonly dir: string;
  /** The home of the machine behind the bridge. */
  there(): Home;
};

export type StartBridge = Partial<
  Pick<BridgeOptions, "via" | "retry" | "secret" | "url" | "sessionOptions">
> & {
  readonly spawnMode?: SpawnMode;
  readonly maxSessions?: number;
  readonly config?: Partial<BridgeConfig>;
};

export type RunningBridge = {
  readonly bridge: Bridge;
  readonly ended: Promise<BridgeEnd>;
  readonly said: string[];
  readonly state: BridgeState;
  readonly served: ServedSessions;
  /** A line as the server would say it. */
  hear(line: string): void;
  /** In order, as a signal would. */
  stop(): Promise<void>;
};

export async function bridgeStage(script: ModelServerOptions["script"]): Promise<BridgeStage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-bridge-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dir = path.join(folder, "there", "work");
  mkdirSync(dir, { recursive: true });
  mkdirSync(path.join(folder, "here"));
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  const envOf = (place: "here" | "there") => ({
    PATH: process.env["PATH"],
    HOME: path.join(folder, place),
    KEEL_HOME: path.join(folder, place, "home"),
    ...(place === "there"
      ? { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "test-key", KEEL_MODEL: "claude-haiku-4-5" }
      : {}),
  });
  const proxy = await cuttingProxy(randomOf(1));
  const devices = await Devices.open(path.join(folder, "here", "home", "server"), () => Date.now());
  const { secret: bridgeSecret } = await devices.add("a bridge", "bridge");
  const { secret: ownSecret } = await devices.add("a person", "work");
  let boots = 0;
  let running: { served: ServedSessions; port: number; end(): Promise<void> } | undefined;
  const startServer = async (): Promise<void> => {
    const boot = `b${++boots}`;
    const home = openHome({ cwd: folder, env: envOf("here") });
    const pairings = new Pairings({
      add: (name, access) => devices.add(name, access),
      now: () => Date.now(),
    });
    const served = new ServedSessions({
      home,
      env: envOf("here"),
      version: "0",
      boot,
      pid: process.pid,
      clients: () => 0,
      devices: deviceHandlers({ devices, pairings, connected: () => 0, url: () => undefined }),
    });
    const hosts = new Set([`127.0.0.1:${proxy.port}`]);
    const door = openWebDoor({
      served,
      hello: { keel: "0", boot },
      devices,
      pairings,
      keeper: new Doorkeeper({
        devices,
        names: () => ({ hosts, origins: new Set() }),
        now: () => Date.now(),
      }),
      limits: { pingMs },
    });
    await new Promise<void>((resolve) => door.server.listen(0, "127.0.0.1", resolve));
    const address = door.server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    proxy.target = port;
    running = {
      served,
      port,
      async end() {
        proxy.target = undefined;
        await served.close();
        door.close();
      },
    };
  };
  await startServer();
  onTestFinished(() => running?.end());
  const now = () => {
    if (!running) throw new Error("the server does not run");
    return running;
  };
  let there: Home | undefined;
  return {
    folder,
    proxy,
    url: `http://127.0.0.1:${proxy.port}`,
    devices,
    bridgeSecret,
    ownSecret,
    served: () => now().served,
    async restartServer() {
      await now().end();
      await startServer();
    },
    client() {
      const client = connect({ url: `http://127.0.0.1:${now().port}`, secret: ownSecret });
      onTestFinished(() => client.close());
      return client;
    },
    dir,
    there: () => {
      if (!there) throw new Error("no bridge has run");
      return there;
    },
    async startBridge({ spawnMode = "same-dir", maxSessions = 4, config = {}, ...more } = {}) {
      const env = envOf("there");
      const home = openHome({ cwd: dir, env });
      there = home;
      const url = more.url ?? `http://127.0.0.1:${proxy.port}`;
      const state = await BridgeState.open(path.join(home.path, "bridge"), { url, dir });
      const said: string[] = [];
      const served = new ServedSessions({
        home,
        version: "0",
        env,
        boot: crypto.randomUUID(),
        pid: process.pid,
        clients: () => 0,
        keptIn: path.join("bridge", state.environmentId),
        peers: { send: (from, to, words) => bridge.sendMessage(from, to, words) },
      });
      const worktrees = new WorkspaceWorktrees({
        env,
        guard: home.openGuard(env),
        hold: (name) => home.hold(name),
        isTrusted: async (cwd) => (await settingsOf({ cwd, env, home: home.path })).isTrusted,
        newName: () => crypto.randomUUID().slice(-12),
      });
      const bridge = new Bridge({
        url,
        secret: bridgeSecret,
        config: {
          dir,
          machineName: "far away",
          branch: "main",
          maxSessions,
          spawnMode,
          bridgeId: crypto.randomUUID(),
          environmentId: state.environmentId,
          ...config,
        },
        state,
        served,
        worktrees,
        retry: quickRetry,
        sessionOptions: {},
        silentMs,
        say: (words) => said.push(words),
        ...more,
      });
      const ended = bridge.run();
      ended.catch(() => undefined);
      const stop = async (): Promise<void> => {
        bridge.stop();
        await ended.catch(() => undefined);
        await served.close();
        await worktrees.close();
      };
      onTestFinished(stop);
      return { bridge, ended, said, state, served, hear: (line) => bridge.hear(line), stop };
    },
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await pause(5);
  }
}
