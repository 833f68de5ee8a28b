/** The proxy of the sandbox on a stage: real hosts on loopback addresses of their own, names by a table, real programs. */
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { noRules } from "../../keel/src/policy/decide.ts";
import { type HostEntry, hostLists, readHostEntry } from "../../keel/src/policy/network-hosts.ts";
import type { EgressPass } from "../../keel/src/ports/sandbox.ts";
import { newAuthority } from "../../keel/src/workspace/sandbox/proxy/certificates.ts";
import { innerOf } from "../../keel/src/workspace/sandbox/proxy/gatekeeper.ts";
import {
  type ProxyOptions,
  type ProxyPass,
  SandboxProxy,
} from "../../keel/src/workspace/sandbox/proxy/proxy.ts";

export const entries = (texts: readonly string[], list: "allowed" | "denied" = "allowed"): HostEntry[] =>
  texts.map((text) => {
    const read = readHostEntry(text, list);
    if (!read.ok) throw new Error(`${text}: ${read.error}`);
    return read.value;
  });

/** Loopback has a whole network: who listens on .2 is not reached by a way to .1. */
export const hostAddress = "127.0.0.2";

export type Host = {
  readonly port: number;
  readonly connections: () => number;
  readonly seen: IncomingMessage[];
  close(): Promise<void>;
};

/** Vouches for the hosts of a test, and is believed by the proxy only. */
export const testAuthority = newAuthority(Date.now(), "keel tests");

export async function openHost(
  answer: RequestListener,
  { secure, address = hostAddress, port = 0 }: { secure?: string; address?: string; port?: number } = {},
): Promise<Host> {
  const seen: IncomingMessage[] = [];
  const listener: RequestListener = (asked, reply) => {
    seen.push(asked);
    answer(asked, reply);
  };
  const server =
    secure === undefined ? createServer(listener) : createSecureServer(testAuthority.issue(secure), listener);
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  return {
    port: portOf(server),
    connections: () => connections,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

export type Stage = {
  readonly proxy: SandboxProxy;
  readonly folder: string;
  /** A port of loopback that leads to it, and what a program has in its environment. */
  readonly port: number;
  readonly pass: ProxyPass;
  /** What did not get through. */
  readonly violations: { host: string; port: number; command: string; why: string }[];
  readonly lookedUp: string[];
  close(): Promise<void>;
};

export type StageOptions = Partial<Omit<ProxyOptions, "folder" | "lists">> & {
  readonly allowed: readonly string[];
  readonly denied?: readonly string[];
  /** What names stand for; `hostAddress` for others. */
  readonly names?: (name: string) => readonly string[];
};

export async function openProxyStage({
  allowed,
  denied = [],
  names,
  ...options
}: StageOptions): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-proxy-")));
  const violations: Stage["violations"] = [];
  const lookedUp: string[] = [];
  const given = { allowed: entries(allowed), denied: entries(denied, "denied") };
  const lists = hostLists({ ...given, inner: innerOf(given.allowed) }, noRules);
  const proxy = new SandboxProxy({
    lists: () => lists,
    lookUp: async (name) => {
      lookedUp.push(name);
      return names?.(name) ?? [hostAddress];
    },
    onViolation: (violation) => violations.push(violation),
    roots: testAuthority.cert,
    ...options,
    folder: path.join(folder, "proxy"),
  });
  await proxy.open();
  const port = await proxy.listen();
  return {
    proxy,
    folder,
    port,
    pass: proxy.admit({ http: port, socks: port }),
    violations,
    lookedUp,
    async close() {
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

/** A real program with the environment that a command in the sandbox has. */
export function runBehind(
  { pass, folder }: { readonly pass: EgressPass; readonly folder: string },
  [program = "", ...args]: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const base = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: folder, GIT_TERMINAL_PROMPT: "0" };
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...base, ...variables, ...pass.env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("latin1");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString("latin1");
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
  });
}
