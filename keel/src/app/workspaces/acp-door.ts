/**
 * What an agent of other people asks of us: files, terminals, a person's yes. Our policy decides first about files and
 * commands that go through here; what it leaves open is asked, what it denies is refused, and nobody is asked to allow
 * what it denies.
 */
import { permissionAsk } from "../../core/permission-ask.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { asList, asObject, asText, isJson, type Json } from "../../kernel/json.ts";
import { fingerprint, undisguised } from "../../kernel/text.ts";
import type { ShellRun } from "../../ports/shell.ts";
import type { PathFacts } from "../../ports/workspace.ts";
import type { Ask, AskOption } from "../../protocol/ask.ts";
import type { Display } from "../../protocol/tool.ts";
import { hunksOf } from "../../tools/hunks.ts";
import { methodNotFound, type RpcCall, type RpcReply, rpcCodes } from "../../transport/json-rpc.ts";
import type { FolderJudgement, FolderPolicy, FolderWish } from "./folder-policy.ts";
import type { AgentAnswer } from "./worker.ts";

export type DoorOptions = {
  readonly policy: FolderPolicy;
  readonly cwd: string;
  /** Puts a question to whoever watches. Settles with their answer, or with a no where nobody waits any more. */
  ask(ask: Ask, signal: AbortSignal): Promise<AgentAnswer & { readonly isCut?: boolean }>;
  /** Something that a person should know. */
  notice(text: string): void;
};

type DoorTerminal = { readonly run: ShellRun; readonly command: string; readonly maxBytes: number };

/** As much of a file as an agent gets at once. */
const maxFileBytes = 10 * 1024 * 1024;
const usualOutputBytes = 1_000_000;

export class AgentDoor {
  readonly #given: DoorOptions;
  readonly #terminals = new Map<string, DoorTerminal>();
  /** What a person has said yes to in the agent's own question: to these bytes, and once. */
  readonly #approved = new Set<string>();
  #made = 0;

  constructor(given: DoorOptions) {
    this.#given = given;
  }

  async request({ method, params, signal }: RpcCall): Promise<RpcReply> {
    const handler = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
    if (!handler) return methodNotFound(method);
    try {
      return { result: await handler(asObject(params), signal) };
    } catch (thrown) {
      const { code, message } = toFault(thrown);
      return { error: { code: rpcCodes.internalError, message, data: { code } } };
    }
  }

  /** What one of our terminals shows. */
  terminal(id: string): Display | undefined {
    const found = this.#terminals.get(id);
    if (!found) return undefined;
    return { kind: "terminal", command: found.command, output: found.run.output(), exitCode: null };
  }

  /** Nothing of it runs any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#terminals.keys()].map((id) => this.#release(id)));
  }

  readonly #methods: Readonly<
    Record<string, (params: Record<string, unknown>, signal: AbortSignal) => Promise<object>>
  > = {
    "session/request_permission": (params, signal) => this.#permission(params, signal),
    "fs/read_text_file": (params, signal) => this.#read(params, signal),
    "fs/write_text_file": (params, signal) => this.#write(params, signal),
    "terminal/create": (params, signal) => this.#create(params, signal),
    "terminal/output": async (params) => this.#output(this.#find(params)),
    "terminal/wait_for_exit": async (params) => exitOf(await this.#find(params).run.over),
    "terminal/kill": async (params) => {
      await this.#find(params).run.stop();
      return {};
    },
    "terminal/release": async (params) => {
      this.#find(params);
      await this.#release(asText(params["terminalId"]));
      return {};
    },
  };

  /** About what the agent does itself. Where a rule of ours denies what it names, nobody is asked. */
  async #permission(params: Record<string, unknown>, signal: AbortSignal): Promise<object> {
    const call = asObject(params["toolCall"]);
    const options = asList(params["options"]).map(asObject);
    const no = options.find(({ kind }) => asText(kind).startsWith("reject"));
    const because = await this.#whyDenied(call);
    if (because !== undefined) {
      this.#given.notice(`Denied: ${because}.`);
      return chosen(no);
    }
    const answer = await this.#given.ask(askOf(call, options), signal);
    if (answer.isCut) return cancelled;
    if (answer.verdict === "allow") for (const what of approvalsIn(call)) this.#approved.add(what);
    const picked = options.find(({ optionId }) => optionId === answer.option);
    if (picked) return chosen(picked);
    const kind = answer.verdict === "allow" ? "allow_once" : "reject_once";
    return chosen(
      options.find((option) => option["kind"] === kind) ?? (answer.verdict === "deny" ? no : undefined),
    );
  }

  async #whyDenied({ kind, rawInput, locations }: Record<string, unknown>): Promise<string | undefined> {
    const { policy } = this.#given;
    const { command } = asObject(rawInput);
    const wishes: FolderWish[] = [];
    if (typeof command === "string" && command.trim() !== "") wishes.push({ tool: "Bash", command });
    if (kind === "edit" || kind === "delete" || kind === "move" || kind === "read")
      for (const { path } of asList(locations).map(asObject))
        if (typeof path === "string")
          wishes.push({
            tool: kind === "read" ? "Read" : "Write",
            path,
            facts: await policy.workspace.files.describe(path),
          });
    for (const wish of wishes) {
      const { decision } = await policy.judge(wish);
      if (decision.verdict === "deny") return decision.because;
    }
    return undefined;
  }

  async #read({ path, line, limit }: Record<string, unknown>, signal: AbortSignal): Promise<object> {
    const facts = await this.#describe(path);
    await this.#mayDo(
      { tool: "Read", path: asText(path), facts },
      { input: { file_path: facts.path }, approval: `read ${facts.path}` },
      signal,
    );
    const found = await this.#given.policy.workspace.files.read(facts.path, { maxBytes: maxFileBytes });
    if (!found.ok) throw fault("work_refused", { reason: found.why });
    const content = new TextDecoder().decode(found.file.bytes);
    if (typeof line !== "number" && typeof limit !== "number") return { content };
    const from = typeof line === "number" ? Math.max(0, line - 1) : 0;
    const lines = content.split("\n");
    const some = lines.slice(from, typeof limit === "number" ? from + limit : undefined);
    return { content: some.join("\n") };
  }

  async #write({ path, content }: Record<string, unknown>, signal: AbortSignal): Promise<object> {
    const { files } = this.#given.policy.workspace;
    const facts = await this.#describe(path);
    const before = facts.exists ? await files.read(facts.path, { maxBytes: maxFileBytes }) : undefined;
    const text = asText(content);
    const old = before?.ok ? new TextDecoder().decode(before.file.bytes) : "";
    const preview: Display = { kind: "diff", path: facts.path, hunks: hunksOf(old, text) };
    const input = { file_path: facts.path, content: text };
    await this.#mayDo(
      { tool: "Write", path: asText(path), facts },
      { input, preview, approval: writing(facts.path, text) },
      signal,
    );
    // What was shown is what is changed: a file that is another one by now is left alone.
    const basis = { stamp: before?.ok ? before.file.stamp : null };
    const written = await files.write(facts.path, new TextEncoder().encode(text), basis);
    if (!written.ok) throw fault("work_refused", { reason: written.why });
    return {};
  }

  async #create(params: Record<string, unknown>, signal: AbortSignal): Promise<object> {
    const text = commandText(params, this.#given.cwd);
    await this.#mayDo(
      { tool: "Bash", command: text },
      { input: { command: text }, approval: `run ${text}` },
      signal,
    );
    const limit = params["outputByteLimit"];
    const maxBytes = typeof limit === "number" && limit > 0 ? limit : usualOutputBytes;
    const run = await this.#given.policy.workspace.shell.start({
      text,
      cwd: this.#given.cwd,
      timeoutMs: Number.POSITIVE_INFINITY,
      maxBytes: Math.min(maxBytes, usualOutputBytes),
    });
    const terminalId = `terminal-${++this.#made}`;
    this.#terminals.set(terminalId, { run, command: text, maxBytes });
    return { terminalId };
  }

  async #output({ run, maxBytes }: DoorTerminal): Promise<object> {
    const over = await Promise.race([run.over, Promise.resolve(undefined)]);
    const output = run.output();
    return { output, truncated: output.length >= maxBytes, ...(over ? { exitStatus: exitOf(over) } : {}) };
  }

  #find({ terminalId }: Record<string, unknown>): DoorTerminal {
    const found = this.#terminals.get(asText(terminalId));
    if (!found) throw fault("work_refused", { reason: "There is no such terminal." });
    return found;
  }

  async #release(id: string): Promise<void> {
    const found = this.#terminals.get(id);
    this.#terminals.delete(id);
    await found?.run.stop();
  }

  async #describe(path: unknown): Promise<PathFacts> {
    if (typeof path !== "string" || path === "") throw fault("work_refused", { reason: "No path is named." });
    const facts = await this.#given.policy.workspace.files.describe(path);
    if (facts.problem !== undefined) throw fault("work_refused", { reason: facts.problem });
    return facts;
  }

  /** Throws `work_refused` where a rule, a mode or a person says no. */
  async #mayDo(
    wish: FolderWish,
    { input, preview, approval }: { input: Json; preview?: Display; approval: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { policy } = this.#given;
    let judged = await policy.judge(wish);
    // The last look before it runs unasked: files may have changed while it was decided.
    if (judged.decision.verdict === "allow" && !(await judged.stillHolds()))
      judged = await policy.judge(wish);
    const { decision } = judged;
    if (decision.verdict === "allow") return;
    // A rule that denies stands above a person's yes; what is only open was decided by it.
    if (decision.verdict === "ask" && this.#approved.delete(approval)) return;
    if (decision.verdict === "deny") {
      this.#given.notice(`Denied: ${decision.because}.`);
      throw fault("work_refused", { reason: `Denied: ${decision.because}.` });
    }
    const answer = await this.#given.ask(
      questionAbout(wish.tool, { input, preview, judged, options: decision.options }),
      signal,
    );
    const option = decision.options.find(({ id }) => id === answer.option);
    if (answer.verdict === "allow" && option?.rule !== undefined) policy.allow(option.rule);
    if (answer.verdict === "allow" && !answer.isCut) return;
    throw fault("work_refused", { reason: answer.words ?? "The user does not want this." });
  }
}

const cancelled = { outcome: { outcome: "cancelled" } };

const writing = (path: string, text: string): string => `write ${path} ${fingerprint(text)}`;

/** The command and the changes of files that a question shows. */
function approvalsIn({ rawInput, content }: Record<string, unknown>): string[] {
  const { command } = asObject(rawInput);
  const diffs = asList(content).map(asObject);
  return [
    ...(typeof command === "string" ? [`run ${command}`] : []),
    ...diffs.flatMap(({ type, path, newText }) =>
      type === "diff" ? [writing(asText(path), asText(newText))] : [],
    ),
  ];
}

const chosen = (option: Record<string, unknown> | undefined): object =>
  option ? { outcome: { outcome: "selected", optionId: asText(option["optionId"]) } } : cancelled;

function questionAbout(
  tool: string,
  {
    input,
    preview,
    judged: { claims, facts, decision },
    options,
  }: { input: Json; preview?: Display | undefined; judged: FolderJudgement; options: readonly AskOption[] },
): Ask {
  const key = `acp:${fingerprint(JSON.stringify([tool, input]))}`;
  const about = { key, callId: undefined, tool, input, claims, folder: undefined, options, facts, preview };
  return permissionAsk({ ...about, reason: decision.because });
}

/** What an agent wants to do itself, in its own words and with its own answers. */
function askOf(call: Record<string, unknown>, options: readonly Record<string, unknown>[]): Ask {
  const { title, name, kind, rawInput, content, toolCallId } = call;
  const tool = undisguised(asText(name) || asText(title) || asText(kind) || "tool");
  const input: Json = isJson(rawInput) ? rawInput : {};
  const callId = asText(toolCallId);
  return {
    id: `acp:${callId}:${fingerprint(JSON.stringify([tool, input, options]))}`,
    kind: "permission",
    title: `Allow ${tool}?`,
    body: bodyOf(asList(content).map(asObject), { input, title: asText(title) }),
    options: options.map(({ optionId, name: label, kind: what }) => ({
      id: asText(optionId),
      label: undisguised(asText(label)),
      verdict: asText(what).startsWith("allow") ? "allow" : "deny",
    })),
    ...(callId === "" ? {} : { callId }),
    tool,
    input,
  };
}

/** All that is decided about, with nothing in it that hides. */
function bodyOf(
  parts: readonly Record<string, unknown>[],
  { input, title }: { input: Json; title: string },
): Display {
  const { command } = asObject(input);
  if (typeof command === "string")
    return { kind: "terminal", command: undisguised(command), output: "", exitCode: null };
  const diff = parts.find(({ type }) => type === "diff");
  if (diff) {
    const hunks = hunksOf(asText(diff["oldText"]), asText(diff["newText"]));
    const lines = hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(undisguised) }));
    return { kind: "diff", path: undisguised(asText(diff["path"])), hunks: lines };
  }
  const words = parts.flatMap(({ content }) => asText(asObject(content)["text"]) || []);
  return { kind: "text", text: undisguised([title, ...words, JSON.stringify(input)].join("\n")) };
}

const exitOf = ({ exitCode, signal }: { exitCode: number | null; signal: string | null }) => ({
  exitCode,
  signal,
});

/**
 * One text that a shell runs and policy reads. A command without arguments is a text already, as editors take it; else
 * each word is quoted. Another folder and variables are part of the text, so that they are decided about too.
 */
export function commandText(params: Record<string, unknown>, cwd: string): string {
  const command = asText(params["command"]);
  if (command.trim() === "") throw fault("work_refused", { reason: "The command is empty." });
  const args = asList(params["args"]).map(asText);
  const words = args.length === 0 ? command : [command, ...args].map(quoted).join(" ");
  const variables = asList(params["env"])
    .map(asObject)
    .flatMap(({ name, value }) =>
      /^\w+$/.test(asText(name)) ? [`${asText(name)}=${quoted(asText(value))}`] : [],
    );
  const folder = asText(params["cwd"]);
  const moved = folder === "" || folder === cwd ? "" : `cd ${quoted(folder)} && `;
  const dressed =
    variables.length === 0
      ? words
      : `${variables.join(" ")} ${args.length === 0 ? `bash -c ${quoted(words)}` : words}`;
  return `${moved}${dressed}`;
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
