/** Whether a person wants spans to be sent: what it takes comes only then. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { OpenOptions } from "../options.ts";
import type { SessionTelemetry } from "./telemetry.ts";
import type { TelemetryPlace } from "./traced-log.ts";

/** Nothing is sent, and nothing loaded, where the person has named no collector. */
export async function lateTelemetry(
  { persist, cwd, version }: Pick<OpenOptions, "persist" | "cwd" | "version">,
  shared: TelemetryPlace,
  { settings, env }: { settings: KeelSettings; env: EnvironmentVariables },
): Promise<SessionTelemetry | undefined> {
  const endpoint = settings.telemetry?.endpoint ?? endpointIn(env);
  // What is kept nowhere has no log to make them from.
  if (endpoint === undefined || persist === "memory") return undefined;
  return (await import("./wished.ts")).wishedTelemetry(shared, {
    endpoint,
    settings,
    env,
    cwd,
    version,
  });
}

/** Other programs of a person's may have a collector: Keel's is one only where they say so. */
function endpointIn(env: EnvironmentVariables): string | undefined {
  const wish = env["KEEL_ENABLE_TELEMETRY"] ?? env["CLAUDE_CODE_ENABLE_TELEMETRY"] ?? "";
  if (!["1", "true", "yes", "on"].includes(wish.trim().toLowerCase())) return undefined;
  return env["OTEL_EXPORTER_OTLP_ENDPOINT"]?.trim() || undefined;
}
