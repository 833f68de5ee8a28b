import type { ModelRequest } from "../../keel/src/ports/model.ts";

/** A request as one text. Messages are written once: conversations grow, and their messages stay the same objects. */

export class Written {
  readonly #known = new WeakMap<object, string>();

  request({ messages, ...rest }: ModelRequest): string {
    return `${JSON.stringify(rest)}${this.messages(messages)}`;
  }

  messages(messages: ModelRequest["messages"]): string {
    return messages.map((message) => this.#message(message)).join();
  }

  #message(message: object): string {
    const known = this.#known.get(message) ?? JSON.stringify(message);
    this.#known.set(message, known);
    return known;
  }
}
