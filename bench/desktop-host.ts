/** A shell for measurements: starts `keel desktop`, sends requests and waits for the one end of each. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { command } from "./suites/start.ts";

export type DesktopHost = {
  readonly pid: number;
  readonly stdout: NodeJS.ReadableStream;
  /** What `done` carries. Throws what `error` says. */
  ask(kind: string, fields?: object): Promise<Record<string, unknown>>;
  /** Sends it and waits for nothing. */
  send(kind: string, fields?: object): void;
  close(): Promise<void>;
};

/** `reads`: whether lines are taken as they come; else the caller takes bytes itself, and nothing can be asked. */
export async function startDesktopHost({
  cwd,
  env,
  flags = [],
  reads = true,
}: {
  cwd: string;
  env: Readonly<Record<string, string>>;
  flags?: readonly string[];
  reads?: boolean;
}): Promise<DesktopHost> {
  const child = spawn(command, ["desktop", ...flags], {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const waiting = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();
  const ready = Promise.withResolvers<void>();
  if (reads)
    createInterface(child.stdout).on("line", (text) => {
      const line = JSON.parse(text);
      if (line.type === "ready") ready.resolve();
      if (line.type === "done") waiting.get(line.id)?.resolve(line.data ?? {});
      if (line.type === "error") waiting.get(line.id)?.reject(new Error(line.error));
    });
  else child.stdout.once("readable", () => ready.resolve());
  let count = 0;
  const send = (kind: string, fields: object = {}): string => {
    const id = `r${++count}`;
    child.stdin.write(`${JSON.stringify({ id, kind, ...fields })}\n`);
    return id;
  };
  await ready.promise;
  return {
    pid: child.pid ?? 0,
    stdout: child.stdout,
    send,
    ask(kind, fields) {
      const answer = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(send(kind, fields), answer);
      return answer.promise;
    },
    async close() {
      child.stdout.resume();
      child.stdin.end();
      await exited;
    },
  };
}
