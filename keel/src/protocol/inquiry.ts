/**
 * What a host may ask about an open session, as one table: every door takes the name of a row with its question, and
 * gives its answer. `app/inquiries/` has the answers; doors that speak somebody else's words put them into those.
 */
import * as z from "zod/mini";
import { counterSchema } from "./counters.ts";
import { shownPanelSchema } from "./extension.ts";
import { jsonSchema } from "./message.ts";
import { scheduleEntrySchema } from "./schedule.ts";
import { effortSchema, permissionModeSchema, ruleListSchema } from "./settings.ts";
import { teamReportSchema } from "./team.ts";
import { billSchema, contextBreakdownSchema, modelInfoSchema } from "./usage.ts";

const text = z.string();
const opt = z.optional;
const list = <T extends z.ZodMiniType>(of: T) => z.readonly(z.array(of));

/**
 * `prompt`: a text that is put to the model. `local`: answered at once, without the model. `screen`: something that a
 * screen shows and lets choose from; where there is none it is answered with words.
 */
const commandKindSchema = z.enum(["prompt", "local", "screen"]);

const commandInfoSchema = z.object({
  name: text,
  description: text,
  argumentHint: text,
  kind: commandKindSchema,
  source: z.enum(["built-in", "managed", "project", "user", "plugin", "bundled", "mcp"]),
  aliases: list(text),
  /** Can be called, but is not listed. */
  hidden: z.boolean(),
  /** Is answered also while a turn runs. */
  immediate: z.boolean(),
});
export type CommandInfo = Readonly<z.infer<typeof commandInfoSchema>>;

const agentKindSchema = z.object({ name: text, description: text, model: opt(text) });

/** Whether the project's own settings count. */
const projectTrustSchema = z.object({
  root: text,
  /** `session`: for this session only, because its sources were named. */
  state: z.enum(["trusted", "session", "untrusted"]),
  /** What waits for trust, as `permissions.allow` or `hooks.SessionStart`. */
  leftOut: list(text),
});

const sessionFactsSchema = z.object({
  cwd: text,
  roots: list(text),
  model: text,
  provider: text,
  /** The name of the variable in the environment, `settings`, or `none`; never the key. */
  keySource: text,
  permissionMode: permissionModeSchema,
  /** In the order in which the model is told of them. */
  tools: list(text),
  /** The kinds of agents that work can be given to. */
  agents: list(agentKindSchema),
  /** What can be called with a slash now, prompts of servers included, sorted by name. */
  commands: list(commandInfoSchema),
  /** The names of the skills that the model is offered. */
  skills: list(text),
  plugins: list(z.object({ name: text, path: text, version: z.exactOptional(text) })),
  /** How answers are written, and which other ways there are. */
  outputStyle: z.object({ name: text, all: list(text) }),
  /** What is known about the model and its fallbacks, by id. */
  models: z.record(text, modelInfoSchema),
  /** Where notes of the project are kept, where any are. */
  memoryFolder: z.exactOptional(text),
  /** Whether a guard is wanted for commands; which kind this machine allows is known with the first one. */
  guard: z.enum(["on", "off"]),
  trust: projectTrustSchema,
});
export type SessionFacts = Readonly<z.infer<typeof sessionFactsSchema>>;

const settingRowSchema = z.object({
  name: text,
  /** Without secrets. */
  value: z.unknown(),
  source: text,
  file: opt(text),
  state: z.enum(["counts", "overridden", "left-out"]),
  why: opt(text),
});
export type SettingRow = Readonly<z.infer<typeof settingRowSchema>>;

const hookRowSchema = z.object({
  event: text,
  matcher: text,
  /** `command`, `http` …, and what it runs or calls. */
  type: text,
  words: text,
  source: z.enum(["settings", "plugin", "program"]),
  plugin: opt(text),
  timeoutSeconds: opt(z.number()),
});
export type HookRow = Readonly<z.infer<typeof hookRowSchema>>;

const ruleRowSchema = z.object({ list: ruleListSchema, rule: text, source: text });
export type SessionRuleRow = Readonly<z.infer<typeof ruleRowSchema>>;

const runningTaskSchema = z.object({
  id: text,
  description: text,
  /** Its end comes back to the model by itself; what a command merely left behind does not. */
  reports: z.boolean(),
});
export type RunningTask = Readonly<z.infer<typeof runningTaskSchema>>;

/** By the text alone: nothing is looked at and nothing runs. */
const explanationSchema = z.object({
  verdict: z.enum(["allow", "ask", "deny"]),
  because: text,
  /** The program of every simple command. */
  programs: list(text),
  /** Programs that those would start in turn. */
  wrapped: list(text),
  flags: z.object({
    readOnly: z.boolean(),
    writesOutsideCwd: z.boolean(),
    network: z.boolean(),
    destructive: z.boolean(),
  }),
  /** Each simple command of it word by word, as the policy reads them. */
  commands: list(
    z.object({
      words: list(
        z.object({
          text,
          /** `open`: only the run knows what it is. `pattern`: the files that are there decide. */
          role: z.enum(["program", "option", "reads", "writes", "word", "pattern", "open"]),
          outside: z.exactOptional(z.boolean()),
          /** It is a name that secrets are kept under. */
          secret: z.exactOptional(z.boolean()),
        }),
      ),
      /** It is proved to only read; else `because` says why it is not. */
      readOnly: z.boolean(),
      because: z.exactOptional(text),
      network: z.boolean(),
      destructive: z.boolean(),
      writesOutside: z.boolean(),
      /** Programs that it starts in turn. */
      runs: list(text),
      /** It runs code that the text does not show. */
      hides: z.boolean(),
      pipedFrom: list(text),
    }),
  ),
});

const settingsSchema = z.object({
  effective: z.unknown(),
  rows: list(settingRowSchema),
  /** What the session has made of it by now. */
  applied: opt(z.object({ model: text, permissionMode: permissionModeSchema, effort: opt(effortSchema) })),
});

type InquiryRow<Question, Answer> = {
  readonly says: string;
  readonly question: z.ZodMiniType<Question>;
  readonly answer: z.ZodMiniType<Answer>;
};

const nothing = z.object({});
const about = <Answer>(says: string, answer: z.ZodMiniType<Answer>): InquiryRow<object, Answer> => ({
  says,
  question: nothing,
  answer,
});

export const inquiries = {
  facts: about("Where and with what the session works", sessionFactsSchema),
  models: about("The models that Keel knows, with what the settings add", list(modelInfoSchema)),
  offeredModels: about(
    "The models that the person can choose from, by the names to choose them by, with the levels of effort",
    list(z.object({ name: text, model: modelInfoSchema, efforts: list(effortSchema) })),
  ),
  commands: about("What can be called with a slash now", list(commandInfoSchema)),
  agents: about("The kinds of agents that work can be given to", list(agentKindSchema)),
  servers: about("How each MCP server stands", list(z.looseObject({ name: text, status: text }))),
  context: about("What fills the next request, by kind", contextBreakdownSchema),
  usage: about("What the session has used and cost, by model", billSchema),
  counters: about(
    "The same as counters, which only grow: cost, tokens and replies by model",
    list(counterSchema),
  ),
  tasks: about("What runs in the background now", list(runningTaskSchema)),
  team: about(
    "The team of the session: how each member stands, who waits for whom, what they told each other last; null where there is none",
    z.nullable(teamReportSchema),
  ),
  schedules: about(
    "The schedules of the home, the next to start first, with their last runs",
    list(scheduleEntrySchema),
  ),
  settings: about("The settings in force, and every value of every source, without secrets", settingsSchema),
  rules: about("The rules as they are now, those that the session learnt included", list(ruleRowSchema)),
  hooks: about("Every hook that would be called", list(hookRowSchema)),
  editor: about(
    "Whether an editor is connected, which, and which file it shows",
    z.object({
      state: z.enum(["off", "connecting", "connected", "waiting", "given-up"]),
      name: opt(text),
      file: opt(text),
      reason: opt(text),
    }),
  ),
  position: about("How far the log has come: the number of its last event", z.object({ seq: z.number() })),
  explain: {
    says: "What policy finds in a call: what would be decided, which programs a command runs, and what it does",
    question: z.object({ tool: text, input: z.record(text, jsonSchema) }),
    answer: explanationSchema,
  },
  files: {
    says: "Files of the workspace whose path fits what somebody has typed so far, the nearest first",
    question: z.object({ typed: text }),
    answer: list(text),
  },
  panels: about(
    "The panels that plugins bring, for a screen that shows them beside a conversation",
    list(z.object({ id: text, title: text })),
  ),
  panel: {
    says: "What such a panel shows now: displays and forms, as data",
    question: z.object({ id: text }),
    answer: shownPanelSchema,
  },
  taskOutput: {
    says: "What a task has written, as far as a file holds it; null for a task that is none",
    question: z.object({ id: text }),
    answer: z.nullable(z.object({ text, totalBytes: z.number(), truncated: z.boolean() })),
  },
} as const satisfies Readonly<Record<string, InquiryRow<object, unknown>>>;

export type InquiryName = keyof typeof inquiries;
export type InquiryQuestion<Name extends InquiryName> = z.infer<(typeof inquiries)[Name]["question"]>;
export type InquiryAnswer<Name extends InquiryName> = z.infer<(typeof inquiries)[Name]["answer"]>;
/** A question without a field need not be given. */
export type Inquire = <Name extends InquiryName>(
  name: Name,
  ...question: object extends InquiryQuestion<Name> ? [InquiryQuestion<Name>?] : [InquiryQuestion<Name>]
) => Promise<InquiryAnswer<Name>>;

/** How an inquiry travels: its name, and its question as JSON. */
export const inquireFields = { inquiry: text, question: opt(z.record(text, jsonSchema)) };
