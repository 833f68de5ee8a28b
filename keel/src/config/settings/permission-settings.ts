/** What every setting is made of; and the settings about what may run, who is asked, and what a person hears of it. */
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

export const telemetry = z.object({
  endpoint: setting(
    z.string(),
    "The collector, by OTLP over HTTP: spans go to `/v1/traces` below it, counters to `/v1/metrics`.",
  ),
  headers: setting(z.record(z.string(), z.string()), "Headers of each request, such as the collector's key."),
  names: setting(
    z.enum(["1.41", "genai-main"]),
    "Which text of the GenAI conventions is followed; `1.41` if left out.",
  ),
  contents: setting(
    z.boolean(),
    "`true`: what is said, arguments and results go along, with secrets covered. Nothing of it does if left out.",
  ),
});

const maskedVariable = z.looseObject({
  name: z.string().check(z.minLength(1), z.describe("The variable by which commands know it.")),
  mode: z
    .enum(["mask", "deny"])
    .check(z.describe("`mask`: commands hold a placeholder. `deny`: they do not have it at all.")),
  injectHosts: setting(
    texts,
    "Hosts whose requests get the real one, as in `sandbox.network.allowedDomains`.",
  ),
  file: setting(z.string(), "The file that holds it, in place of a variable of Keel's own."),
  keychain: setting(z.string(), "Its name in the system's keychain, in place of a variable."),
  header: setting(
    z.string(),
    "The header that it stands in; left out, any in which a command wrote the placeholder.",
  ),
  value: setting(z.string(), "What that header says, with `{key}` in it: `Bearer {key}`."),
  query: setting(z.string(), "The part of the address that it stands in."),
  basic: setting(z.string(), "The user whose password it is."),
});

/** Of the sandbox. */
const credentials = z.looseObject({
  envVars: setting(z.array(maskedVariable), "Keys that commands use and never hold."),
  allowPlaintextInject: setting(z.boolean(), "`true`: also over plain http, where others can read them."),
});

const sandboxNetwork = z.looseObject({
  allowedDomains: setting(texts, "Hosts that commands may reach, through Keel's proxy: `*.npmjs.org`."),
  deniedDomains: setting(texts, "Hosts that no command reaches, whatever else is allowed."),
  strictAllowlist: setting(z.boolean(), "Nobody is asked about another host: it is refused."),
  allowUnixSockets: setting(texts, "Sockets in the file system that commands may connect to."),
  allowAllUnixSockets: setting(z.boolean(), "All of them: a container's or an agent's socket is a way out."),
  allowLocalBinding: setting(
    z.boolean(),
    "Commands may listen at ports of loopback. On Linux that loopback is the sandbox's own, and they always may.",
  ),
  httpProxyPort: setting(z.number(), "Your own HTTP proxy at this port of loopback, in place of Keel's."),
  socksProxyPort: setting(z.number(), "Your own SOCKS proxy at this port of loopback, in place of Keel's."),
});

const sandboxFiles = z.looseObject({
  allowWrite: setting(texts, "Folders that commands may write to besides those of the workspace."),
  denyWrite: setting(texts, "What they may not write although it lies in one of those."),
  denyRead: setting(texts, "What they may not read."),
  allowRead: setting(texts, "What they may read although it lies in one of those."),
});

export const sandbox = z.looseObject({
  enabled: setting(z.boolean(), "Whether commands are confined by the system itself."),
  failIfUnavailable: setting(z.boolean(), "Nothing is started without it."),
  credentials: setting(credentials, "Keys that commands may use, and where they go."),
  requireFixedBubblewrap: setting(
    z.boolean(),
    "A bubblewrap with a known hole (below 0.12) is not used: without another layer the sandbox counts as missing.",
  ),
  autoAllowBashIfSandboxed: setting(
    z.boolean(),
    "Commands inside run without a question, unless they destroy, lead outside or are not understood; on if left out.",
  ),
  allowUnsandboxedCommands: setting(
    z.boolean(),
    "The model may ask for a run outside, which a person has to allow; on if left out.",
  ),
  excludedCommands: setting(texts, "Commands that run outside, as rules about Bash name them: `docker *`."),
  network: setting(sandboxNetwork, "What commands reach."),
  filesystem: setting(sandboxFiles, "What commands read and write."),
  ignoreViolations: setting(
    z.record(z.string(), texts),
    "What is not told when it was refused: by command (`*`: all), or by `file` and `network`, the paths or hosts.",
  ),
  allowNestedUserNamespaces: setting(
    z.boolean(),
    "Programs inside may make user namespaces of their own, as browsers do.",
  ),
  hooks: setting(z.boolean(), "Hooks that are commands run inside too."),
  mcpServers: setting(z.boolean(), "MCP servers that are started as programs run inside too."),
});

const wire = z.enum(["messages", "chat", "responses", "gemini"]);

export const provider = z.object({
  name: setting(z.string(), "What it is called, where it is one of your own."),
  baseUrl: setting(z.string(), "Where requests go."),
  key: setting(z.string(), "The key; better kept in the environment."),
  wire: setting(
    z.union([wire, z.record(z.string(), wire)]),
    "What is spoken there, for all models or by model (`*` for the rest). It makes a provider of any name you like.",
  ),
  npm: setting(
    z.string(),
    "A package of the AI SDK that you have installed, which speaks in place of Keel's wires.",
  ),
  options: setting(z.record(z.string(), z.json()), "What such a package is made with, as its own page says."),
});

export const formatter = z.object({
  files: z
    .union([z.string(), texts])
    .check(z.describe("Which files it forms, as paths in rules are written: `*.ts`, `/src`.")),
  command: z.string().check(z.describe("What runs after a change; `{file}` stands for the file.")),
  timeoutMs: setting(count, "How long an edit waits for it; 10000 if left out."),
});

export const diagnostics = z
  .object({
    files: z
      .union([z.string(), texts])
      .check(z.describe("Which files it looks after, as paths in rules are written: `*.ts`, `/src`.")),
    command: setting(z.string(), "A language server that speaks over standard input and output."),
    check: setting(
      z.string(),
      "A command that fails and names the file when something is wrong; `{file}` stands for it.",
    ),
    language: setting(z.string(), "What the server calls the language of these files."),
    options: setting(z.json(), "What the server is given at its start."),
    timeoutMs: setting(count, "How long an edit waits for it; 5000 if left out."),
  })
  .check(
    z.refine(
      ({ command, check }) => command !== undefined || check !== undefined,
      "names neither a `command` nor a `check`",
    ),
  );
