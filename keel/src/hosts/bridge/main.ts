/** `keel bridge URL`: offers a folder of this machine to a server elsewhere, and works there what it is given. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { type Home, openHome } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { settingsOf } from "../../app/workspaces/official-sdk.ts";
import { WorkspaceWorktrees } from "../../app/workspaces/workspace-worktrees.ts";
import { branchOf } from "../../config/definitions/git-head.ts";
import { fault } from "../../kernel/fault.ts";
import { asObject, parseJson } from "../../kernel/json.ts";
import { maxBridgeSessions, type SpawnMode } from "../../protocol/bridge.ts";
import { silentMs } from "../../protocol/wire.ts";
import type { ChannelVia } from "../../transport/node/channel-wire.ts";
import { Bridge, type BridgeEnd } from "./bridge.ts";
import { BridgeState } from "./bridge-state.ts";

export type BridgeWishes = {
  readonly url: string;
  /** What lets it in; what was kept of an earlier pairing when left out. */
  readonly secret?: string | undefined;
  readonly dir: string;
  readonly name?: string | undefined;
  readonly spawnMode: SpawnMode;
  readonly maxSessions: number;
  readonly via?: ChannelVia | undefined;
  readonly sessionOptions: Readonly<Record<string, string | boolean>>;
};

export type BridgeContext = {
  readonly version: string;
  readonly env: OpenOptions["env"];
  readonly cwd: string;
  say(words: string): void;
  /** Fires when it is to end. */
  readonly stopped: AbortSignal;
};

/** Resolves when it has ended. Throws `usage`, `bridge_refused`, and `session_busy` where this folder has a bridge. */
export async function runBridge(wishes: BridgeWishes, context: BridgeContext): Promise<BridgeEnd> {
  const { version, env, cwd, say, stopped } = context;
  const url = safeOrigin(wishes.url);
  if (wishes.maxSessions > maxBridgeSessions)
    throw fault("usage", { reason: `At most ${maxBridgeSessions} sessions at once.` });
  const dir = await realpath(path.resolve(cwd, wishes.dir)).catch(() => {
    throw fault("usage", { reason: `There is no folder ${wishes.dir}` });
  });
  await using home = openHome({ cwd: dir, env });
  const secret = wishes.secret ?? (await keptSecret(home, url));
  if (secret === undefined) throw fault("bridge_refused", { reason: "there is no secret for it here." });
  const state = await BridgeState.open(path.join(home.path, "bridge"), { url, dir });
  const lease = await home.hold(`bridge-${state.environmentId}`);
  const served = new ServedSessions({
    home,
    version,
    env,
    boot: randomUUID(),
    pid: process.pid,
    clients: () => 0,
    keptIn: path.join("bridge", state.environmentId),
    peers: { send: (from, to, words) => bridge.sendMessage(from, to, words) },
  });
  const worktrees = new WorkspaceWorktrees({
    env,
    guard: home.openGuard(env),
    hold: (name) => home.hold(name),
    isTrusted: async (folder) => (await settingsOf({ cwd: folder, env, home: home.path })).isTrusted,
    newName: () => randomUUID().slice(-12),
  });
  const bridge = new Bridge({
    url,
    secret,
    config: {
      dir,
      machineName: wishes.name ?? hostname(),
      branch: await branchOf(dir),
      maxSessions: wishes.spawnMode === "single-session" ? 1 : wishes.maxSessions,
      spawnMode: wishes.spawnMode,
      bridgeId: randomUUID(),
      environmentId: state.environmentId,
    },
    state,
    served,
    worktrees,
    retry: { clock: home.clock, draw: () => home.ids.random() },
    via: wishes.via,
    sessionOptions: wishes.sessionOptions,
    silentMs,
    say,
  });
  const stop = (): void => bridge.stop();
  stopped.addEventListener("abort", stop, { once: true });
  if (stopped.aborted) stop();
  try {
    return await bridge.run();
  } finally {
    stopped.removeEventListener("abort", stop);
    await served.close();
    await worktrees.close();
    await lease.release();
  }
}

/** A secret goes over TLS, or stays on this machine. Throws `usage`. */
export function safeOrigin(given: string): string {
  if (!URL.canParse(given)) throw fault("usage", { reason: `Not the address of a server: ${given}` });
  const { protocol, hostname: name, origin, username } = new URL(given);
  const isHere = ["127.0.0.1", "[::1]", "localhost"].includes(name) || name.endsWith(".localhost");
  if ((protocol !== "https:" && !(protocol === "http:" && isHere)) || username !== "")
    throw fault("usage", {
      reason: "A server on another machine is called by https: its secret would be read.",
    });
  return origin;
}

const secretsFile = (home: Pick<Home, "path">): string => path.join(home.path, "bridge", "secrets.json");

/** What pairing gave earlier, by the address, or by another name for another use of it. */
export async function keptSecret(home: Pick<Home, "path">, url: string): Promise<string | undefined> {
  const kept = asObject(parseJson(await readFile(secretsFile(home), "utf8").catch(() => "")))[url];
  return typeof kept === "string" ? kept : undefined;
}

/** What pairing gave, for the next start. */
export async function keepSecret(home: Pick<Home, "path">, url: string, secret: string): Promise<void> {
  const file = secretsFile(home);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const kept = asObject(parseJson(await readFile(file, "utf8").catch(() => "")));
  await writeFile(`${file}.new`, `${JSON.stringify({ ...kept, [url]: secret })}\n`, {
    mode: 0o600,
    flush: true,
  });
  await rename(`${file}.new`, file);
}
