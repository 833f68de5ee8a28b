/** How processes of a home tell each other that something about a schedule has changed: a file that is touched. */
import { type FSWatcher, watch } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

export type ScheduleBell = {
  ring(id: string): Promise<void>;
  /** Resolves when it listens. Returns what stops it. */
  listen(heard: (id: string) => void): Promise<() => void>;
};

/** Where nothing can be watched, what others change is noticed with the next due time. */
export function folderBell(folder: string): ScheduleBell {
  const place = path.join(folder, "bell");
  const made = (): Promise<unknown> => mkdir(place, { recursive: true, mode: 0o700 });
  return {
    async ring(id) {
      await made();
      await writeFile(path.join(place, path.basename(id)), "", { mode: 0o600 });
    },
    async listen(heard) {
      await made();
      let watcher: FSWatcher | undefined;
      try {
        watcher = watch(place, { persistent: false }, (_, name) => name && heard(name));
        watcher.on("error", () => undefined);
      } catch {
        // As said above.
      }
      return () => watcher?.close();
    },
  };
}
