/** In which permission mode a session starts, and who may bypass permissions. */
import type { Settings } from "../config/settings-schema.ts";
import type { LogNotice } from "../engine/ports.ts";
import { fault } from "../kernel/fault.ts";
import type { PermissionMode } from "../protocol/settings.ts";

export type Bypass = "allowed" | "refused" | "disabled";

/** Returns the mode, or throws `mode_refused`. */
export function allowedMode(mode: PermissionMode, bypass: Bypass): PermissionMode {
  if (mode !== "bypassPermissions" || bypass === "allowed") return mode;
  const reason =
    bypass === "disabled" ? "the settings forbid it." : "everything would run without a question.";
  throw fault("mode_refused", { mode, reason });
}

/** What the settings forbid nobody allows at a start. */
export function bypassOf({ permissions }: Settings, asked: "allowed" | "refused" | undefined): Bypass {
  if (permissions?.disableBypassPermissionsMode === "disable") return "disabled";
  return asked ?? "refused";
}

/** Throws `mode_refused` for a mode that was asked for at the start; one of a file is told and passed over. */
export function startMode(
  { permissions }: Settings,
  { asked, bypass }: { asked: PermissionMode | undefined; bypass: Bypass },
): { mode: PermissionMode; notices: readonly LogNotice[] } {
  const mode = permissions?.defaultMode ?? "default";
  if (mode === asked || mode !== "bypassPermissions" || bypass === "allowed")
    return { mode: allowedMode(mode, bypass), notices: [] };
  const text =
    "The settings ask for bypassPermissions, which needs --allow-dangerously-skip-permissions at the start: this session asks as usual.";
  return { mode: "default", notices: [{ level: "warning", code: "mode_refused", text }] };
}
