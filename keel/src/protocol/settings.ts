/** The settings of a running session that its host may change. Files and their layers are the config layer's work. */
import * as z from "zod/mini";
import { fileSeenSchema } from "./tool.ts";

export const permissionModes = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "bypassPermissions",
  "auto",
] as const;
export const permissionModeSchema = z.enum(permissionModes);
export type PermissionMode = z.infer<typeof permissionModeSchema>;

export const thinkingModeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("off") }),
  z.object({ kind: z.literal("budget"), tokens: z.number() }),
  z.object({ kind: z.literal("adaptive") }),
  /** Nobody said anything: as is usual for the model that is asked, also when that becomes another one. */
  z.object({ kind: z.literal("usual") }),
]);
export type ThinkingMode = z.infer<typeof thinkingModeSchema>;
/** What a request says. */
export type ThinkingWish = Exclude<ThinkingMode, { kind: "usual" }>;

export const efforts = ["low", "medium", "high", "xhigh", "max"] as const;
export const effortSchema = z.enum(efforts);
export type Effort = z.infer<typeof effortSchema>;

export const sessionSettingsSchema = z.object({
  model: z.string(),
  permissionMode: permissionModeSchema,
  thinking: thinkingModeSchema,
  effort: z.optional(effortSchema),
  title: z.optional(z.string()),
  /** A word of the user's own; empty for none. */
  tag: z.optional(z.string()),
  archived: z.optional(z.boolean()),
  /** What must hold before a turn ends, such as "npm test passes"; empty for nothing. */
  goal: z.optional(z.string()),
});
export type SessionSettings = z.infer<typeof sessionSettingsSchema>;

export const ruleListSchema = z.enum(["allow", "ask", "deny"]);
export type RuleList = z.infer<typeof ruleListSchema>;

/** A change of what the session may do, until it ends: of its own rules and folders, never of those in files. */
export const permissionChangeSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("rules"),
    change: z.enum(["add", "replace", "remove"]),
    list: ruleListSchema,
    rules: z.array(z.string()),
  }),
  z.object({
    type: z.literal("folders"),
    change: z.enum(["add", "remove"]),
    folders: z.array(z.string()),
  }),
]);
export type PermissionChange = z.infer<typeof permissionChangeSchema>;

export const settingsPatchSchema = z.object({
  ...z.partial(sessionSettingsSchema).shape,
  permissions: z.optional(z.array(permissionChangeSchema)),
  /** Files that the conversation holds as they are, although no tool of this session read them: the host knows it. */
  seen: z.optional(z.array(fileSeenSchema)),
});
export type SettingsPatch = z.infer<typeof settingsPatchSchema>;

/** The settings after a change. What the change does not name stays. */
export const patchSettings = (settings: SessionSettings, patch: SettingsPatch): SessionSettings => ({
  model: patch.model ?? settings.model,
  permissionMode: patch.permissionMode ?? settings.permissionMode,
  thinking: patch.thinking ?? settings.thinking,
  effort: patch.effort ?? settings.effort,
  title: patch.title ?? settings.title,
  tag: patch.tag ?? settings.tag,
  archived: patch.archived ?? settings.archived,
  goal: patch.goal ?? settings.goal,
});
