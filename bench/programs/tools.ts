/** Calls one tool several times in one process, on the real workspace. */
import { readFileSync, writeFileSync } from "node:fs";
import { editTool } from "../../keel/src/tools/edit.ts";
import { globTool } from "../../keel/src/tools/glob.ts";
import { grepTool } from "../../keel/src/tools/grep.ts";
import { readTool } from "../../keel/src/tools/read.ts";
import { callerIn, openWorkspace } from "../call-tool.ts";
import { runProgram } from "../program.ts";

type Options = {
  readonly tool: "Edit" | "Glob" | "Grep" | "Read";
  readonly input: Record<string, unknown>;
  readonly cwd: string;
  readonly path: string;
  readonly times: number;
  /** The file that is put back, and read, before every call. */
  readonly restore?: string;
};

await runProgram(async ({ tool, input, cwd, path, times, restore }: Options) => {
  const place = openWorkspace({ cwd, path });
  const call = callerIn(place.workspace);
  const once = {
    Edit: () => call(editTool, input),
    Glob: () => call(globTool, input),
    Grep: () => call(grepTool, input),
    Read: () => call(readTool, input),
  }[tool];
  const original = restore === undefined ? undefined : readFileSync(restore);
  const ms: number[] = [];
  // The first call finds the search program: once in a session.
  for (let done = -1; done < times; done++) {
    if (restore !== undefined && original) {
      writeFileSync(restore, original);
      await call(readTool, { file_path: restore, limit: 1 });
    }
    const startedAt = performance.now();
    await once();
    if (done >= 0) ms.push(performance.now() - startedAt);
  }
  if (restore !== undefined && original) writeFileSync(restore, original);
  await place.close();
  return { ms };
});
