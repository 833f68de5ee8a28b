/**
 * Who can be told something, and by which name. An agent is known by its id and, if it was given one, by its name; the
 * session above an agent is `main` to it. A word from another is input, by the same command that a person uses. Teams
 * and channels register their members here by the same two lines.
 */
import type { InputBlock } from "../protocol/message.ts";
import { text } from "../protocol/message.ts";

export type Address = { readonly id: string; readonly name?: string | undefined };

export type Letter = {
  /** The name under which the receiver knows the sender. */
  readonly from: string;
  readonly to: string;
  readonly content: readonly InputBlock[];
};

export type Delivery =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly why: string };

export const above = "main";

type Box = Address & {
  /** Whether others are told that it is there; it is when left out. */
  readonly isListed?: boolean;
  deliver(letter: Letter): Promise<void>;
};

export class Mail {
  readonly #boxes = new Map<string, Box>();

  /** The newest of a name gets its letters. Returns what takes it away again. */
  register(box: Box): () => void {
    this.#boxes.set(box.id, box);
    return () => {
      if (this.#boxes.get(box.id) === box) this.#boxes.delete(box.id);
    };
  }

  find(to: string): Address | undefined {
    return this.#boxes.get(to) ?? [...this.#boxes.values()].findLast(({ name }) => name === to);
  }

  /** Settles when the receiver has it on record. */
  async send(letter: Letter): Promise<Delivery> {
    const found = this.find(letter.to);
    const box = found && this.#boxes.get(found.id);
    if (!box) return { ok: false, why: `Nobody here is called ${letter.to}. ${this.#who()}` };
    try {
      await box.deliver(letter);
      return { ok: true, id: box.id };
    } catch {
      return { ok: false, why: `${letter.to} takes no messages any more.` };
    }
  }

  #who(): string {
    const listed = [...this.#boxes.values()].filter(({ isListed = true }) => isListed);
    const names = listed.map(({ id, name }) => name ?? id);
    return names.length === 0 ? "No agent is at work." : `At work: ${names.join(", ")}.`;
  }
}

export const letterOf = (from: string, to: string, words: string): Letter => ({
  from,
  to,
  content: [text(words)],
});
