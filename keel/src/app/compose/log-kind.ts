/** How a person wants sessions to be kept. It is about the home and not about a session: no project has a say in it. */
import { readFile } from "node:fs/promises";
import { pathsOf } from "../../config/settings/paths.ts";
import type { LogKind } from "../../store/log-places.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";

/** `KEEL_STORE`, else the setting `store`. */
export async function logKind(place: SettingsLocation): Promise<LogKind> {
  const named = place.env["KEEL_STORE"];
  if (named === "jsonl" || named === "sqlite") return named;
  const paths = pathsOf(place);
  const files = [paths.settings, ...paths.managed];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  // Nobody says it, as a rule: then nothing need be read with care.
  if (!texts.some((text) => text.includes(`"store"`))) return "jsonl";
  const { loadSettings } = await import("../../config/settings/settings.ts");
  const { settings } = await loadSettings({ paths, cwd: paths.home, chosen: ["user"] });
  return settings.store ?? "jsonl";
}
