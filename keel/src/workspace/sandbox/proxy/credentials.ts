/**
 * Keys that commands may use and never hold: inside, a variable has a placeholder that is good for nothing; requests for
 * the key's own hosts get the real one here. What comes back from there does not show it either.
 */
import { randomBytes } from "node:crypto";
import { type HostEntry, isAbout } from "../../../policy/network-hosts.ts";
import type { HostTarget } from "../../../ports/sandbox.ts";

export type SandboxKey = {
  /** The variable that commands know it by. */
  readonly name: string;
  readonly secret: string;
  readonly hosts: readonly HostEntry[];
  readonly place: CredentialPlace;
};

/** Where in a request it stands. */
export type CredentialPlace =
  /** In any header in which the command wrote the placeholder. */
  | { readonly kind: "placeholder" }
  /** In this header of every request; `{key}` in the value is the key. */
  | { readonly kind: "header"; readonly name: string; readonly value: string }
  | { readonly kind: "query"; readonly name: string }
  | { readonly kind: "basic"; readonly user: string };

export type RequestHead = {
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
};

/** What must not come back, and what is shown in its place. */
export type Swap = readonly [real: string, shown: string];

type HeldKey = SandboxKey & { readonly placeholder: string };

export class Credentials {
  readonly #kept: readonly HeldKey[];

  constructor(credentials: readonly SandboxKey[]) {
    this.#kept = credentials.map((one) => ({
      ...one,
      placeholder: `keel_placeholder_${randomBytes(16).toString("hex")}`,
    }));
  }

  /** Whether requests for it get a key: then they are read, where they would be passed on unread. */
  isFor(target: HostTarget): boolean {
    return this.#for(target).length > 0;
  }

  /** The variables of a command: placeholders in place of keys, wherever they stand in a value. */
  masked(variables: Readonly<Record<string, string>>): Record<string, string> {
    const swaps = this.#kept.map(({ secret, placeholder }): Swap => [secret, placeholder]);
    return {
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, swapped(value, swaps)] as const),
      ),
      ...Object.fromEntries(this.#kept.map(({ name, placeholder }) => [name, placeholder])),
    };
  }

  /** A text without the keys, for what is told of a command. */
  withoutSecrets(text: string): string {
    return swapped(
      text,
      this.#kept.map(({ secret, placeholder }) => [secret, placeholder]),
    );
  }

  /** The head with the keys of this host, and what of it must not come back. */
  injected(target: HostTarget, head: RequestHead): { readonly head: RequestHead; readonly swaps: Swap[] } {
    const swaps: Swap[] = [];
    let given = head;
    for (const one of this.#for(target)) {
      const { secret, placeholder } = one;
      swaps.push([secret, placeholder], [encodeURIComponent(secret), placeholder]);
      given = withKey(given, one, swaps);
    }
    return { head: given, swaps: swaps.filter(([real, shown]) => real !== shown) };
  }

  #for(target: HostTarget): readonly HeldKey[] {
    return this.#kept.filter(({ hosts }) => hosts.some((host) => isAbout(host, target, "exactly")));
  }
}

function withKey(head: RequestHead, { secret, place, placeholder }: HeldKey, swaps: Swap[]): RequestHead {
  const basic = (user: string, key: string): string =>
    `Basic ${Buffer.from(`${user}:${key}`).toString("base64")}`;
  switch (place.kind) {
    case "placeholder":
      return {
        ...head,
        headers: head.headers.map(([name, value]) => {
          const real = value.includes(placeholder)
            ? value.replaceAll(placeholder, () => secret)
            : inBasic(value, placeholder, secret);
          if (real !== value) swaps.push([bare(real), bare(value)]);
          return [name, real];
        }),
      };
    case "header": {
      const value = place.value.replaceAll("{key}", () => secret);
      swaps.push([bare(value), placeholder]);
      return { ...head, headers: set(head.headers, place.name, value) };
    }
    case "basic": {
      const value = basic(place.user, secret);
      swaps.push([bare(value), bare(basic(place.user, placeholder))]);
      return { ...head, headers: set(head.headers, "authorization", value) };
    }
    case "query":
      return { ...head, path: withQuery(head.path, place.name, secret) };
  }
}

/** Without the name of the scheme, which is no secret. */
const bare = (value: string): string => value.replace(/^[A-Za-z]+ /, "");

function inBasic(value: string, placeholder: string, secret: string): string {
  const [, scheme = "", text] = /^(basic )([\w+/=]+)$/i.exec(value) ?? [];
  if (text === undefined) return value;
  const said = Buffer.from(text, "base64").toString("latin1");
  if (!said.includes(placeholder)) return value;
  return `${scheme}${Buffer.from(
    said.replaceAll(placeholder, () => secret),
    "latin1",
  ).toString("base64")}`;
}

const set = (headers: RequestHead["headers"], name: string, value: string): RequestHead["headers"] => [
  ...headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase()),
  [name, value],
];

function withQuery(path: string, name: string, value: string): string {
  const at = path.indexOf("?");
  const before = at < 0 ? path : path.slice(0, at);
  const others = (at < 0 ? "" : path.slice(at + 1))
    .split("&")
    .filter((part) => part !== "" && decoded(part.split("=")[0] ?? "") !== name);
  return `${before}?${[...others, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`].join("&")}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch {
    return part;
  }
}

/** The longest first: one may be the start of another. */
const byLength = (swaps: readonly Swap[]): readonly Swap[] =>
  swaps.toSorted(([one], [other]) => other.length - one.length);

export function swapped(text: string, swaps: readonly Swap[]): string {
  let shown = text;
  for (const [real, instead] of byLength(swaps))
    if (real !== "") shown = shown.replaceAll(real, () => instead);
  return shown;
}

/**
 * The same for bytes in pieces. Held back is only an end that may be the start of what must not be seen, so that what is
 * told piece by piece still comes piece by piece.
 */
export class BodySwap {
  readonly #shown: ReadonlyMap<string, string>;
  readonly #reals: readonly string[];
  readonly #longest: number;
  #held = "";

  constructor(swaps: readonly Swap[]) {
    // Bytes as letters of one byte each, so that no letter is cut in two.
    const bytes = (text: string): string => Buffer.from(text).toString("latin1");
    const used = swaps
      .filter(([real]) => real !== "")
      .map(([real, shown]): Swap => [bytes(real), bytes(shown)]);
    this.#shown = new Map(byLength(used));
    this.#reals = [...this.#shown.keys()];
    this.#longest = this.#reals[0]?.length ?? 0;
  }

  write(chunk: Uint8Array): Buffer {
    return this.#take(
      Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1"),
      "more",
    );
  }

  end(): Buffer {
    return this.#take("", "last");
  }

  #take(piece: string, pieces: "more" | "last"): Buffer {
    const text = this.#held + piece;
    const parts: string[] = [];
    let from = 0;
    let at = this.#candidate(text, 0);
    while (at < text.length) {
      const rest = text.slice(at, at + this.#longest);
      const mayBecome = (real: string): boolean => real.length > rest.length && real.startsWith(rest);
      if (pieces === "more" && this.#reals.some(mayBecome)) break;
      const real = this.#reals.find((one) => rest.startsWith(one));
      if (real !== undefined) parts.push(text.slice(from, at), this.#shown.get(real) ?? "");
      const next = at + (real?.length ?? 1);
      if (real !== undefined) from = next;
      at = this.#candidate(text, next);
    }
    this.#held = text.slice(at);
    return Buffer.from(parts.join("") + text.slice(from, at), "latin1");
  }

  /** Where one could start; the end of the text where none can. */
  #candidate(text: string, from: number): number {
    const places = this.#reals.map((real) => text.indexOf(real.charAt(0), from)).filter((at) => at >= 0);
    return Math.min(text.length, ...places);
  }
}
