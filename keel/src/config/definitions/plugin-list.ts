/** The plugins that a person has added, in `plugins.json` beside their settings: where each stands and whence it came. */
import path from "node:path";
import * as z from "zod/mini";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { readJsonc } from "../settings/jsonc.ts";
import { readPlainText } from "../settings/plain-text.ts";
import { changeJson, type Lock } from "../settings/save.ts";

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

const pluginListFile = (home: string): string => path.join(home, "plugins.json");

/** Nothing for a list that is missing or damaged: what nobody can read names no plugin. */
export async function readPluginList(home: string): Promise<readonly AddedPlugin[]> {
  const read = await readPlainText(pluginListFile(home), { links: "follow" });
  const parsed = read.kind === "text" ? await parseList(read.text) : undefined;
  return parsed?.ok ? parsed.value : [];
}

async function parseList(text: string): Promise<Result<readonly AddedPlugin[]>> {
  const json = await readJsonc(text);
  if (!json.ok) return json;
  const parsed = parseWith(listSchema, json.value);
  return parsed.ok ? ok(parsed.value.plugins) : failed(sayIssues(parsed.error));
}

/** Throws `settings_unwritable`, also for a list that is damaged: what is in it must not get lost. */
export function changePluginList(
  { home, lock }: { home: string; lock: Lock },
  change: (plugins: readonly AddedPlugin[]) => readonly AddedPlugin[],
): Promise<void> {
  return changeJson({ file: pluginListFile(home), lock }, parseList, (plugins = []) => ({
    plugins: change(plugins).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  }));
}

/** The folders of all of them. */
export const addedPlugins = async (home: string): Promise<string[]> =>
  (await readPluginList(home)).map((plugin) => plugin.path);
