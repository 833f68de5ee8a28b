/** `keel serve --detach`: the server as a process of its own, which the end of this terminal does not reach. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ServerState } from "../../../app/sessions/home-server.ts";
import { fault } from "../../../kernel/fault.ts";
import type { Context } from "../context.ts";
import { ownStart } from "../own-start.ts";

/** A start reads a few files and makes a socket; whoever needs longer is stuck. */
const startSeconds = 30;
/** What a process says that dies is read by nobody but a person who wonders. */
const maxErrorBytes = 64 * 1024;

export type StartedServer = ServerState & { readonly link?: string | undefined };

/**
 * Returns when it serves. Where it does not come to that, its exit code, after its own words were told here. Throws
 * `out_of_time` for one that says nothing, which is then ended.
 */
export async function startApart(
  given: readonly string[],
  { home, err }: { readonly home: string; readonly err: Pick<Context["err"], "write"> },
): Promise<StartedServer | number> {
  const folder = path.join(home, "logs");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const errorFile = path.join(folder, "server.stderr");
  const errors = await open(errorFile, "a", 0o600);
  try {
    if ((await errors.stat()).size > maxErrorBytes) await errors.truncate();
    const { size: before } = await errors.stat();
    const { command, args } = ownStart();
    const child = spawn(command, [...args, ...given], {
      detached: true,
      stdio: ["ignore", "pipe", errors.fd],
    });
    const started = await firstLine(child);
    if (typeof started === "string") {
      child.unref();
      return JSON.parse(started);
    }
    const words = (await readFile(errorFile)).subarray(before).toString("utf8");
    err.write(words);
    return started;
  } finally {
    await errors.close();
  }
}

/** What it says when it is ready, or the code with which it ended before that. */
async function firstLine(child: ChildProcess): Promise<string | number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    late.reject(fault("out_of_time", { what: "Starting the server", seconds: startSeconds }));
  }, startSeconds * 1_000);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
  const { stdout } = child;
  if (stdout === null) return await ended;
  const lines = createInterface({ input: stdout });
  const said = new Promise<string>((resolve) => lines.once("line", resolve));
  try {
    return await Promise.race([said, ended, late.promise]);
  } finally {
    clearTimeout(timer);
    lines.close();
    stdout.destroy();
  }
}
