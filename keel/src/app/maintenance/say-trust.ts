/** What a person is told about a project's settings that do not count: one sentence about trust, and what no project may set. */
import path from "node:path";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import type { LoadedSettings } from "../../config/settings/settings.ts";
import type { LogNotice } from "../../ports/store.ts";

export function trustNotices({ trust, entries }: Pick<LoadedSettings, "trust" | "entries">): LogNotice[] {
  return [...waitingNotice(trust), ...forbiddenNotice(entries, trust.root)];
}

function waitingNotice({ state, waiting, root }: LoadedSettings["trust"]): LogNotice[] {
  if (waiting.length === 0) return [];
  const files = [...new Set(waiting.map(({ file = "" }) => path.relative(root, file)))].join(", ");
  const what = sayCounts(waiting);
  const why =
    state === "untrusted" ? "This project is not trusted" : "This project has changed since it was trusted";
  const text = `${why}: ${what} of ${files} ${waiting.length === 1 ? "is" : "are"} left out. \`keel trust\` shows ${waiting.length === 1 ? "it" : "them"}.`;
  return [{ level: "warning", code: "project_untrusted", text }];
}

function forbiddenNotice(entries: readonly JudgedEntry[], root: string): LogNotice[] {
  const reasons = entries.flatMap(({ file = "", state }) =>
    state.kind === "left-out" && state.isForbidden ? [`${path.relative(root, file)}: ${state.why}.`] : [],
  );
  const [first, ...others] = [...new Set(reasons)];
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more: \`keel config list --origin\`)`;
  return [{ level: "warning", code: "settings_invalid", text: `Left out of ${first}${more}` }];
}

/** `1 hook, 2 allow rules`. */
export function sayCounts(entries: readonly Pick<JudgedEntry, "path">[]): string {
  const counts = new Map<string, number>();
  for (const { path: parts } of entries) {
    const name = names[parts[0] ?? ""] ?? names[parts.join(".")] ?? parts.join(".");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}${count === 1 ? "" : "s"}`).join(", ");
}

const names: Readonly<Record<string, string>> = {
  hooks: "hook",
  mcpServers: "MCP server",
  env: "variable",
  model: "model",
  fallbackModel: "fallback model",
  models: "model description",
  modelAliases: "model alias",
  "permissions.allow": "allow rule",
  "permissions.defaultMode": "permission mode",
  "permissions.additionalDirectories": "further folder",
};
