/**
 * Who can be told something, and by which name. An agent is known by its id and, if it was given one, by its name; the
 * session above an agent is `main` to it. A word from another is input, by the same command that a person uses. Teams
 * and channels register their members here by the same two lines.
 */
import type { InputBlock } from "../protocol/message.ts";

export type AgentAddress = { readonly id: string; readonly name?: string | undefined };

export type AgentMessage = {
  /** The name under which the receiver knows the sender. */
  readonly from: string;
  readonly to: string;
  readonly content: readonly InputBlock[];
};

export type Delivery =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly why: string };

export const above = "main";

type Mailbox = AgentAddress & {
  /** Whether others are told that it is there; it is when left out. */
  readonly isListed?: boolean;
  deliver(message: AgentMessage): Promise<void>;
};

export class Mail {
  readonly #boxes = new Map<string, Mailbox>();

  /** The newest of a name gets its letters. Returns what takes it away again. */
  register(box: Mailbox): () => void {
    this.#boxes.set(box.id, box);
    return () => {
      if (this.#boxes.get(box.id) === box) this.#boxes.delete(box.id);
    };
  }

  find(to: string): AgentAddress | undefined {
    return this.#boxes.get(to) ?? [...this.#boxes.values()].findLast(({ name }) => name === to);
  }

  /** Settles when the receiver has it on record. */
  async send(message: AgentMessage): Promise<Delivery> {
    const found = this.find(message.to);
    const box = found && this.#boxes.get(found.id);
    if (!box) return { ok: false, why: `Nobody here is called ${message.to}. ${this.#who()}` };
    try {
      await box.deliver(message);
      return { ok: true, id: box.id };
    } catch {
      return { ok: false, why: `${message.to} takes no messages any more.` };
    }
  }

  #who(): string {
    const listed = [...this.#boxes.values()].filter(({ isListed = true }) => isListed);
    const names = listed.map(({ id, name }) => name ?? id);
    return names.length === 0 ? "No agent is at work." : `At work: ${names.join(", ")}.`;
  }
}
