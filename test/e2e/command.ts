// Runs the built command as a person or a host would: through the launcher, in an environment of its own.
import { spawn } from "node:child_process";
import path from "node:path";

export const launcher = path.resolve(import.meta.dirname, "../../keel/bin/keel");

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type CommandOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  readonly launcher?: string;
};

/** Resolves when the command has ended, whatever its code. Only PATH is inherited: a test names what else it needs. */
export function keel(parameters: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.launcher ?? launcher, parameters, {
      cwd: options.cwd,
      env: { PATH: process.env["PATH"], ...options.env },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
    child.stdin.on("error", () => undefined); // It may end without reading what we send.
    child.stdin.end(options.stdin ?? "");
  });
}
