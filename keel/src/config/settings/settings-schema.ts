/** Every setting that a file may hold: its form, what it means, and whether a project may have a say in it. */
import * as z from "zod/mini";
import type { JsonObject } from "../../kernel/json.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { permissionModeSchema } from "../../protocol/settings.ts";
import { modelInfoSchema } from "../../protocol/usage.ts";

const says = z.describe;
const texts = z.array(z.string());
const count = z.int().check(z.minimum(0), z.maximum(1_000_000_000_000));
const amount = z.number().check(z.positive());

/** A hook as it is written: what a kind of hook needs beside its type is checked where hooks are run. */
const hook = z.looseObject({
  type: z.string().check(says("What kind it is: `command`, `http`, `prompt` …")),
  command: z.optional(z.string().check(says("The command that runs."))),
  timeout: z.optional(amount.check(says("Seconds until it is stopped."))),
});

const abilities = modelInfoSchema.shape.abilities.shape;

const model = z.object({
  ...z.partial(modelInfoSchema).shape,
  id: z.string(),
  abilities: z.optional(
    z.object({
      tools: z.exactOptional(abilities.tools),
      images: z.exactOptional(abilities.images),
      thinking: z.exactOptional(abilities.thinking),
      cache: z.exactOptional(abilities.cache),
    }),
  ),
});

export const settingsSchema = z.object({
  model: z.optional(z.string().check(says("The model that is asked, or an alias of one."))),
  fallbackModel: z.optional(
    z
      .union([z.string(), texts])
      .check(says("One model or several, tried in this order when the model is overloaded.")),
  ),
  models: z.optional(z.array(model).check(says("Models that Keel does not know, or knows otherwise."))),
  modelAliases: z.optional(
    z.record(z.string(), z.string()).check(says('Names of your own for models: `{ "fast": "haiku" }`.')),
  ),
  providers: z.optional(
    z
      .record(
        z.string(),
        z.object({
          baseUrl: z.optional(z.string().check(says("Where requests go."))),
          key: z.optional(z.string().check(says("The key; better kept in the environment."))),
        }),
      )
      .check(says("By the provider's id, such as `anthropic` or `openai`.")),
  ),
  permissions: z.optional(
    z
      .object({
        allow: z.optional(texts.check(says("Rules for what runs without a question."))),
        ask: z.optional(texts.check(says("Rules for what is asked every time."))),
        deny: z.optional(texts.check(says("Rules for what never runs. Counts from every source."))),
        defaultMode: z.optional(permissionModeSchema.check(says("The mode in which sessions start."))),
        additionalDirectories: z.optional(
          texts.check(says("Further folders to work in; relative ones are meant from the working folder.")),
        ),
        disableBypassPermissionsMode: z.optional(
          z.literal("disable").check(says("`disable`: nobody can bypass permissions here.")),
        ),
        protectedPaths: z.optional(
          z
            .enum(["ask", "allowed"])
            .check(
              says(
                "`allowed`: writes to git hooks, shell start files and the like are no longer asked in any case.",
              ),
            ),
        ),
      })
      .check(says("What may run. Over all sources deny beats ask, and ask beats allow.")),
  ),
  env: z.optional(
    z
      .record(z.string(), z.string())
      .check(says("Variables for commands, and from you also for Keel itself.")),
  ),
  hooks: z.optional(
    z
      .record(
        z.string(),
        z.array(
          z.looseObject({
            matcher: z.optional(z.string().check(says("Which tools it is for; all when left out."))),
            hooks: z.array(hook),
          }),
        ),
      )
      .check(says("By the name of the point, such as `PreToolUse`: what runs there.")),
  ),
  mcpServers: z.optional(
    z.record(z.string(), z.looseObject({})).check(says("Servers of tools, by a name of your own.")),
  ),
  mcp: z.optional(
    z
      .object({
        startMs: z.optional(
          count.check(says("How long the first request of a session waits for servers; 5000 if left out.")),
        ),
        connectMs: z.optional(
          count.check(z.minimum(1), says("How long a server may take to start; 30000 if left out.")),
        ),
        callMs: z.optional(
          count.check(
            z.minimum(1),
            says("How long a call may take without a sign of life; 300000 if left out."),
          ),
        ),
        disabled: z.optional(texts.check(says("Servers that are known but not started, by name."))),
        sampling: z.optional(
          z
            .enum(["ask", "off"])
            .check(says("Whether servers may ask the model something; each time you are asked first.")),
        ),
      })
      .check(says("How servers of tools are dealt with.")),
  ),
  outputStyle: z.optional(
    z
      .string()
      .check(says("How answers are written: `default`, `brief`, `teaching`, or a style of your own.")),
  ),
  limits: z.optional(
    z
      .object({
        maxTurns: z.optional(count.check(z.minimum(1), says("Most replies of the model to one input."))),
        maxBudgetUsd: z.optional(amount.check(says("Stop when a session has cost this much."))),
        maxTokens: z.optional(
          count.check(says("Stop when a session and its agents have used this many tokens.")),
        ),
        maxMinutes: z.optional(amount.check(says("Stop when a session has been open for this long."))),
        maxProcesses: z.optional(count.check(says("Commands that run at once, agents included."))),
        maxAgents: z.optional(count.check(says("Agents that run at once."))),
        maxAgentDepth: z.optional(count.check(says("How deep agents may start agents; 0 for none at all."))),
        maxAgentsUnasked: z.optional(
          count.check(says("Agents that one turn may start before you are asked.")),
        ),
        maxHeapMb: z.optional(
          count.check(z.minimum(1), says("Heap of the process from which on nothing new is taken.")),
        ),
        maxRetries: z.optional(count.check(says("Tries after a failure that cost nothing yet."))),
        maxStreamRetries: z.optional(count.check(says("Tries after a failure that may have cost a reply."))),
      })
      .check(says("What bounds a turn.")),
  ),
  autoMemoryEnabled: z.optional(
    z.boolean().check(says("`false`: no notes are kept over sessions, and none are read.")),
  ),
  autoCompactEnabled: z.optional(
    z
      .boolean()
      .check(says("`false`: a long conversation is shortened only when you ask for it, or when it must be.")),
  ),
  autoCompactWindow: z.optional(
    count.check(
      z.minimum(1_000),
      says("Tokens that a conversation may have, where the model would take more."),
    ),
  ),
  compaction: z.optional(
    z
      .object({
        strategy: z.optional(
          z
            .enum(["recent", "notes"])
            .check(
              says(
                "`recent`: the newest turns stay as they are, the default. `notes`: nothing but notes stays.",
              ),
            ),
        ),
      })
      .check(says("How a long conversation is shortened.")),
  ),
  guard: z.optional(
    z
      .enum(["on", "off"])
      .check(
        says(
          "`off`: commands run without the namespace that ends whatever they started; needed for setuid programs.",
        ),
      ),
  ),
  checkpoints: z.optional(
    z
      .object({
        enabled: z.optional(z.boolean().check(says("Whether files are kept as they were before a change."))),
        mostFiles: z.optional(count.check(says("Most files that are looked at before a command."))),
        mostFileBytes: z.optional(count.check(says("A larger file is not kept."))),
        mostBytes: z.optional(count.check(says("Most bytes that are kept before a command."))),
        quotaBytes: z.optional(count.check(says("Most bytes on disk; the oldest go first."))),
        exclude: z.optional(
          texts.check(
            says(
              "Files that are never copied, as paths in rules are written; those that look like secrets never are.",
            ),
          ),
        ),
      })
      .check(says("What `rewind` can restore.")),
  ),
  diagnostics: z.optional(
    z
      .array(
        z
          .object({
            files: z
              .union([z.string(), texts])
              .check(says("Which files it looks after, as paths in rules are written: `*.ts`, `/src`.")),
            command: z.optional(
              z.string().check(says("A language server that speaks over standard input and output.")),
            ),
            check: z.optional(
              z
                .string()
                .check(
                  says(
                    "A command that fails and names the file when something is wrong; `{file}` stands for it.",
                  ),
                ),
            ),
            language: z.optional(
              z.string().check(says("What the server calls the language of these files.")),
            ),
            options: z.optional(z.json().check(says("What the server is given at its start."))),
            timeoutMs: z.optional(count.check(says("How long an edit waits for it; 5000 if left out."))),
          })
          .check(
            z.refine(
              ({ command, check }) => command !== undefined || check !== undefined,
              "names neither a `command` nor a `check`",
            ),
          ),
      )
      .check(says("Who says what an edit broke: language servers and commands that check.")),
  ),
  sandbox: z.optional(
    z
      .looseObject({
        enabled: z.optional(z.boolean().check(says("Whether commands are to be confined."))),
        failIfUnavailable: z.optional(z.boolean().check(says("Nothing is started without it."))),
      })
      .check(
        says("Keel confines no commands: a sandbox that is wanted is warned about, or refuses the start."),
      ),
  ),
  search: z.optional(
    z
      .object({
        provider: z.optional(z.enum(["brave", "searxng"]).check(says("Who searches the web."))),
        url: z.optional(z.string().check(says("Where your own SearXNG stands."))),
        key: z.optional(z.string().check(says("The key; better kept in the environment."))),
      })
      .check(says("The search of the web.")),
  ),
  web: z.optional(
    z
      .object({
        allowHosts: z.optional(texts.check(says("Hosts of private networks from which pages may be read."))),
      })
      .check(says("The reading of web pages.")),
  ),
});

export type KeelSettings = z.infer<typeof settingsSchema>;

/** What even a trusted project has no say in, and why. A path covers what is under it. */
export const personOnly: Readonly<Record<string, string>> = {
  providers: "it says where your key goes",
  "permissions.protectedPaths": "it takes away questions that protect you",
  limits: "it says what you pay",
  mcp: "it says how long you wait and what servers may do",
  guard: "it says what becomes of processes when Keel ends",
  checkpoints: "it says what can be restored",
  search: "it says where your key and your questions go",
  web: "it opens your private network",
};

/** Lists to which every source adds. Any other list is one value. A star stands for any name. */
export const addingLists: readonly string[] = [
  "models",
  "permissions.allow",
  "permissions.ask",
  "permissions.deny",
  "permissions.additionalDirectories",
  "hooks.*",
  "checkpoints.exclude",
  "diagnostics",
  "web.allowHosts",
];

/** Objects that are one value each, not joined field by field. */
export const wholeObjects: readonly string[] = ["mcpServers.*"];

/** Values that are never shown. */
export const secretValues: readonly string[] = ["providers.*.key", "search.key"];

/** As editors and other programs read it. */
export function settingsJsonSchema(): JsonObject {
  const json = schemaOf(settingsSchema).json;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of Keel",
    ...json,
    additionalProperties: true,
  };
}
