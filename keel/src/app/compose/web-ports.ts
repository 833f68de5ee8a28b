/** The web's ports as the user has set them up. What reaches out is loaded at the first use: most sessions stay at home. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Web, WebSearch } from "../../ports/web.ts";
import type { WebOptions } from "../../workspace/web/web.ts";
import type { SearchEngine } from "../../workspace/web/web-search.ts";

export function lateWeb(options: Pick<WebOptions, "allowHosts" | "version">): Web {
  let loading: Promise<Web> | undefined;
  const load = (): Promise<Web> => {
    loading ??= import("../../workspace/web/web.ts").then(({ nodeWeb }) => nodeWeb(options));
    return loading;
  };
  return {
    address: async (url) => (await load()).address(url),
    fetch: async (url, signal) => (await load()).fetch(url, signal),
  };
}

export function lateSearch({
  settings,
  env,
  version,
}: {
  settings: KeelSettings;
  env: EnvironmentVariables;
  version: string;
}): WebSearch {
  let loading: Promise<WebSearch> | undefined;
  const load = (): Promise<WebSearch> => {
    loading ??= import("../../workspace/web/web-search.ts").then(({ nodeWebSearch }) =>
      nodeWebSearch({ engine: searchEngine({ settings, env }), version }),
    );
    return loading;
  };
  return {
    missing: async () => (await load()).missing(),
    search: async (request, signal) => (await load()).search(request, signal),
  };
}

/** The engine that the settings name, else the one that the environment has what is needed for. */
export function searchEngine({
  settings,
  env,
}: {
  settings: KeelSettings;
  env: EnvironmentVariables;
}): SearchEngine | undefined {
  const {
    provider,
    url = env["KEEL_SEARCH_URL"]?.trim(),
    key = env["BRAVE_API_KEY"]?.trim(),
  } = settings.search ?? {};
  const searxng: SearchEngine | undefined = url && URL.canParse(url) ? { kind: "searxng", url } : undefined;
  const brave: SearchEngine | undefined = key ? { kind: "brave", key, url: settings.search?.url } : undefined;
  if (provider !== undefined) return provider === "brave" ? brave : searxng;
  return searxng ?? brave;
}
