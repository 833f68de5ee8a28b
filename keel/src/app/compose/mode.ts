/** In which permission mode a session starts, and who may bypass permissions. */

import type { JudgedEntry } from "../../config/settings/entries.ts";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import type { LogNotice } from "../../ports/store.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { SandboxContext, SessionSandbox } from "./sandbox.ts";

/**
 * `unsure`: what an administrator forbids cannot all be read, so that nobody knows what bypassing would skip. `root`:
 * whoever may do everything on a machine that is no sandbox is held back by nothing but questions.
 */
export type Bypass = "allowed" | "refused" | "disabled" | "unsure" | "root";

/** Returns the mode, or throws `mode_refused`. */
export function allowedMode(mode: PermissionMode, bypass: Bypass): PermissionMode {
  if (mode !== "bypassPermissions" || bypass === "allowed") return mode;
  throw fault("mode_refused", { mode, reason: whyRefused[bypass] });
}

const whyRefused: Readonly<Record<Exclude<Bypass, "allowed">, string>> = {
  refused: "everything would run without a question.",
  disabled: "the settings forbid it.",
  unsure: "a part of the administrator's settings cannot be read, and it may forbid something.",
  root: "bypassing is not for root/sudo privileges outside of a sandbox; IS_SANDBOX=1 in the environment says that this is one.",
};

/** What the settings forbid nobody allows at a start. */
export function bypassOf(
  { permissions }: KeelSettings,
  {
    asked,
    managed,
    asRoot,
  }: { asked: "allowed" | "refused" | undefined; managed: "whole" | "damaged"; asRoot: boolean },
): Bypass {
  if (permissions?.disableBypassPermissionsMode === "disable") return "disabled";
  if (managed === "damaged") return "unsure";
  return asked === "allowed" && asRoot ? "root" : (asked ?? "refused");
}

/** By the environment of the start: no file can say that a machine is a sandbox. */
export const isBareRoot = (env: EnvironmentVariables): boolean =>
  process.getuid?.() === 0 && env["IS_SANDBOX"] !== "1";

/** Throws `mode_refused` for a mode that was asked for at the start; one of a file is told and passed over. */
export function startMode(
  { permissions }: KeelSettings,
  { asked, bypass }: { asked: PermissionMode | undefined; bypass: Bypass },
): { mode: PermissionMode; notices: readonly LogNotice[] } {
  const mode = permissions?.defaultMode ?? "default";
  if (mode === asked || mode !== "bypassPermissions" || bypass === "allowed")
    return { mode: allowedMode(mode, bypass), notices: [] };
  const text =
    "The settings ask for bypassPermissions, which needs --allow-dangerously-skip-permissions at the start: this session asks as usual.";
  return { mode: "default", notices: [{ level: "warning", code: "mode_refused", text }] };
}

/** Whether commands are to be confined: a wish of any source counts, and none can take it back. */
export const wantsSandbox = (entries: readonly JudgedEntry[]): boolean =>
  entries.some(
    ({ path, value, state }) =>
      path.join(".") === "sandbox.enabled" && value === true && state.kind !== "left-out",
  );

/** Nothing is loaded where nobody wants commands to be confined. */
export async function sandboxOf(
  context: SandboxContext,
): Promise<{ readonly sandbox?: SessionSandbox; readonly notices: readonly LogNotice[] }> {
  if (!wantsSandbox(context.entries)) return { notices: [] };
  return (await import("./sandbox.ts")).sessionSandbox(context);
}

/** Hosts inside that commands may reach are open to tools of the web too. */
export const withHostsOf = (sandbox: SessionSandbox | undefined, settings: KeelSettings): KeelSettings => ({
  ...settings,
  web: { allowHosts: [...(settings.web?.allowHosts ?? []), ...(sandbox?.web.allowHosts ?? [])] },
});
