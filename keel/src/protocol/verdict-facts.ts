/**
 * What a decision rested on, kept beside the call or the question that it was about: for a person who asks why, and for
 * rules that are tried out on what has happened. Bounded, optional, and never told to a model.
 */
import * as z from "zod/mini";
import { permissionModeSchema } from "./settings.ts";
import { claimSchema } from "./tool.ts";

/** Where a rule comes from. Over all of them deny beats ask and ask beats allow; a source is told, and outranks none. */
export const ruleSources = [
  "managed",
  "project",
  "flags",
  "local",
  "user",
  "command-line",
  "command",
  "session",
] as const;
export type RuleSource = (typeof ruleSources)[number];

/** What a path was when somebody looked: nothing of it where it was there, inside the workspace and reached by no link. */
const pathFields = {
  /** Where it led, where that was another path. */
  leadsTo: z.optional(z.string()),
  /** The links on the way, each as it stands in its directory. */
  links: z.optional(z.array(z.string())),
  missing: z.optional(z.boolean()),
  /** In no root of the workspace. */
  outside: z.optional(z.boolean()),
  /** One of Keel's own files. */
  own: z.optional(z.boolean()),
  /** Why nothing could be done with it at all. */
  problem: z.optional(z.string()),
  /** Only the start of a text stands here. */
  cut: z.optional(z.boolean()),
};

export const pathFoundSchema = z.object({ path: z.string(), ...pathFields });
export type PathFound = z.infer<typeof pathFoundSchema>;

export const claimFoundSchema = z.object({
  action: claimSchema.shape.action,
  target: claimSchema.shape.target,
  /** A command that was to run outside of the sandbox. */
  unsandboxed: z.optional(z.literal(true)),
  ...pathFields,
});
export type ClaimFound = z.infer<typeof claimFoundSchema>;

export const placeFoundSchema = z.object({
  /** How many things of it the proof asked for, all of which were looked at. */
  demands: z.number(),
  /** What stood there, in the folder or above it, and would act. */
  marks: z.optional(z.array(z.string())),
  /** The repository that git would have used in a folder. */
  repositories: z.optional(
    z.array(
      z.object({
        folder: z.string(),
        kind: z.enum(["none", "own", "other", "planted"]),
        /** By what it was found. */
        mark: z.optional(z.string()),
      }),
    ),
  ),
  /** Folders of PATH that are the workspace's, and the names of variables that lead into it. */
  searched: z.optional(z.array(z.string())),
  variables: z.optional(z.array(z.string())),
});
export type PlaceFound = z.infer<typeof placeFoundSchema>;

export const verdictFactsSchema = z.object({
  /** What rules and mode said by themselves; who had the last word is told beside it. */
  verdict: z.enum(["allow", "ask", "deny"]),
  mode: permissionModeSchema,
  /** Why, in one sentence. */
  reason: z.string(),
  /** The rule that it was by, as it is written, and where it stands. */
  rule: z.optional(
    z.object({ text: z.string(), list: z.enum(["allow", "ask", "deny"]), source: z.enum(ruleSources) }),
  ),
  /** What a hook said before. */
  hook: z.optional(z.object({ verdict: z.enum(["allow", "deny", "ask"]), reason: z.string() })),
  /** What the reviewer of the mode `auto` said of it. */
  review: z.optional(z.object({ verdict: z.enum(["allow", "deny", "ask"]), reason: z.string() })),
  /** What the call claimed. */
  claims: z.array(claimFoundSchema),
  /** How many claims more there were. */
  moreClaims: z.optional(z.number()),
  /** What else was looked at, such as the paths that a command names. */
  paths: z.optional(z.array(pathFoundSchema)),
  morePaths: z.optional(z.number()),
  /** The names that patterns of a command stood for at this moment. */
  expanded: z.optional(z.array(z.string())),
  moreExpanded: z.optional(z.number()),
  /** Of several patterns: which of these names each stood for, by their places above, in the order of the patterns. */
  expandedEach: z.optional(z.array(z.array(z.number()))),
  /** What was seen of the place where a command would run. */
  place: z.optional(placeFoundSchema),
  /** Whether the settings of the project might act. */
  trust: z.optional(z.enum(["trusted", "untrusted"])),
  /** What paths were relative to; `roots` where they are others than the folder alone. */
  cwd: z.optional(z.string()),
  home: z.optional(z.string()),
  roots: z.optional(z.array(z.string())),
  /** The tool says of this input that it changes nothing. */
  readOnly: z.optional(z.boolean()),
  /** Its command ran inside the sandbox, where no question is asked of what does no great harm. */
  confined: z.optional(z.boolean()),
  /** The file of the plan, where a claim was about it. */
  planFile: z.optional(z.string()),
  /** The person let protected paths pass. */
  protectedPaths: z.optional(z.literal("allowed")),
});
export type VerdictFacts = z.infer<typeof verdictFactsSchema>;
