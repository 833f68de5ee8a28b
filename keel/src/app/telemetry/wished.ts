/** The collector of a person: by their settings, or by the variables of OpenTelemetry. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { catalogOf, proxyIn } from "../compose/model.ts";
import { allSecrets } from "../maintenance/keys.ts";
import { growingCover } from "../time/scrub-logs.ts";
import { type SessionTelemetry, sessionTelemetry } from "./telemetry.ts";
import type { TelemetryPlace } from "./traced-log.ts";

type TelemetryWish = {
  readonly endpoint: string;
  readonly settings: KeelSettings;
  readonly env: EnvironmentVariables;
  readonly cwd: string;
  readonly version: string;
};

/** Throws `usage` for what is no address. */
export function wishedTelemetry(
  home: TelemetryPlace,
  { endpoint, settings, env, cwd, version }: TelemetryWish,
): SessionTelemetry {
  const { telemetry } = settings;
  const catalog = catalogOf(settings);
  return sessionTelemetry(
    home,
    {
      endpoint,
      headers: telemetry?.headers ?? headersIn(env["OTEL_EXPORTER_OTLP_HEADERS"] ?? ""),
      names: telemetry?.names ?? "1.41",
      proxyEnv: proxyIn(env),
      version,
    },
    {
      providerOf: (model) => catalog.home(catalog.unalias(model)) ?? "unknown",
      contents: telemetry?.contents === true ? growingCover(allSecrets({ env, cwd })) : undefined,
    },
  );
}

/** As OpenTelemetry writes them: `key=value,key=value`, with what is odd in them encoded. */
function headersIn(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text.trim();
  }
}
