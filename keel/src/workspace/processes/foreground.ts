/** Programs that a person's own terminal runs for them: an editor that has the terminal, a helper that says one thing. */
import { spawn } from "node:child_process";
import type { ProcessEnvironment } from "./environment.ts";

/** With the terminal as its own, until it ends. Gives its exit code; null where a signal ended it. */
export function runForeground(
  command: string,
  args: readonly string[],
  env: ProcessEnvironment,
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", `${command} "$@"`, "sh", ...args], { stdio: "inherit", env });
    child.on("error", reject);
    child.on("close", (code) => resolve(code));
  });
}

/** What a program writes to its output, within bounds; undefined where it failed, was late or is not there. */
export function askProgram(
  command: readonly string[],
  {
    env,
    input = "",
    timeoutMs,
    maxBytes,
  }: { env: ProcessEnvironment; input?: string; timeoutMs: number; maxBytes: number },
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], env });
    const chunks: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.on("error", () => resolve(undefined));
    child.on("close", (code) => {
      clearTimeout(late);
      resolve(code === 0 ? Buffer.concat(chunks) : undefined);
    });
    child.stdin.on("error", () => undefined); // It may end without reading what it is given.
    child.stdin.end(input);
  });
}
