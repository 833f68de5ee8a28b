import type { Durable } from "../protocol/event/durable.ts";
import { toolUses } from "../protocol/message.ts";

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
