/**
 * Which lines of a transcript of the official interface are its conversation. Lines are a tree: each names the one before
 * it, and what was taken back is a branch that ended. The newest leaf tells the way. What is kept of a line here is a
 * few names, so that a file of any size fits.
 */
import { createReadStream } from "node:fs";
import { asList, asObject, asText, isObject, parseJson } from "../../kernel/json.ts";
import { fingerprint } from "../../kernel/text.ts";
import { lineReader } from "../../transport/lines.ts";

export type RawLine = Readonly<Record<string, unknown>>;

/** More than a request may hold. A longer line is told of like a damaged one. */
const maxLineBytes = 64 * 1024 * 1024;

/** The lines from the first, counted from 1; undefined for one that is no JSON object. Empty ones are left out. */
export async function* linesOf(file: string): AsyncGenerator<readonly [number, RawLine | undefined]> {
  const reader = lineReader({ maxBytes: maxLineBytes });
  let number = 0;
  const read = (lines: ReturnType<typeof reader.push>): (readonly [number, RawLine | undefined])[] =>
    lines.flatMap((each) => {
      number++;
      if (each.ok && each.line.trim() === "") return [];
      const parsed = each.ok ? parseJson(each.line) : undefined;
      return [[number, isObject(parsed) ? parsed : undefined] as const];
    });
  for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 }))
    yield* read(reader.push(chunk));
  yield* read(reader.end());
}

/** Lines that are looked at before a file counts as something else. */
const maxLook = 200;

export async function isTranscript(file: string): Promise<boolean> {
  for await (const [number, raw] of linesOf(file)) {
    if (isObject(raw?.["message"]) && (raw["type"] === "user" || raw["type"] === "assistant")) return true;
    if (number >= maxLook) return false;
  }
  return false;
}

export type TranscriptIndex = {
  /** The lines of the conversation. */
  readonly kept: ReadonlySet<number>;
  /** Lines of agents that stand in the same file, as old versions wrote them, by agent. */
  readonly agents: ReadonlyMap<string, ReadonlySet<number>>;
  /** The call that started an agent, by the agent's id or by a sum of what it was told. */
  readonly calls: ReadonlyMap<string, string>;
  readonly sessionId: string | undefined;
  readonly cwd: string | undefined;
  /** The newest that answered. */
  readonly model: string | undefined;
  readonly title: string | undefined;
  readonly damaged: readonly number[];
};

type TranscriptNode = {
  readonly line: number;
  readonly parent: string | undefined;
  readonly isSide: boolean;
  readonly isMessage: boolean;
  /** Of a reply, whose blocks may stand on several branches. */
  readonly reply: string | undefined;
  readonly uses: readonly string[];
  readonly results: readonly string[];
  readonly agentId: string | undefined;
};

/** `agent`: a file of its own, whose lines are all an agent's. */
export async function indexTranscript(file: string, whose: "session" | "agent"): Promise<TranscriptIndex> {
  const nodes = new Map<string, TranscriptNode>();
  const order: TranscriptNode[] = [];
  const damaged: number[] = [];
  const calls = new Map<string, string>();
  let before: string | undefined;
  let about: Pick<TranscriptIndex, "sessionId" | "cwd" | "model" | "title"> = {
    sessionId: undefined,
    cwd: undefined,
    model: undefined,
    title: undefined,
  };
  for await (const [line, raw] of linesOf(file)) {
    if (!raw) {
      damaged.push(line);
      continue;
    }
    about = factsIn(raw, about);
    const node = nodeOf(raw, { line, whose, before });
    const uuid = asText(raw["uuid"]) || (node.isMessage ? `line-${line}` : "");
    // The same line twice is one.
    if (uuid === "" || nodes.has(uuid)) continue;
    if (node.isMessage && !node.isSide) before = uuid;
    nodes.set(uuid, node);
    order.push(node);
    for (const [key, call] of startsIn(raw)) calls.set(key, call);
  }
  const kept = branchOf(nodes, order);
  return { ...about, kept, agents: agentsIn(nodes, order), calls, damaged };
}

function factsIn(
  raw: RawLine,
  before: Pick<TranscriptIndex, "sessionId" | "cwd" | "model" | "title">,
): typeof before {
  const { sessionId, cwd, customTitle, summary, message } = raw;
  const { model } = asObject(message);
  const said =
    typeof customTitle === "string" ? customTitle : raw["type"] === "summary" ? summary : undefined;
  const isReply = raw["isSidechain"] !== true && typeof model === "string" && model !== "<synthetic>";
  return {
    sessionId: before.sessionId ?? (asText(sessionId) || undefined),
    cwd: before.cwd ?? (asText(cwd) || undefined),
    model: isReply ? model : before.model,
    // A title that was given counts more than a summary.
    title: typeof customTitle === "string" ? customTitle : (before.title ?? (asText(said) || undefined)),
  };
}

function nodeOf(
  raw: RawLine,
  { line, whose, before }: { line: number; whose: "session" | "agent"; before: string | undefined },
): TranscriptNode {
  const { type, message, subtype, uuid, parentUuid, logicalParentUuid } = raw;
  const blocks = asList(asObject(message)["content"]).filter(isObject);
  const named = (kind: string, field: string): string[] =>
    blocks.flatMap((block) => (block["type"] === kind ? [asText(block[field])] : []));
  return {
    line,
    // A line without an id follows the one before it. A boundary begins a chain, and names what was shortened.
    parent: (uuid === undefined ? before : asText(parentUuid) || asText(logicalParentUuid)) || undefined,
    isSide: whose === "session" && raw["isSidechain"] === true,
    isMessage:
      ((type === "user" || type === "assistant") && isObject(message)) || subtype === "compact_boundary",
    reply: type === "assistant" ? asText(asObject(message)["id"]) || undefined : undefined,
    uses: named("tool_use", "id"),
    results: named("tool_result", "tool_use_id"),
    agentId: asText(raw["agentId"]) || undefined,
  };
}

/** Which call started which agent, as far as a line says it. */
function startsIn({ message, toolUseResult }: RawLine): [string, string][] {
  const blocks = asList(asObject(message)["content"]).filter(isObject);
  const agent = asText(asObject(toolUseResult)["agentId"]);
  return blocks.flatMap((block): [string, string][] => {
    if (block["type"] === "tool_result" && agent !== "") return [[agent, asText(block["tool_use_id"])]];
    const prompt = asText(asObject(block["input"])["prompt"]);
    if (block["type"] !== "tool_use" || prompt === "") return [];
    return [[fingerprint(prompt), asText(block["id"])]];
  });
}

/** From the newest message back to the first. */
function branchOf(nodes: ReadonlyMap<string, TranscriptNode>, order: readonly TranscriptNode[]): Set<number> {
  const own = order.filter(({ isSide }) => !isSide);
  const places = new Map(own.map((node, place) => [node, place]));
  const kept = new Set<number>();
  const replies = new Set<string>();
  let node = own.findLast(({ isMessage }) => isMessage);
  while (node && !kept.has(node.line)) {
    kept.add(node.line);
    if (node.reply !== undefined) replies.add(node.reply);
    const { parent } = node;
    // Whose line before is missing goes on with the one that stands before it.
    const before = own[(places.get(node) ?? 0) - 1];
    node = parent === undefined ? undefined : (nodes.get(parent) ?? before);
  }
  // The blocks of a reply and the results of its calls stand beside each other, on branches of their own.
  const uses = new Set<string>();
  for (const { line, reply, uses: asked } of own)
    if (kept.has(line) || (reply !== undefined && replies.has(reply))) {
      kept.add(line);
      for (const id of asked) uses.add(id);
    }
  for (const { line, results } of own) if (results.some((id) => uses.has(id))) kept.add(line);
  return kept;
}

function agentsIn(
  nodes: ReadonlyMap<string, TranscriptNode>,
  order: readonly TranscriptNode[],
): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  const roots = new Map<TranscriptNode, string>();
  for (const node of order) {
    if (!node.isSide) continue;
    const parent = node.parent === undefined ? undefined : nodes.get(node.parent);
    const above = parent?.isSide ? roots.get(parent) : undefined;
    const root = node.agentId ?? above ?? `line-${node.line}`;
    roots.set(node, root);
    const lines = found.get(root) ?? new Set();
    lines.add(node.line);
    found.set(root, lines);
  }
  return found;
}
