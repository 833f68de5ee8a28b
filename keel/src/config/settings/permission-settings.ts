/** The settings about what may run: rules, the mode, and what the mode `auto` goes by. */
import * as z from "zod/mini";
import { permissionModeSchema } from "../../protocol/settings.ts";
import { setting, texts } from "./setting.ts";

export const permissions = z.object({
  allow: setting(texts, "Rules for what runs without a question."),
  ask: setting(texts, "Rules for what is asked every time."),
  deny: setting(texts, "Rules for what never runs. Counts from every source."),
  defaultMode: setting(permissionModeSchema, "The mode in which sessions start."),
  additionalDirectories: setting(
    texts,
    "Further folders to work in; relative ones are meant from the working folder.",
  ),
  disableBypassPermissionsMode: setting(
    z.literal("disable"),
    "`disable`: nobody can bypass permissions here.",
  ),
  protectedPaths: setting(
    z.enum(["ask", "allowed"]),
    "`allowed`: writes to git hooks, shell start files and the like are no longer asked in any case.",
  ),
});

export const autoMode = z.object({
  allow: setting(texts, "What is fine here, in plain words."),
  soft_deny: setting(texts, "What is not fine here, in plain words."),
  hard_deny: setting(texts, "What is never fine, in plain words; a rule that denies is stronger."),
  environment: setting(texts, "What whoever judges should know of this place."),
  model: setting(z.string(), "The model that judges; that of the session when left out."),
});
