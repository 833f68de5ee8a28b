/**
 * Servers that several sessions of a process use: one connection for all who would start the very same server in the
 * same folder, with the same variables and roots. It ends with the last of them.
 */
import { canonicalJson } from "../kernel/json.ts";
import { Link, type LinkOptions } from "./link.ts";
import { Pins } from "./pins.ts";

/** A server with what was approved of it. */
export type Shared = { readonly link: Link; readonly pins: Pins };

export type Lease = Shared & { release(): Promise<void> };

export type LinkLeaseRequest = {
  /** Everything that makes one server another; undefined: nobody else may use this one. */
  readonly key: unknown;
  readonly link: LinkOptions;
  readonly pins: ConstructorParameters<typeof Pins>[0];
};

export class LinkPool {
  readonly #held = new Map<string, { readonly shared: Shared; users: number }>();

  lease({ key, link, pins }: LinkLeaseRequest): Lease {
    const make = (): Shared => ({ link: new Link(link), pins: new Pins(pins) });
    if (key === undefined) {
      const own = make();
      return { ...own, release: () => own.link.close() };
    }
    const name = canonicalJson(key);
    const held = this.#held.get(name) ?? { shared: make(), users: 0 };
    this.#held.set(name, held);
    held.users += 1;
    let released: Promise<void> | undefined;
    const release = async (): Promise<void> => {
      held.users -= 1;
      if (held.users > 0) return;
      this.#held.delete(name);
      await held.shared.link.close();
    };
    return {
      ...held.shared,
      release() {
        released ??= release();
        return released;
      },
    };
  }
}
