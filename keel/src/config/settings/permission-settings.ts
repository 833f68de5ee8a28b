/** What every setting is made of; and the settings about what may run and what a person hears of it. */
import * as z from "zod/mini";
import { permissionModeSchema } from "../../protocol/settings.ts";

/** A setting that may be left out, and what it means to a person. */
export const setting = <T extends z.ZodMiniType>(type: T, about: string): z.ZodMiniOptional<T> =>
  z.optional(type.check(z.describe(about)));

export const texts = z.array(z.string());
export const count = z.int().check(z.minimum(0), z.maximum(1_000_000_000_000));
export const positive = count.check(z.minimum(1));
export const amount = z.number().check(z.positive());

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

const sums = z.union([amount, z.array(amount)]);

export const costAlarms = z.object({
  sessionUsd: setting(sums, "Tell me when a session has cost this much; one sum or several."),
  dayUsd: setting(sums, "The same for all sessions of a day, in UTC."),
  monthUsd: setting(sums, "The same for all sessions of a month, in UTC."),
});

export const audit = z.object({
  enabled: setting(z.boolean(), "`true`: who decided what is written down; `keel audit` shows it."),
  maxMb: setting(amount, "When the file is this large a new one is begun; 10 if left out."),
  files: setting(positive, "Older files that are kept; 10 if left out."),
});
