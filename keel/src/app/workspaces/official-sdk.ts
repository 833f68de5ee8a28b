/**
 * The official SDK, where the person has installed it: found from the folder of a workspace, or where a setting of the
 * person names it. It is never part of Keel, and never loaded from a project that nobody trusts, since what is
 * loaded runs in the server.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { asObject, type JsonObject } from "../../kernel/json.ts";
import type { FolderSettings } from "./worker.ts";

export const sdkName = "@anthropic-ai/claude-agent-sdk";
/** As much of its interface as is used here. */
export type OfficialSdk = {
  query(request: {
    readonly prompt: string;
    readonly options: Readonly<Record<string, unknown>>;
  }): AsyncIterable<JsonObject>;
};

export type SdkPlace = { readonly cwd: string; settings(): Promise<FolderSettings> };

/** Throws `work_refused` with words where it is not installed, not to be loaded, or not what it should be. */
export async function loadOfficialSdk(place: SdkPlace): Promise<OfficialSdk> {
  const { isTrusted, settings } = await place.settings();
  const named = settings.agentSdk?.folder;
  const file = named === undefined ? foundFrom(place.cwd) : entryOf(named);
  if (file === undefined)
    throw refused(
      named === undefined
        ? `The official SDK is not installed here: \`npm install ${sdkName}\` in the folder, or name its folder in the setting \`agentSdk\`.`
        : `The setting \`agentSdk\` names no package: ${named}`,
    );
  if (named === undefined && !isTrusted)
    throw refused(
      "The SDK of a project is loaded only where the project is trusted. `keel trust` shows what it brings.",
    );
  try {
    const loaded: unknown = await import(pathToFileURL(file).href);
    const { query } = asObject(loaded);
    if (typeof query === "function") return { query: query as OfficialSdk["query"] };
  } catch (thrown) {
    throw refused(`The SDK could not be loaded: ${reasonOf(thrown)}`);
  }
  throw refused(`${file} has no query().`);
}

function foundFrom(cwd: string): string | undefined {
  try {
    return createRequire(path.join(cwd, "package.json")).resolve(sdkName);
  } catch {
    // One that is only for `import` is not found so.
  }
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const found = entryOf(path.join(folder, "node_modules", sdkName));
    if (found !== undefined || folder === path.dirname(folder)) return found;
  }
}

/** The file that an import of the package in this folder means. */
function entryOf(folder: string): string | undefined {
  try {
    const about = asObject(JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")));
    const main = asObject(about["exports"])["."] ?? about["exports"] ?? about["module"] ?? about["main"];
    const file = typeof main === "string" ? main : (asObject(main)["import"] ?? asObject(main)["default"]);
    const target = typeof file === "string" ? file : asObject(file)["default"];
    if (typeof target !== "string") return undefined;
    const entry = path.join(folder, target);
    return existsSync(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

const refused = (reason: string) => fault("work_refused", { reason });

/** What a folder's settings say, and whether its own count. */
export async function settingsOf(where: {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
}): Promise<FolderSettings> {
  const { readSettings } = await import("../compose/settings.ts");
  const { trust, settings } = await readSettings(where);
  return { isTrusted: trust.state !== "untrusted", settings };
}
