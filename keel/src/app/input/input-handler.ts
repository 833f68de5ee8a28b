/**
 * A person's words before they become an input: a slash at their start calls a command, an `@` in them names files and
 * agents. Every host gets the same, since it happens here and not in a host. What is none of these passes as it is.
 */
import { foreign } from "../../core/context/blocks.ts";
import { enclose, marksOf } from "../../core/context/enclose.ts";
import type { EnvelopeListener } from "../../engine/journal.ts";
import type { Session } from "../../engine/session.ts";
import { toFault } from "../../kernel/fault.ts";
import { oneLine } from "../../kernel/text.ts";
import type { InputCommand, Receipt } from "../../protocol/command.ts";
import type { LiveEvent } from "../../protocol/event/live.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import type { Display } from "../../protocol/tool.ts";
import { traceparentIn } from "../../protocol/trace.ts";
import type { SessionComposition } from "../compose/session-composition.ts";
import type { Extensions } from "../extensions/extensions.ts";
import { commandsNow } from "../inquiries/facts.ts";
import type { AttachContext } from "./attach-mentions.ts";
import type { CommandContext } from "./commands/command.ts";
import type { Registry } from "./commands/registry.ts";
import { expandMcp } from "./mcp-text.ts";

export type InputHandler = {
  handle(command: InputCommand): Promise<Receipt>;
  whyNotAttached(path: string): Promise<string | undefined>;
  /** Events of the session and of commands, to one listener. */
  onEvent(listener: EnvelopeListener): () => void;
};

/** Ids of inputs that are remembered: the same one sent twice runs its command once. */
const maxIds = 1_000;

export function inputHandler({
  session,
  idle,
  kit,
  about,
}: {
  session: Session;
  idle: ExpandContext["idle"];
  kit: SessionComposition;
  about: Pick<
    CommandContext,
    "id" | "version" | "location" | "info" | "settingsLocation" | "bill" | "context" | "submit" | "sessions"
  >;
}): InputHandler {
  const { texts, parts } = kit;
  const listeners = new Set<EnvelopeListener>();
  const receipts = new Map<string, Promise<Receipt>>();
  const caller = traceparentIn(kit.settingsLocation.env["TRACEPARENT"]);
  const context: ExpandContext = {
    idle,
    extensions: kit.brought.extensions,
    get registry() {
      return texts.registry;
    },
    attach: askingContext(
      texts.attachContext(() => session.state),
      session,
      kit.store,
    ),
    context: {
      ...about,
      get library() {
        return texts.library;
      },
      commands: () => commandsNow(kit),
      servers: () => kit.mcp.control.status(),
      server: kit.mcp.control,
      editor: kit.editor,
      settings: () => session.state.settings,
      goalTries: () => session.state.goal,
      now: () => parts.clock.now(),
      async team() {
        const { teamReport } = await import("../inquiries/team-report.ts");
        return teamReport({ session, store: kit.store, asks: kit.agents.tree.asks() });
      },
      schedules: async () => (await kit.schedules?.entries()) ?? [],
      hasSaid: () => session.state.history.length > 0,
      instructions: () => texts.instructions(),
    },
  };
  const show = (event: LiveEvent): void => {
    for (const listener of listeners) listener({ at: parts.clock.now(), session: session.id, ...event });
  };
  const takeOwn = async (command: InputCommand, words: "shell" | "note"): Promise<Receipt> => {
    const { runOwnCommand, rememberWords } = await import("./own-words.ts");
    const own =
      words === "shell"
        ? await runOwnCommand(command.content, context.attach)
        : await rememberWords(command.content, parts.memory);
    const name = words === "shell" ? "!" : "#";
    show({ type: "command.answered", name, text: own.said });
    if (own.content)
      await session.submit({ ...command, content: own.content, when: "with-next", words: "as-is" });
    return { type: "ran", command: name };
  };
  const take = async (command: InputCommand): Promise<Receipt> => {
    if (command.words === "shell" || command.words === "note") return takeOwn(command, command.words);
    // The tags that are put around files and resources from here on are ours: nobody else writes them.
    const plain = { ...command, content: foreign(command.content) };
    const named = await expandMcp(plain, kit.mcp.control);
    for (const text of named.problems) show({ type: "notice.raised", level: "warning", text });
    const expanded = await expandInput(named.command, context);
    if (expanded.kind === "local") {
      const { name, output, display } = expanded;
      if (output !== "")
        show({ type: "command.answered", name, text: output, ...(display ? { display } : {}) });
      return { type: "ran", command: name };
    }
    for (const text of expanded.problems) show({ type: "notice.raised", level: "warning", text });
    // Whoever says nothing of a trace belongs to that of whoever started us.
    return session.submit({ ...caller, ...expanded.command });
  };
  return {
    handle(command) {
      const { id } = command;
      if (id === undefined) return take(command);
      const known = receipts.get(id);
      if (known !== undefined)
        return known.then((receipt) =>
          receipt.type === "accepted" ? { ...receipt, duplicate: true } : receipt,
        );
      const receipt = take(command);
      receipts.set(id, receipt);
      // What was not accepted may be sent again.
      receipt.catch(() => receipts.delete(id));
      const [oldest] = receipts.keys();
      if (receipts.size > maxIds && oldest !== undefined) receipts.delete(oldest);
      return receipt;
    },
    async whyNotAttached(path) {
      const late = await import("./attach-mentions.ts");
      return late.whyNotAttached(path, context.attach);
    },
    onEvent(listener) {
      const stop = session.onEvent(listener);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        stop();
      };
    },
  };
}

/** Commands in what a person calls are asked about like those of the model, where somebody can be asked. */
function askingContext(
  context: AttachContext,
  session: Session,
  store: AttachContext["store"],
): AttachContext {
  return {
    store,
    workspace: context.workspace,
    get agents() {
      return context.agents;
    },
    policy: {
      ...context.policy,
      mayRun: (command, allow) => session.permitCommand({ command, allow }),
    },
  };
}

type Expanded =
  /** To be accepted as an input. */
  | { readonly kind: "input"; readonly command: InputCommand; readonly problems: readonly string[] }
  /** Answered already. */
  | {
      readonly kind: "local";
      readonly name: string;
      readonly output: string;
      readonly display?: Display | undefined;
    };

type ExpandContext = {
  readonly extensions: Extensions | undefined;
  readonly registry: Registry;
  readonly attach: AttachContext;
  readonly context: CommandContext;
  /** Resolves when no turn runs any more. */
  idle(): Promise<void>;
};

async function expandInput(command: InputCommand, context: ExpandContext): Promise<Expanded> {
  if (command.words === "as-is" || (command.from?.kind ?? "person") !== "person")
    return { kind: "input", command, problems: [] };
  const called = calledIn(command.content);
  const found = called && context.registry.find(called.name);
  if (called && found?.kind === "local") {
    const { name, run, waits } = found.command;
    try {
      if (waits) await context.idle();
      return { kind: "local", name, output: await run(called.args, context.context) };
    } catch (thrown) {
      // What cannot be done is the answer.
      return { kind: "local", name, output: toFault(thrown).message };
    }
  }
  const extended = called && found === undefined ? await runExtension(called, context) : undefined;
  if (extended) return extended.kind === "local" ? extended : inputOf(command, extended.prompt);
  const said = await withMentions(command, context);
  if (!called || found?.kind !== "prompt") return said;
  const { readPrompt } = await import("./read-prompt.ts");
  const read = await readPrompt(found.prompt, called.args, {
    world: context.attach,
    signal: new AbortController().signal,
  });
  if (!read.ok) return { kind: "local", name: called.name, output: read.why };
  const { allow, model } = read.loaded;
  return {
    kind: "input",
    problems: [...said.problems, ...read.problems],
    command: {
      ...said.command,
      content: [
        ...said.command.content,
        text(enclose("keel-command", { name: called.name }, read.text)),
        ...read.blocks,
      ],
      ...(allow.length > 0 ? { allow: [...allow] } : {}),
      ...(model === undefined || model === "inherit" ? {} : { model }),
    },
  };
}

type Extended = Extract<Expanded, { kind: "local" }> | { readonly kind: "prompt"; readonly prompt: string };

async function runExtension(
  { name, args }: { name: string; args: string },
  { extensions }: ExpandContext,
): Promise<Extended | undefined> {
  try {
    const answer = await extensions?.run(name, args);
    if (answer === undefined) return undefined;
    if (answer.kind === "prompt")
      return { kind: "prompt", prompt: enclose("keel-command", { name }, answer.text) };
    return { kind: "local", name, output: answer.text, display: answer.display };
  } catch (thrown) {
    return { kind: "local", name, output: toFault(thrown).message };
  }
}

/** The person's line stays as they typed it; what the command made of it stands behind it. */
const inputOf = (command: InputCommand, prompt: string): Expanded => ({
  kind: "input",
  problems: [],
  command: { ...command, content: [...command.content, text(prompt)] },
});

/** A slash and a name at the very start; a path such as `/etc/hosts` is no name. */
function calledIn(content: readonly InputBlock[]): { name: string; args: string } | undefined {
  const first = content.find(({ type }) => type === "text");
  if (first?.type !== "text" || !first.text.startsWith("/")) return undefined;
  const end = first.text.search(/\s/);
  const name = first.text.slice(1, end < 0 ? undefined : end);
  if (!/^[\p{L}\p{N}_?][\p{L}\p{N}_.:-]{0,150}$|^\?$/u.test(name)) return undefined;
  return { name, args: end < 0 ? "" : first.text.slice(end).trim() };
}

async function withMentions(
  command: InputCommand,
  { attach: world }: ExpandContext,
): Promise<Extract<Expanded, { kind: "input" }>> {
  const words = command.content.flatMap((block) =>
    block.type === "text" && !isAttachedFile(block.text) ? [block.text] : [],
  );
  if (!words.some((part) => part.includes("@"))) return { kind: "input", command, problems: [] };
  const { attach } = await import("./attach-mentions.ts");
  const { blocks, problems } = await attach(words.join("\n"), world);
  const content = blocks.length > 0 ? [...command.content, ...blocks] : command.content;
  return { kind: "input", command: { ...command, content }, problems };
}

/** The tag that models know for it; it is the host's, not ours, and holds nothing but data. */
const tag = "attached_file";
const marks = marksOf(tag);

export function attachedFile({ path, content }: { path: string; content: string }): InputBlock {
  const lines = content === "" ? 0 : content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
  const name = oneLine(path).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return text(`<${tag} path="${name}" lines="${lines}">\n${content.replace(marks, "&lt;")}\n</${tag}>`);
}

/** What a person says cannot pass as such a file, nor end one. */
export const escapeMarks = (words: string): string => words.replace(marks, "&lt;");

/** What stands in a file mentions nothing: only a person does. */
const isAttachedFile = (words: string): boolean => words.startsWith(`<${tag} `);
