/** `keel -p`: one prompt in, one answer out. Opens the session, shows it in the wanted form, and ends with its code. */
import { type Home, openHome } from "../../../app/home.ts";
import { mustFit, type OpenOptions, openOptionsOf } from "../../../app/options.ts";
// A home loads it with the first session; here there is always one.
import "../../../app/open-session.ts";
import { type OptionValues, oneOf, usage } from "../../../app/flags/arguments.ts";
import { type besideOptions, type FlagValues, readUserFlags } from "../../../app/flags/session-flags.ts";
import { Fault } from "../../../kernel/fault.ts";
import { toLine } from "../../../kernel/json.ts";
import { readable, shorten, visible } from "../../../kernel/text.ts";
import { type Envelope, type EventHandlers, handle } from "../../../protocol/event/envelope.ts";
import { lastTextOf } from "../../../protocol/message.ts";
import { endsWell } from "../../../protocol/reasons.ts";
import type { Options } from "../../../sdk/options/options.ts";
import type { Context } from "../context.ts";
import { hasPerson, refuseAsks } from "../terminal/answer-asks.ts";
import { type ConversationOptions, converse, type NewPrinter } from "./converse.ts";
import type { JsonOutput } from "./json-printer.ts";
import { readPrompt } from "./prompt.ts";

const formats = ["text", "json", "stream-json"] as const;

export type SessionValues = FlagValues & OptionValues<typeof besideOptions>;
type PrintValues = SessionValues & {
  readonly [Name in "output-format" | "input-format"]: string | undefined;
} & { readonly verbose: boolean };

export async function print(
  { values, positionals }: { readonly values: PrintValues; readonly positionals: readonly string[] },
  context: Context,
): Promise<number> {
  const format = oneOf("output-format", values["output-format"], formats) ?? "text";
  // The other format was taken before: it has more options than a table for people should list.
  oneOf("input-format", values["input-format"], ["text"]);
  const partial = values["include-partial-messages"] === true;
  if (partial && format !== "stream-json")
    throw usage("--include-partial-messages needs --output-format stream-json.");
  const newPrinter = await printerFor(format, {
    replies: partial ? "pieces" : "whole",
    hookEvents: values["include-hook-events"] === true,
    echoes: values["replay-user-messages"],
  });
  const prompt = await readPrompt(positionals, context);
  const goesOn = values["resume"] !== undefined || values["continue"] === true;
  if (prompt === undefined && !goesOn)
    throw usage("There is no prompt: give one after -p, or on standard input.");

  const options = await openOptions(values, prompt === undefined ? "go on" : "new prompt", context);
  await using stage = values["model"] === "rehearsal" ? await rehearsalStage(goesOn) : undefined;
  const wanted = { ...options, ...stage?.options(context) };
  const home = openHome(wanted);
  const at = values["resume-session-at"];
  const which = typeof at === "string" ? await whichAt(values, at, { wanted, home }) : wanted.which;
  const conversation = {
    prompt,
    words: values["disable-slash-commands"] ? ("as-is" as const) : undefined,
    newPrinter,
    context,
    level: values.verbose || values.debug ? ("info" as const) : ("warning" as const),
  };
  const session = await home.open({ ...wanted, which }).catch(async (thrown: unknown) => {
    if (!(thrown instanceof Fault) || thrown.code !== "session_served") throw thrown;
    const { mustBeSayable, openServed } = await import("./served-session.ts");
    await mustBeSayable(values, context.cwd);
    const { model, effort, thinking, permissionMode, title } = wanted;
    const served = await openServed({
      home,
      id: String(thrown.detail["session"]),
      prompt,
      settings: { model, effort, thinking, permissionMode, title },
      env: context.env,
    });
    return { served };
  });
  // Awaited here: the stage of a rehearsal stands until the last word.
  if ("served" in session)
    return await converse(session.served, {
      ...conversation,
      answer: values["permission-prompts"] === "none" ? refuseAsks : undefined,
    });
  return await converse(session, { ...conversation, answer: await answererFor(values, context) });
}

/** Loaded late: few go on from an earlier message. */
async function whichAt(
  { resume }: SessionValues,
  resumeSessionAt: string,
  { wanted, home }: { wanted: OpenOptions; home: Home },
): Promise<OpenOptions["which"]> {
  if (typeof resume !== "string") throw usage("--resume-session-at needs --resume.");
  const { whichOf } = await import("../../../sdk/query/opened.ts");
  return whichOf({ resumeSessionAt }, wanted, home);
}

/** A tool of a server, or nobody; left out: the person at the terminal, where one is. */
async function answererFor(values: SessionValues, { err }: Context): Promise<ConversationOptions["answer"]> {
  if (values["permission-prompts"] === "none") return refuseAsks;
  const name = values["permission-prompt-tool"];
  if (typeof name !== "string") return undefined;
  if (name === "stdio") throw usage("--permission-prompt-tool stdio needs --input-format stream-json.");
  const { answerWith } = await import("../../../sdk/options/callbacks.ts");
  const { promptTool } = await import("../../../sdk/query/opened.ts");
  return (session) =>
    answerWith(session, {
      canUseTool: promptTool({ permissionPromptToolName: name }, session),
      tell: (problem) => err.line(`keel: ${problem}`),
    });
}

/** From the options of the command line to those of a session. What does not fit together is a usage fault. */
export async function openOptions(
  values: SessionValues,
  start: "new prompt" | "go on",
  context: Context,
): Promise<OpenOptions> {
  const { env, cwd, version } = context;
  const given = await readUserFlags("cli", values, cwd);
  mustFit(given);
  return openOptionsOf(given, {
    version,
    env,
    cwd,
    // A new prompt gives an unfinished turn up; without one it is what goes on.
    unfinished: start === "go on" ? "continue" : "lost",
    asks: answersAsks(values, context) ? "answered" : "refused",
    mcpServers: given.mcpServers && (await checkedServers(given.mcpServers, env)),
    checkpoints: "on",
    memory: values.bare ? "off" : "on",
    agents: given.agents && (await agentsIn(given.agents)),
  });
}

const answersAsks = (values: SessionValues, context: Context): boolean =>
  values["permission-prompts"] !== "none" &&
  (values["permission-prompt-tool"] !== undefined || hasPerson(context));

async function agentsIn(agents: Record<string, unknown>) {
  const { agentsOf } = await import("../../../sdk/options/open-options.ts");
  return agentsOf({ agents: agents as NonNullable<Options["agents"]> });
}

async function checkedServers(servers: Record<string, unknown>, env: Context["env"]) {
  const { namedServers } = await import("../../../app/maintenance/mcp-manage.ts");
  return namedServers(servers, { env, what: "--mcp-config" });
}

/** What only programs read is loaded only for them. */
async function printerFor(
  format: (typeof formats)[number],
  more: Omit<JsonOutput, "show">,
): Promise<NewPrinter> {
  if (format === "text") return textPrinter;
  const { jsonPrinter } = await import("./json-printer.ts");
  return jsonPrinter({ show: format === "json" ? "result" : "all", ...more });
}

/** The rehearsal model works only in a folder of its own, which is gone afterwards. */
async function rehearsalStage(goesOn: boolean) {
  if (goesOn)
    throw usage(
      "The rehearsal model starts anew in a temporary folder each time; there is nothing to go on with.",
    );
  const { openStage } = await import("../commands/rehearsal-stage.ts");
  return openStage();
}

/** `--output-format text`: the final text and nothing else; with a schema, the answer as a line of JSON. */
export const textPrinter: NewPrinter = async ({ mcp }, { out, err }) => {
  let reply = "";
  let failedServers: readonly string[] = [];
  let result: string | undefined;
  const heard: EventHandlers<Envelope, [], void> = {
    "turn.started": () => {
      reply = "";
      result = undefined;
    },
    "command.answered": ({ text }) => {
      result = text;
    },
    "model.finished": ({ content }) => {
      reply = lastTextOf(content);
    },
    "turn.finished": ({ reason, answer }) => {
      if (endsWell(reason)) result = answer === undefined ? reply : toLine(answer);
      failedServers = mcp.status().flatMap(({ name, status }) => (status === "failed" ? [name] : []));
    },
  };
  return {
    event(envelope) {
      if (!envelope.origin) handle(heard, envelope);
    },
    finish() {
      // Whoever reads JSON finds it in the first message; here nobody would learn why tools were missing.
      if (failedServers.length > 0) err.line(sayFailed(failedServers));
      // On a screen the model's words must not act as commands to it; a program gets them byte for byte.
      if (result) out.line((out.isTerminal ? readable(result) : result).replace(/\n$/, ""));
    },
  };
};

const sayFailed = (servers: readonly string[]): string => {
  const names = visible(servers.map((name) => shorten(name, 40)).join(", "));
  return `keel: MCP servers that failed, and whose tools were missing: ${names}. \`keel mcp status\` says why.`;
};
