/** Checkpoints that are loaded when the first one is taken: most sessions end before that. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Checkpoints } from "../../ports/checkpoints.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Workspace } from "../../ports/workspace.ts";

export function lateCheckpoints({
  home,
  workspace,
  clock,
  limits = {},
}: {
  home: string;
  workspace: Workspace;
  clock: Clock;
  limits?: KeelSettings["checkpoints"];
}): Checkpoints {
  let loading: Promise<Checkpoints> | undefined;
  const load = (): Promise<Checkpoints> => {
    loading ??= open();
    return loading;
  };
  const open = async (): Promise<Checkpoints> => {
    const [{ nodeCheckpoints }, { defaultBounds }] = await Promise.all([
      import("../../workspace/checkpoints/checkpoints.ts"),
      import("../../workspace/checkpoints/snapshot.ts"),
    ]);
    const bounds = {
      files: limits.mostFiles ?? defaultBounds.files,
      fileBytes: limits.mostFileBytes ?? defaultBounds.fileBytes,
      allBytes: limits.mostBytes ?? defaultBounds.allBytes,
    };
    const { cwd: root, files } = workspace;
    const { quotaBytes, exclude } = limits;
    const userHome = workspace.commands?.home;
    return nodeCheckpoints({ home, root, files, now: clock.now, bounds, quotaBytes, exclude, userHome });
  };
  return {
    backUp: async (path) => (await load()).backUp(path),
    prepare: async (key, signal) => (await load()).prepare(key, signal),
    changes: async (signal) => (await load()).changes(signal),
    stamp: async (path) => (await load()).stamp(path),
    preview: async (files) => (await load()).preview(files),
    restore: async (file) => (await load()).restore(file),
    close: async () => (await loading)?.close(),
  };
}
