// Runs a command and notes which programs it started and where it connected to, through strace where there is one.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

export type Watched = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Programs with their arguments; undefined where nobody could look. */
  readonly programs: readonly string[] | undefined;
  readonly connections: readonly string[] | undefined;
};

export const hasStrace = (): boolean => {
  try {
    // It must also be allowed to look.
    execFileSync("strace", ["-f", "-o", "/dev/null", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

export function watch(
  words: readonly [string, ...string[]],
  { cwd, env, strace }: { cwd: string; env: Record<string, string>; strace: boolean },
): Promise<Watched> {
  const trace = path.join(tmpdir(), `keel-strace-${process.pid}-${++traces.count}`);
  const looking = [
    "strace",
    "-f",
    "--seccomp-bpf",
    "-qq",
    "-s",
    "4096",
    "-e",
    "trace=execve,execveat,connect",
    "-o",
    trace,
  ];
  const [program, ...parameters] = strace ? [...looking, ...words] : words;
  return new Promise((resolve, reject) => {
    const child = spawn(program as string, parameters, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      const text = strace ? readFileSync(trace, "utf8") : undefined;
      rmSync(trace, { force: true });
      resolve({
        code,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
        programs: text?.split("\n").flatMap((line) => /execve(?:at)?\((.*)\) += 0$/.exec(line)?.[1] ?? []),
        connections: text?.split("\n").flatMap((line) => /connect\(\d+, (\{.*?\})/.exec(line)?.[1] ?? []),
      });
    });
  });
}

const traces = { count: 0 };

export type Sink = { readonly url: string; connections(): number; close(): Promise<void> };

/** Takes every connection and answers none. */
export async function openSink(): Promise<Sink> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
