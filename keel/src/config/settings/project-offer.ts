/**
 * What trusting a project would enable, for a person to read before they say yes: hooks, servers, allow rules,
 * variables, modes, folders, and the files of skills, commands and agents. Read as text; nothing of it runs.
 */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { asList, asObject, isObject } from "../../kernel/json.ts";
import type { SettingEntry } from "./entries.ts";
import { folderKinds, projectFolders } from "./paths.ts";
import { readPlainText } from "./plain-text.ts";
import { markOf, offersIn } from "./project-gate.ts";
import { kindOf, type Project } from "./project-root.ts";

export type ProjectOffer = {
  readonly kind: (typeof offerKinds)[number];
  /** What exactly: the rule, the command, the variable with its value. */
  readonly text: string;
  readonly file: string;
  readonly mark: string;
};

const offerKinds = ["hook", "server", "rule", "variable", "mode", "folder", "file"] as const;

/** More than a project has; what is beyond stays untrusted. */
const maxFiles = 500;

export async function offersOf(project: Project, entries: readonly SettingEntry[]): Promise<ProjectOffer[]> {
  const settings = offersIn(entries).map(
    (entry): ProjectOffer => ({
      ...describe(entry),
      file: entry.file ?? "",
      mark: markOf(entry),
    }),
  );
  const all = [...settings, ...(await filesOf(project))];
  return all.toSorted((left, right) => offerKinds.indexOf(left.kind) - offerKinds.indexOf(right.kind));
}

function describe({ path: [group, name], value }: SettingEntry): Pick<ProjectOffer, "kind" | "text"> {
  switch (group) {
    case "hooks":
      return { kind: "hook", text: `${name}: ${hookText(value)}` };
    case "mcpServers":
      return { kind: "server", text: `${name}: ${serverText(value)}` };
    case "diagnostics":
      return { kind: "server", text: `after edits: ${JSON.stringify(value)}` };
    case "env":
      return { kind: "variable", text: `${name}=${String(value)}` };
    default: {
      const kind = name === "defaultMode" ? "mode" : name === "additionalDirectories" ? "folder" : "rule";
      return { kind, text: String(value) };
    }
  }
}

function hookText(value: unknown): string {
  const { hooks, matcher } = asObject(value);
  const shown = asList(hooks).map((hook) => commandOf(asObject(hook)) ?? JSON.stringify(hook));
  return `${typeof matcher === "string" ? `[${matcher}] ` : ""}${shown.join("; ")}`;
}

const commandOf = ({ type, command }: Record<string, unknown>): string | undefined =>
  type === "command" && typeof command === "string" ? command : undefined;

function serverText(value: unknown): string {
  if (!isObject(value)) return String(value);
  const { command, args, ...rest } = value;
  const words = [command, ...asList(args)].filter((word) => typeof word === "string").join(" ");
  const others = Object.keys(rest).length > 0 ? JSON.stringify(rest) : "";
  return [words, others].filter(Boolean).join(" ");
}

/** Tells a file as it was shown from what it became, and from the same text elsewhere. */
export const fileMark = (file: string, text: string): string =>
  createHash("sha256").update(`${file}\0${text}`).digest("hex").slice(0, 32);

/** Skills, commands and agents may name programs and tools: each file counts as it is now. */
async function filesOf({ folders }: Project): Promise<ProjectOffer[]> {
  const offers: ProjectOffer[] = [];
  for (const folder of folders) {
    for (const inner of projectFolders) {
      if (kindOf(path.join(folder, inner)) !== "directory") continue;
      for (const part of folderKinds) await addFiles(offers, path.join(folder, inner, part), maxDepth);
    }
  }
  return offers;
}

const maxDepth = 6;

/** Links are not followed: they lead to what is not the project's. */
async function addFiles(offers: ProjectOffer[], folder: string, left: number): Promise<void> {
  if (kindOf(folder) !== "directory" || left === 0) return;
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of found.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await addFiles(offers, file, left - 1);
    if (offers.length >= maxFiles) return;
    if (!entry.isFile()) continue;
    const read = await readPlainText(file, { links: "refuse" });
    if (read.kind !== "text") continue;
    offers.push({
      kind: "file",
      text: path.basename(path.dirname(file)) + path.sep + entry.name,
      file,
      mark: fileMark(file, read.text),
    });
  }
}
