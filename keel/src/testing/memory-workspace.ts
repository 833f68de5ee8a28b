/** A place to work that exists in memory only: files, a shell that knows a few commands, and a trace of what was done. */
import type { Clock } from "../ports/clock.ts";
import type { Workspace } from "../ports/workspace.ts";
import { instantClock } from "./fake-clock.ts";
import { MemoryFiles } from "./memory-files.ts";
import { memorySearch } from "./memory-search.ts";
import { type ShellScript, scriptedShell } from "./scripted-shell.ts";

export type MemoryWorkspace = Workspace & {
  readonly files: MemoryFiles;
  /** What changed something, in its order: `write /project/a.txt`, `run npm test`. */
  readonly effects: string[];
};

export type MemoryWorkspaceOptions = {
  /** Path, absolute or below `cwd`, to content. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly cwd?: string;
  /** Without it `cwd` is the only root. */
  readonly roots?: readonly string[];
  readonly shell?: ShellScript;
  /** On which commands take their time. Without one they take none. */
  readonly clock?: Clock;
};

export function memoryWorkspace({
  files = {},
  cwd = "/project",
  roots = [cwd],
  shell = {},
  clock = instantClock(),
}: MemoryWorkspaceOptions = {}): MemoryWorkspace {
  const effects: string[] = [];
  const note = (effect: string): void => void effects.push(effect);
  const memory = new MemoryFiles({ cwd, roots, note });
  for (const [path, content] of Object.entries(files)) memory.put(path, content);
  return {
    cwd,
    roots,
    files: memory,
    search: memorySearch(memory),
    documents: { pdfText: async () => ({ ok: false, why: "There are no documents in memory." }) },
    shell: scriptedShell({ script: shell, files: memory, clock, note }),
    effects,
  };
}
