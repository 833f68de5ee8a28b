/**
 * The user's own settings file. Each value is checked by itself: one that is wrong is named and left out, and all
 * others stay in force. Only the user's file may name a base URL or a key.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import * as z from "zod/mini";
import { type Fault, fault } from "../kernel/fault.ts";
import { isObject } from "../kernel/json.ts";
import { parseWith, sayIssues } from "../kernel/schema.ts";
import { permissionModeSchema } from "../protocol/settings.ts";
import { modelInfoSchema } from "../protocol/usage.ts";

const rules = z.optional(z.array(z.string()));

const abilities = modelInfoSchema.shape.abilities.shape;

const shape = {
  model: z.string(),
  /** Tried in this order when the model is overloaded. */
  fallbackModels: z.array(z.string()),
  /** Models that Keel does not know, or knows otherwise. */
  models: z.array(
    z.object({
      ...z.partial(modelInfoSchema).shape,
      id: z.string(),
      abilities: z.optional(
        z.object({
          tools: z.exactOptional(abilities.tools),
          images: z.exactOptional(abilities.images),
          thinking: z.exactOptional(abilities.thinking),
          cache: z.exactOptional(abilities.cache),
        }),
      ),
    }),
  ),
  modelAliases: z.record(z.string(), z.string()),
  /** By the provider's id: which ones there are is the models' to know. */
  providers: z.record(z.string(), z.object({ baseUrl: z.optional(z.string()), key: z.optional(z.string()) })),
  permissions: z.object({
    allow: rules,
    ask: rules,
    deny: rules,
    defaultMode: z.optional(permissionModeSchema),
    /** `allowed`: writes to git hooks, shell start files and the like are no longer asked in any case. */
    protectedPaths: z.optional(z.enum(["ask", "allowed"])),
  }),
};

export type UserSettings = {
  readonly [Name in keyof typeof shape]?: z.infer<(typeof shape)[Name]> | undefined;
};

export type ReadSettings = {
  readonly settings: UserSettings;
  /** One for each value that was left out, for a person. */
  readonly faults: readonly Fault[];
};

/** A missing file is an empty one. Never throws: a start must not fail on a file that a person edits. */
export async function readUserSettings(file: string): Promise<ReadSettings> {
  const read = await readText(file);
  if (read.kind === "missing") return { settings: {}, faults: [] };
  if (read.kind === "refused") return refused(file, read.why);
  let written: unknown;
  try {
    written = JSON.parse(read.text);
  } catch (thrown) {
    return refused(file, thrown instanceof Error ? thrown.message : "it is not JSON");
  }
  return isObject(written) ? checkEach(file, written) : refused(file, "it is not an object in JSON");
}

/** A settings file is written by hand. */
const mostBytes = 2 * 1024 * 1024;

function checkEach(file: string, written: Record<string, unknown>): ReadSettings {
  const settings: Record<string, unknown> = {};
  const faults: Fault[] = [];
  for (const [name, type] of Object.entries(shape)) {
    if (!Object.hasOwn(written, name)) continue;
    const parsed = parseWith<unknown>(type, written[name]);
    if (parsed.ok) settings[name] = parsed.value;
    else faults.push(invalid(file, `${name}: ${sayIssues(parsed.error)}`));
  }
  const unknown = Object.keys(written).filter((name) => !Object.hasOwn(shape, name) && name !== "$schema");
  if (unknown.length > 0) faults.push(invalid(file, `nothing is called ${unknown.slice(0, 5).join(", ")}`));
  // Each value has passed the schema of its name.
  return { settings: settings as UserSettings, faults };
}

type Read = { kind: "text"; text: string } | { kind: "missing" } | { kind: "refused"; why: string };

async function readText(file: string): Promise<Read> {
  try {
    // A pipe or a device in its place must not hang the start.
    await using handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await handle.stat();
    if (!stat.isFile()) return { kind: "refused", why: "it is not a plain file" };
    if (stat.size > mostBytes) return { kind: "refused", why: `it is longer than ${mostBytes} bytes` };
    return { kind: "text", text: await handle.readFile("utf8") };
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
    return code === "ENOENT" || code === "ENOTDIR" ? { kind: "missing" } : { kind: "refused", why: code };
  }
}

const refused = (file: string, reason: string): ReadSettings => ({
  settings: {},
  faults: [invalid(file, reason)],
});
const invalid = (path: string, reason: string): Fault => fault("settings_invalid", { path, reason });
