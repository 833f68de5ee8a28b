/** A request of the engine as a provider's cache would see it: marked where our adapter for the Messages wire marks. */
import { prefixOf } from "../core/context/prefix.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { MarkedBlock } from "./wires/wire.ts";

/** Marks: the last block of system or tools, the last message, and the last one of the user before the last reply. */
export function markedPrefix(request: ModelRequest): MarkedBlock[] {
  const blocks = prefixOf(request);
  const prompt = blocks.findLastIndex(({ section }) => section === "tools" || section === "system");
  const last = blocks.length - 1;
  const reply = blocks.findLastIndex(({ name }, index) => index < last && name.startsWith("assistant"));
  const earlier = blocks.findLastIndex(({ name }, index) => index < reply && name.startsWith("user"));
  const marked = new Set([prompt, last, earlier]);
  return blocks.map((block, index) => ({ ...block, mark: marked.has(index) ? "5m" : undefined }));
}
