// Runs lines of a page in one shell, as a reader would type them, and says how each of them ended.
import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import type { Fence } from "../docs/fences.ts";
import { watch } from "./stage.ts";

export type Line = { readonly page: string; readonly line: number; readonly text: string };
export type EndedLine = Line & { readonly code: number; readonly said: string };

/** Without empty lines and remarks; a line that goes on in the next one is one with it. */
export function linesIn(fences: readonly Fence[]): Line[] {
  return fences.flatMap(({ page, line, text }) =>
    text
      .replaceAll(/\\\n/g, "\\\r")
      .split("\n")
      .map((words, index, all) => {
        const before = all.slice(0, index).join("\n").split("\r").length - 1;
        return { page, line: line + index + before, text: words.replaceAll("\r", "\n") };
      })
      .filter(({ text: words }) => words.trim() !== "" && !words.startsWith("#")),
  );
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
    ...{ cwd, env, detached: true },
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
