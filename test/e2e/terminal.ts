// A terminal for the command: `script` of util-linux opens one and passes on what is typed.
import { execFileSync, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { command, type Running, type Stage, watch } from "./stage.ts";

export const hasTerminal = (): boolean => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux");
  } catch {
    return false;
  }
};

/** All that the command writes comes out of one pipe, as on a screen; what is written into it is typed. */
export function startOnTerminal(
  parameters: readonly string[],
  { project, env }: Pick<Stage, "project" | "env">,
): Running {
  const quoted = [command, ...parameters].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn(
    "script",
    ["--quiet", "--return", "--echo", "never", "--command", `exec ${quoted}`, "/dev/null"],
    {
      cwd: project,
      env: { PATH: process.env["PATH"], TERM: "xterm", SHELL: "/bin/sh", ...env },
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  return watch(child);
}
