// The command in a real tmux, on a socket of its own.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { patienceMs } from "../support/budget.ts";
import type { ScreenStage } from "./stage.ts";

export type Tmux = {
  /** A command of tmux; what it prints. */
  run(...words: string[]): string;
  /** Everything: what scrolled away, and what is seen. Lines that it broke are joined. */
  captured(): string;
  until(what: string, isThere: (text: string) => boolean): Promise<void>;
};

export function hasTmux(): boolean {
  try {
    return execFileSync("tmux", ["-V"], { encoding: "utf8" }).startsWith("tmux");
  } catch {
    return false;
  }
}

/** Runs `started`, a line for a shell, in a window of 134 by 40. Gone with the test. */
export function openTmux(stage: ScreenStage, started: string): Tmux {
  const socket = path.join(stage.folder, "tmux");
  const configuration = path.join(stage.folder, "tmux.conf");
  writeFileSync(configuration, "set -g history-limit 5000\nset -g status off\n");
  const env = Object.fromEntries(
    Object.entries(stage.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const run = (...words: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", configuration, ...words], {
      encoding: "utf8",
      env: { ...env, LANG: "C.UTF-8", TERM: "xterm-256color" },
      cwd: stage.project,
    });
  onTestFinished(() => {
    try {
      run("kill-server");
    } catch {
      // It ended with its last window.
    }
  });
  const captured = (): string => run("capture-pane", "-p", "-J", "-S", "-", "-E", "-");
  run("new-session", "-d", "-x", "134", "-y", "40", started);
  return {
    run,
    captured,
    async until(what, isThere) {
      const deadline = performance.now() + patienceMs;
      while (!isThere(captured())) {
        if (performance.now() > deadline) throw new Error(`waited in vain: ${what}\n${captured()}`);
        await pause(50);
      }
    },
  };
}
