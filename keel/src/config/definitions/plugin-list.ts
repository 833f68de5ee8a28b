/** The plugins that a person has added, in `plugins.json` beside their settings: where each stands and whence it came. */
import path from "node:path";
import * as z from "zod/mini";
import { failed, ok } from "../../kernel/result.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { readJsonc } from "../settings/jsonc.ts";
import { readPlainText } from "../settings/plain-text.ts";
import { type Lock, saveChange } from "../settings/save.ts";

const listSchema = z.object({
  plugins: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      /** What it was added by: a folder, a package or a repository. */
      from: z.optional(z.string()),
    }),
  ),
});

export type AddedPlugin = z.infer<typeof listSchema>["plugins"][number];

export const pluginListFile = (home: string): string => path.join(home, "plugins.json");

/** Nothing for a list that is missing or damaged: what nobody can read names no plugin. */
export async function readPluginList(home: string): Promise<readonly AddedPlugin[]> {
  const read = await readPlainText(pluginListFile(home), { links: "follow" });
  if (read.kind !== "text") return [];
  const json = await readJsonc(read.text);
  const parsed = json.ok ? parseWith(listSchema, json.value) : json;
  return parsed.ok ? parsed.value.plugins : [];
}

/** Throws `settings_unwritable`, also for a list that is damaged: what is in it must not get lost. */
export async function changePluginList(
  { home, lock }: { home: string; lock: Lock },
  change: (plugins: readonly AddedPlugin[]) => readonly AddedPlugin[],
): Promise<void> {
  await saveChange({ file: pluginListFile(home), lock, owner: "person" }, async (text) => {
    const json = text.trim() === "" ? ok<unknown>({ plugins: [] }) : await readJsonc(text);
    if (!json.ok) return json;
    const parsed = parseWith(listSchema, json.value);
    if (!parsed.ok) return failed(sayIssues(parsed.error));
    const plugins = change(parsed.value.plugins).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return ok(`${JSON.stringify({ plugins }, null, 2)}\n`);
  });
}

/** The folders of all of them. */
export const addedPlugins = async (home: string): Promise<string[]> =>
  (await readPluginList(home)).map((plugin) => plugin.path);
