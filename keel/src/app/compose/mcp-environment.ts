/** Where the servers of a session run. Loaded with the first server. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { McpEnvironment } from "../../mcp/routes.ts";
import { pipedPrograms } from "../../workspace/processes/piped.ts";
import type { LateGuard } from "./late-ports.ts";

export async function mcpEnvironment({
  cwd,
  home,
  guard,
  env,
  settings,
}: {
  cwd: string;
  home: string | undefined;
  guard: LateGuard;
  env: EnvironmentVariables;
  settings: KeelSettings;
}): Promise<McpEnvironment> {
  const allowHosts = settings.web?.allowHosts ?? [];
  return {
    cwd,
    home,
    start: pipedPrograms({ env: serverEnvironment(env), guard: await guard() }),
    async whyNot(url, from) {
      const { whyNotOutward } = await import("../../workspace/web/outward.ts");
      return whyNotOutward(url, { home: from, allowHosts });
    },
  };
}

/** What a server needs to run at all; whatever else it is to know stands in its configuration. */
const passed = [
  "HOME",
  "LOGNAME",
  "USER",
  "PATH",
  "SHELL",
  "TERM",
  "TZ",
  "LANG",
  "LANGUAGE",
  "TMPDIR",
  "TEMP",
  "TMP",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "DBUS_SESSION_BUS_ADDRESS",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "SYSTEMROOT",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
  "PATHEXT",
  "COMSPEC",
];
const passedStarts = ["LC_", "XDG_"];

export function serverEnvironment(env: EnvironmentVariables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (passed.includes(entry[0]) || passedStarts.some((start) => entry[0].startsWith(start))),
    ),
  );
}
