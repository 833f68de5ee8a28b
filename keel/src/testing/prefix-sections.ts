/** Two cache prefixes compared section by section: the messages may grow, everything before them stays as it is. */
import { firstBreak, type PrefixBlock, type PrefixBreak } from "../core/context/prefix.ts";
import type { Section } from "../protocol/boundary.ts";

export function sectionOf(blocks: readonly PrefixBlock[], section: Section): PrefixBlock[] {
  return blocks.filter((block) => block.section === section);
}

/** The first difference in one section, with its place in the whole. */
export function sectionBreak(
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
export function isSuffixStart(before: readonly PrefixBlock[], after: readonly PrefixBlock[]): boolean {
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
