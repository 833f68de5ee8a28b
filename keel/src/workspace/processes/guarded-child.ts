/** A program under the guard, with pipes to its three streams: whatever ends Keel ends it too. */
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { commandEnvironment, markVariable, type ProcessEnvironment } from "./environment.ts";
import type { Program } from "./launch.ts";
import type { ProcessGuard } from "./process-guard.ts";
import { bornOf } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";
import { spawned } from "./spawned.ts";

export type GuardedChild = {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Ends it with all that it started: asked first, then killed. */
  end(graceMs: number): Promise<void>;
  /** Lets its streams go. */
  release(): void;
};

/** One that cannot be started says so by its `error`; where nothing can be started at all, `descriptors_used_up` is thrown. With a signal that has fired nothing starts. */
export async function spawnGuarded(
  program: Program,
  { env, guard }: { env: ProcessEnvironment; guard: ProcessGuard },
  signal?: AbortSignal,
): Promise<GuardedChild> {
  const post = await guard.post();
  const mark = guard.newMark();
  const launched = post.launch({
    ...program,
    env: { ...commandEnvironment(env), ...program.env, [markVariable]: mark },
  });
  signal?.throwIfAborted();
  const child = spawned(launched.file, launched.args, {
    ...launched.options,
    env: { ...launched.options.env },
    stdio: ["pipe", "pipe", "pipe"],
  }) as ChildProcessByStdio<Writable, Readable, Readable>;
  const { pid } = child;
  const tree = pid === undefined ? undefined : { pid, mark, since: bornOf(pid), role: launched.role };
  const streams = [child.stdin, child.stdout, child.stderr];
  // Who no longer reads has ended, or will be found out by silence.
  for (const stream of streams) stream.on("error", () => undefined);
  return {
    child,
    end: async (graceMs) => void (tree && (await new ProcessTree(tree).end({ graceMs }))),
    release: () => {
      for (const stream of streams) stream.destroy();
    },
  };
}
