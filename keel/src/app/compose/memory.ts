/** Where the notes of a project are kept: in Keel's own folder, never in the project itself. */
import path from "node:path";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fileMemory } from "../../memory/notes.ts";
import type { Ids } from "../../ports/clock.ts";
import type { Memory } from "../../ports/memory.ts";
import { projectKey } from "../../store/jsonl/log-locations.ts";

export const memoryFolder = (home: string, root: string): string =>
  path.join(home, "memory", projectKey(root));

/** None where the host did not ask for it, or the settings say no. */
export function memoryOf(
  request: "on" | "off" | undefined,
  { home, root, settings, ids }: { home: string; root: string; settings: KeelSettings; ids: Ids },
): Memory | undefined {
  if (request !== "on" || settings.autoMemoryEnabled === false) return undefined;
  return fileMemory({ folder: memoryFolder(home, root), uuid: ids.uuid });
}
