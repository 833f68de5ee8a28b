import type { Durable } from "../protocol/event/durable.ts";
import { type Block, toolUses } from "../protocol/message.ts";

/** Ids that were used: a second input of one is the same input, a second call of one gets another. */
export class UsedIds {
  readonly #inputs = new Set<string>();
  readonly #calls = new Set<string>();

  hasInput(id: string): boolean {
    return this.#inputs.has(id);
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id);
  }

  take(event: Durable): void {
    if (event.type === "input.accepted") this.#inputs.add(event.input.id);
    if (event.type === "model.finished") for (const { id } of toolUses(event.content)) this.#calls.add(id);
  }

  forget(): void {
    this.#inputs.clear();
    this.#calls.clear();
  }

  toJSON(): UsedIdsJson {
    return { inputs: [...this.#inputs], calls: [...this.#calls] };
  }

  recall({ inputs, calls }: UsedIdsJson): void {
    for (const id of inputs) this.#inputs.add(id);
    for (const id of calls) this.#calls.add(id);
  }
}

type UsedIdsJson = { readonly inputs: readonly string[]; readonly calls: readonly string[] };

/** A provider that repeats the id of a call would make one result answer two calls, and one approval allow both. */
export function withFreshIds(
  content: readonly Block[],
  requestId: string,
  isKnownCall: (id: string) => boolean,
): Block[] {
  const used = new Set<string>();
  const isTaken = (id: string): boolean => isKnownCall(id) || used.has(id);
  return content.map((block, index) => {
    if (block.type !== "tool_use") return block;
    let { id } = block;
    // Whoever wrote the log may have written the new name too.
    for (let suffix = `_${requestId}_${index}`; isTaken(id); suffix = "_") id += suffix;
    used.add(id);
    return id === block.id ? block : { ...block, id };
  });
}
