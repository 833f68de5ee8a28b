/**
 * The request law: every request of a session extends the one before it, block by block, except at a boundary that the
 * log declares. The scripted model and the model server hold every request of every test to it. Whoever wants to know
 * subscribes to the channel `keel:request-law` (`lawChannel`), as `test/support/setup-law.ts` does.
 */
import { channel } from "node:diagnostics_channel";
import { placeholderOf } from "../core/context/blocks.ts";
import { firstBreak, type PrefixBlock, type PrefixBreak, prefixOf } from "../core/context/prefix.ts";
import { summaryIntroduction, summaryRequest } from "../core/model-text.ts";
import { isObject } from "../kernel/json.ts";
import type { ModelRequest } from "../ports/model.ts";
import { boundariesOf, changedSections, type Section } from "../protocol/boundary.ts";
import type { DurableEvent } from "../protocol/event/durable.ts";
import type { Event } from "../protocol/event/envelope.ts";
import { findViolations } from "./request-rules.ts";

/** Where the request law tells what it saw, so that no list is shared. */
export const lawChannel = "keel:request-law";
export type LawMessage = { readonly type: "checked" } | { readonly type: "broke"; readonly sentence: string };

export type LawBreak = PrefixBreak & {
  /** The session, or the start of the conversation where a request names none. */
  readonly lineage: string;
  readonly model: string;
  /** Counts the requests of the lineage from 1. */
  readonly request: number;
  /** All of it, for a person. */
  readonly sentence: string;
};

export type RequestLawOptions = {
  /** What may change without a declaration, where no log can be read: said by the test that makes the change. */
  readonly allow?: readonly Section[] | undefined;
  /** The events of a session as its log has them by now: where the session runs in another process. */
  readonly log?: ((session: string) => Iterable<DurableEvent>) | undefined;
  /** Instead of the channel. */
  readonly onBreak?: ((found: LawBreak) => void) | undefined;
};

/** A request as a provider sees it. */
export type Followed = {
  /** Undefined when the request does not say whose it is. */
  readonly session: string | undefined;
  readonly model: string;
  readonly blocks: readonly PrefixBlock[];
};

export type RequestLaw = {
  /** Pairing and prefix of a request of the engine: a sentence for each thing that is wrong. */
  check(request: ModelRequest): string[];
  /** The prefix alone, of a request in any form. */
  follow(request: Followed): LawBreak | undefined;
  /** What a session's listener hears. From then on the session's boundaries must be among these events. */
  hear(event: Event & { readonly session: string }): void;
  readonly breaks: readonly LawBreak[];
};

type LawBreakFacts = Omit<LawBreak, "sentence">;
type Lineage = { readonly blocks: readonly PrefixBlock[]; readonly requests: number; readonly heard: number };

export function requestLaw({ allow = [], log, onBreak = publish }: RequestLawOptions = {}): RequestLaw {
  const lineages = new Map<string, Lineage>();
  const starts = new Map<string, readonly (readonly PrefixBlock[])[]>();
  const heard = new Map<string, Section[]>();
  const breaks: LawBreak[] = [];

  const declaredBy = (session: string): readonly Section[] | undefined =>
    log ? [...log(session)].flatMap(sectionsOf) : heard.get(session);

  function followNamed(session: string, { model, blocks }: Followed): LawBreakFacts | undefined {
    const key = `${session} ${model}`;
    // A cache belongs to a model: whoever comes back to one goes on where that one was left.
    const before = lineages.get(key);
    const declared = declaredBy(session);
    const since = declared?.slice(before?.heard ?? 0) ?? shownBy(before?.blocks ?? [], blocks);
    const may = new Set<Section>([...allow, ...since]);
    const end = branchAt(blocks);
    const branch = end !== undefined;
    const found = before && undeclared(before.blocks, blocks.slice(0, end), { may, branch });
    const requests = (before?.requests ?? 0) + 1;
    // What follows a request for notes follows the conversation, not the request for notes.
    const next = branch
      ? before && { ...before, requests }
      : { blocks, requests, heard: declared?.length ?? 0 };
    if (next) lineages.set(key, next);
    return found && { ...found, lineage: session, model, request: requests };
  }

  /** Without a name: what holds replies must go on with a conversation that was seen, if it began like one. */
  function followStart({ model, blocks }: Followed): LawBreakFacts | undefined {
    const talk = sectionOf(blocks, "messages");
    const lineage = talk[0]?.text ?? "";
    const key = `${model} ${lineage}`;
    const seen = starts.get(key) ?? [];
    starts.set(key, [blocks, ...seen].slice(0, maxStarts));
    if (branchAt(blocks) !== undefined || !talk.some(({ name }) => name.startsWith("assistant")))
      return undefined;
    const may = new Set<Section>(allow);
    const found = seen.map((before) => undeclared(before, blocks, { may, branch: false }));
    const nearest = found.includes(undefined) ? undefined : found[0];
    return nearest && { ...nearest, lineage, model, request: seen.length + 1 };
  }

  function follow(request: Followed): LawBreak | undefined {
    if (request.session !== undefined) channel(lawChannel).publish({ type: "checked" } satisfies LawMessage);
    const broken =
      request.session === undefined ? followStart(request) : followNamed(request.session, request);
    if (!broken) return undefined;
    const found = { ...broken, sentence: sentenceOf(broken) };
    breaks.push(found);
    onBreak(found);
    return found;
  }

  return {
    breaks,
    follow,
    check(request) {
      const found = follow({ session: request.session, model: request.model, blocks: prefixOf(request) });
      return [...findViolations(request), ...(found ? [found.sentence] : [])];
    },
    hear(event) {
      const known = heard.get(event.session) ?? [];
      heard.set(event.session, [...known, ...sectionsOf(event)]);
    },
  };
}

/** Conversations that begin alike, of clients that do not say whose request it is. */
const maxStarts = 50;

const sectionsOf = (event: Event): Section[] =>
  boundariesOf(event).flatMap(({ what }) => changedSections[what]);

/** Where nothing was heard: a conversation that now begins with notes says itself that it was compacted. */
function shownBy(before: readonly PrefixBlock[], after: readonly PrefixBlock[]): Section[] {
  const [old] = sectionOf(before, "messages");
  const [first] = sectionOf(after, "messages");
  const isNotes = first?.text.includes(introduction) === true;
  return isNotes && first.text !== old?.text ? ["messages"] : [];
}

function undeclared(
  before: readonly PrefixBlock[],
  after: readonly PrefixBlock[],
  { may, branch }: { may: ReadonlySet<Section>; branch: boolean },
): PrefixBreak | undefined {
  for (const section of sections) {
    const found = sectionBreak(before, after, section);
    if (!found || may.has(section)) continue;
    // A request for notes names pictures in their places, and leaves out the oldest part where there is too much.
    if (section === "messages" && branch) {
      const [old, now] = [unpictured(before), unpictured(after)];
      if (!sectionBreak(old, now, section) || isSuffixStart(old, now)) continue;
    }
    return found;
  }
  return undefined;
}

/** A wire writes whose block it is before the block itself. */
const unpictured = (blocks: readonly PrefixBlock[]): PrefixBlock[] =>
  blocks.map((block) => {
    const [role] = block.name.split(" ");
    const part: unknown = JSON.parse(block.text.slice(Math.max(0, block.text.search(/[{["]/))));
    return { ...block, text: `${role} ${JSON.stringify(part, (_, inner) => named(inner))}` };
  });

/** What shows a picture or a document, and the words that stand for it, become the same. */
function named(part: unknown): unknown {
  if (!isObject(part)) return part;
  const isNamed = ["image", "document"].some((type) => part["text"] === placeholderOf({ type }).text);
  const isShown =
    "mediaType" in part || ["image", "document", "image_url", "file"].includes(String(part["type"]));
  return isNamed || isShown ? "a picture" : part;
}

const sections: readonly Section[] = ["tools", "system", "thinking", "messages"];

const inJson = (words: string): string => JSON.stringify(words).slice(1, -1);
const introduction = inJson(summaryIntroduction.trim());
const summaryWords = inJson(summaryRequest(undefined).split("\n")[0] ?? "");

/** Where a request for notes leaves the conversation; undefined when it is none. */
function branchAt(blocks: readonly PrefixBlock[]): number | undefined {
  const at = blocks.findLastIndex(({ text }) => text.includes(summaryWords));
  return at >= 0 && blocks.slice(at).every(({ name }) => name === "user text") ? at : undefined;
}

function sentenceOf({ lineage, request, index, name, before, after }: LawBreakFacts): string {
  const change =
    before === "" ? `${after} was added` : after === "" ? `${before} is gone` : `${before} became ${after}`;
  return `request law: request ${request} of ${lineage.slice(0, 60)} breaks the prefix at block ${index} (${name}): ${change}, and no boundary was declared`;
}

function publish({ sentence }: LawBreak): void {
  channel(lawChannel).publish({ type: "broke", sentence } satisfies LawMessage);
}

/** Two cache prefixes compared section by section: the messages may grow, everything before them stays as it is. */
export function sectionOf(blocks: readonly PrefixBlock[], section: Section): PrefixBlock[] {
  return blocks.filter((block) => block.section === section);
}

/** The first difference in one section, with its place in the whole. */
function sectionBreak(
  before: readonly PrefixBlock[],
  after: readonly PrefixBlock[],
  section: Section,
): PrefixBreak | undefined {
  const [old, now] = [sectionOf(before, section), sectionOf(after, section)];
  const found = firstBreak(old, now) ?? (section === "messages" ? undefined : addition(old, now));
  if (!found) return undefined;
  const start = after.findIndex((block) => block.section === section);
  return { ...found, index: Math.max(0, start) + found.index };
}

/** Whether the messages start somewhere inside the older ones and go on like them, or share nothing with them. */
function isSuffixStart(before: readonly PrefixBlock[], after: readonly PrefixBlock[]): boolean {
  const [old, now] = [sectionOf(before, "messages"), sectionOf(after, "messages")];
  const [first] = now;
  if (!first) return true;
  const known = new Set(old.map(({ text }) => text));
  if (now.every(({ text }) => !known.has(text))) return true;
  return old.some(({ text }, at) => text === first.text && firstBreak(old.slice(at), now) === undefined);
}

/** A block more at the end of a section stands before everything that follows it. */
function addition(old: readonly PrefixBlock[], now: readonly PrefixBlock[]): PrefixBreak | undefined {
  const added = now[old.length];
  if (!added) return undefined;
  const { section, name, text } = added;
  return { index: old.length, section, name, before: "", after: text.slice(0, 80) };
}
