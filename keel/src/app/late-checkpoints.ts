/** Checkpoints that are loaded when the first one is taken: most sessions end before that. */
import type { Checkpoints, Clock, Workspace } from "../engine/ports.ts";

export function lateCheckpoints({
  home,
  workspace,
  clock,
}: {
  home: string;
  workspace: Workspace;
  clock: Clock;
}): Checkpoints {
  let loading: Promise<Checkpoints> | undefined;
  const load = (): Promise<Checkpoints> => {
    loading ??= import("../workspace/checkpoints/checkpoints.ts").then(({ nodeCheckpoints }) =>
      nodeCheckpoints({ home, root: workspace.cwd, files: workspace.files, now: clock.now }),
    );
    return loading;
  };
  return {
    keep: async (path) => (await load()).keep(path),
    prepare: async (key, signal) => (await load()).prepare(key, signal),
    changes: async (signal) => (await load()).changes(signal),
    stamp: async (path) => (await load()).stamp(path),
    preview: async (files) => (await load()).preview(files),
    restore: async (file) => (await load()).restore(file),
    close: async () => (await loading)?.close(),
  };
}
