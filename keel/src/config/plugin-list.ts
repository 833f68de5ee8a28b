/** The plugins that a person has added, in `plugins.json` beside their settings: where each stands and whence it came. */
import path from "node:path";
import * as z from "zod/mini";
import { parseWith } from "../kernel/schema.ts";
import { readJsonc } from "./jsonc.ts";
import { readPlainText } from "./plain-text.ts";

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

/** The folders of all of them. */
export const addedPlugins = async (home: string): Promise<string[]> =>
  (await readPluginList(home)).map((plugin) => plugin.path);
