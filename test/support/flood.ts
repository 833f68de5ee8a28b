/** A flood of processes as an ordinary user, since no limit of processes holds for root; and in a namespace, so that all of it can be ended. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { notRunHere } from "./not-run.ts";
import { killAllIn, plainEnvironment, processesIn } from "./real-shell.ts";

const nobody = 65534;
const mostBeside = 15;
const child = path.resolve(import.meta.dirname, "flood-child.ts");

/** Ends the flood and shows that nothing is left of it and that the next command works. Undefined where it cannot be run. */
export async function floodAndStop(
  text: string,
  { maxProcesses, growMs }: { readonly maxProcesses: number; readonly growMs: number },
): Promise<{ readonly stoppedMs: number } | undefined> {
  if (process.getuid?.() !== 0) {
    notRunHere("process floods", "only root may run them as another user");
    return undefined;
  }
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-flood-")));
  chmodSync(cwd, 0o777);
  onTestFinished(() => {
    killAllIn(cwd);
    rmSync(cwd, { recursive: true, force: true });
  });
  const limited = `ulimit -u ${maxProcesses}; ${text}`;
  const { stdout } = await promisify(execFile)(process.execPath, [child, cwd, limited, String(growMs)], {
    cwd,
    uid: nobody,
    gid: nobody,
    env: { ...plainEnvironment },
    timeout: 60_000,
  });
  const told = JSON.parse(stdout);
  if (told.kind !== "namespace") {
    notRunHere("process floods", "no namespace for an ordinary user");
    return undefined;
  }
  expect(told).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^fine\n\s*\d+\n$/) });
  // The namespace has its own first process, the shell of the next command, and what counts; none of the flood.
  expect(Number(told.output.split("\n")[1])).toBeLessThan(mostBeside);
  // The guard itself dies with the process that it guards, a moment later.
  await expect.poll(() => processesIn(cwd), { timeout: 2_000 }).toEqual([]);
  return { stoppedMs: told.stoppedMs };
}
