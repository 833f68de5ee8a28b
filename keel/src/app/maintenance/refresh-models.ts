/** Takes a newer catalog of models, from a file or an address that a person names. Never by itself. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathsOf } from "../../config/settings/paths.ts";
import { lateSignal } from "../../kernel/deadline.ts";
import { fault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import { openHttp, readText } from "../../models/http.ts";
import { providersWith } from "../../models/providers.ts";
import { readCatalog } from "../../models/published-catalog.ts";
import { catalogOf } from "../compose/model.ts";
import { readSettings } from "../compose/settings.ts";
import { nodeClock } from "../node-ports.ts";
import type { SettingsLocation } from "./settings-files.ts";

export type RefreshedCatalog = {
  readonly file: string;
  readonly models: number;
  /** Those that Keel did not know, and those of which it knew something else. */
  readonly added: number;
  readonly changed: number;
  readonly passedOver: number;
  readonly asOf: string;
};

const maxBytes = 32 * 1024 * 1024;
const fetchMs = 30_000;

/** Throws `usage` where it is no catalog, or what reading it throws. Abilities of known models stay as they are known. */
export async function refreshModels(
  place: SettingsLocation,
  { from, now }: { readonly from: string; readonly now: number },
): Promise<RefreshedCatalog> {
  const today = new Date(now).toISOString().slice(0, 10);
  const { settings } = await readSettings(place);
  const ids = providersWith(settings.providers).map(({ id }) => id);
  const read = readCatalog(parseJson(await textOf(from, place.cwd)), { today, ids });
  if (!read || read.models.length === 0)
    throw fault("usage", { reason: `${from} holds no catalog of models that Keel can read.` });
  const known = catalogOf({ ...settings, models: [] });
  const rows = read.models.map((row) => {
    if (!known.isKnown(row.id)) return row;
    // How a model is told to think is code of ours, not a matter of a list.
    const { abilities, name } = known.info(row.id);
    return { ...row, name, abilities };
  });
  const isSame = (row: (typeof rows)[number]): boolean =>
    JSON.stringify([known.info(row.id).windowTokens, known.info(row.id).prices?.input]) ===
    JSON.stringify([row.windowTokens, row.prices?.input]);
  const file = path.join(pathsOf(place).home, "models.json");
  await mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.new`;
  await writeFile(fresh, `${JSON.stringify({ asOf: today, from, models: rows }, undefined, 1)}\n`, {
    mode: 0o600,
  });
  await rename(fresh, file);
  return {
    file,
    asOf: today,
    models: rows.length,
    added: rows.filter((row) => !known.isKnown(row.id)).length,
    changed: rows.filter((row) => known.isKnown(row.id) && !isSame(row)).length,
    passedOver: read.passedOver,
  };
}

async function textOf(from: string, cwd: string): Promise<string> {
  if (!/^https?:\/\//.test(from)) {
    return readFile(path.resolve(cwd, from), "utf8").catch((cause: NodeJS.ErrnoException) => {
      throw fault("usage", { reason: `${from} cannot be read (${cause.code ?? "unknown"}).` });
    });
  }
  const http = openHttp();
  using late = lateSignal(nodeClock(), fetchMs);
  try {
    const request = { method: "GET", url: from, headers: { accept: "application/json" } } as const;
    const response = await http.send(request, late.signal);
    const text = await readText(response, maxBytes);
    if (response.status === 200) return text;
    throw fault("usage", { reason: `${from} answers ${response.status}; no redirect is followed.` });
  } finally {
    http.close();
  }
}
