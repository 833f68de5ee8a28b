// Runs lines of a page in one shell, as a reader would type them, and says how each of them ended.
import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import type { Fence } from "../docs/fences.ts";
import { watch } from "./stage.ts";

export type Line = { readonly page: string; readonly line: number; readonly text: string };
export type EndedLine = Line & { readonly code: number; readonly said: string };

/** Without empty lines and remarks. A line is a command: one that goes on in the next would be cut in two. */
export function linesIn(fences: readonly Fence[]): Line[] {
  const lines = fences.flatMap(({ page, line, text }) =>
    text.split("\n").map((words, index) => ({ page, line: line + index, text: words })),
  );
  const [long] = lines.filter(({ text }) => text.endsWith("\\"));
  if (long) throw new Error(`${long.page}:${long.line}: a line of the guide ends where it is shown to end`);
  return lines.filter(({ text }) => text.trim() !== "" && !text.startsWith("#"));
}

/** All of them run, whatever becomes of one. Nothing is left running. */
export async function typeLines(
  lines: readonly Line[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<EndedLine[]> {
  const mark = "line ended with";
  const script = lines.map(({ text }) => `${text}\nprintf '\\n%s %s\\n' '${mark}' $?\n`).join("");
  // Whoever is left in the background would keep the output open.
  const last = "kill $(jobs -p) 2> /dev/null; true";
  const child = spawn("bash", ["-c", `exec 2>&1\nset -u -o pipefail\n${script}${last}`], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => endGroup(child));
  const { stdout } = await watch(child).ended;
  const parts = stdout.split(new RegExp(`^${mark} (\\d+)\n`, "m"));
  return lines.map((line, index) => ({
    ...line,
    code: Number(parts[2 * index + 1] ?? Number.NaN),
    said: (parts[2 * index] ?? "").trim(),
  }));
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}
