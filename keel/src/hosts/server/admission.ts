/**
 * Whether a request may pass, before anything of it is read: by the address that it names (a page elsewhere may have
 * pointed a name of its own at us), by the page that it comes from, and by its secret. A secret in an address counts
 * for nothing: addresses are logged.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { wireName } from "../../protocol/wire.ts";
import { calledBy, type ServerNames } from "./addresses.ts";
import type { Device, Devices } from "./devices.ts";
import { Tries } from "./tries.ts";

export type DoorRefusal = {
  readonly status: 400 | 401 | 403 | 415 | 421 | 429 | 503;
  readonly why: string;
  /** None was shown, which may come later; a wrong one is another thing. */
  readonly lacksSecret?: true;
};

export type Admitted = { readonly ok: true; readonly device: Device };
export type DoorAdmission = { readonly ok: false; readonly refusal: DoorRefusal } | Admitted;

/** What is looked at of a request. */
export type Knock = Pick<IncomingMessage, "headers" | "rawHeaders" | "socket">;

export type AdmissionOptions = {
  /** Known once the server listens. */
  readonly names: () => ServerNames;
  readonly devices: Pick<Devices, "find">;
  readonly now: () => number;
};

export const cookieName = "keel_session";

/** Wrong secrets a minute, from one address and from all, after which it is said that they are too many. */
const maxWrong = { fromOne: 20, inAll: 200, withinMs: 60_000 };

export class Doorkeeper {
  readonly #options: AdmissionOptions;
  readonly #wrong: Tries;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#wrong = new Tries(maxWrong, options.now);
  }

  /** What holds for every request. The page itself holds nothing: also a link on another site may lead to it. */
  place({ headers, rawHeaders, socket }: Knock, what: "page" | "data"): DoorRefusal | undefined {
    if (isSaidTwice(rawHeaders)) return { status: 400, why: "A header is there twice." };
    const { hosts, origins } = this.#options.names();
    const called = calledBy(socket, "encrypted" in socket);
    const host = headers.host?.toLowerCase() ?? "";
    if (!hosts.has(host) && host !== called?.host)
      return { status: 421, why: "This is not the address of this server." };
    const origin = headers.origin?.toLowerCase();
    if (origin !== undefined && !origins.has(origin) && origin !== called?.origin)
      return { status: 403, why: "A page of another origin may not do this." };
    const isLink = what === "page" && headers["sec-fetch-mode"] === "navigate";
    if (["cross-site", "same-site"].includes(String(headers["sec-fetch-site"])) && !isLink)
      return { status: 403, why: "A page of another site may not do this." };
    return undefined;
  }

  /** Whether a browser reached us by TLS, of our own or of what stands in front. */
  isSecure({ headers, socket }: Knock): boolean {
    const { host = "", origin = "" } = headers;
    const named = [`https://${host.toLowerCase()}`, origin.toLowerCase()];
    const { origins } = this.#options.names();
    return "encrypted" in socket || named.some((one) => one.startsWith("https:") && origins.has(one));
  }

  /** Who has a right secret is let in, however many wrong ones were tried. */
  admit(knock: Knock): DoorAdmission {
    const refusal = this.place(knock, "data");
    if (refusal) return { ok: false, refusal };
    const { headers } = knock;
    const secret = bearerOf(headers) ?? protocolOf(headers) ?? cookieOf(headers);
    if (secret === undefined)
      return { ok: false, refusal: { status: 401, why: "A secret is needed.", lacksSecret: true } };
    return this.identify(secret, knock);
  }

  /** Whose secret it is. For one that was not in the head of its request. */
  identify(secret: string, knock: Knock): DoorAdmission {
    const device = this.#options.devices.find(secret);
    if (device) return { ok: true, device };
    const from = knock.socket.remoteAddress ?? "";
    return this.#wrong.add(from)
      ? refused(401, "The secret is wrong.")
      : refused(429, "Too many wrong secrets.");
  }
}

const refused = (status: DoorRefusal["status"], why: string): DoorAdmission => ({
  ok: false,
  refusal: { status, why },
});

/** Of which whoever stands before us may have read the other one. */
const onceOnly: readonly string[] = ["host", "authorization", "content-type", "origin"];

function isSaidTwice(rawHeaders: readonly string[]): boolean {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return onceOnly.some((name) => names.indexOf(name) !== names.lastIndexOf(name));
}

function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  const found = /^Bearer ([\w-]{1,200})$/.exec(authorization ?? "");
  // A header that says something else is a wrong secret, not none.
  return authorization === undefined ? undefined : (found?.[1] ?? "");
}

/** A browser's socket has no header of its own: there the secret is the name of a protocol. */
function protocolOf(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim()) ?? [];
  return offered.find((name) => name.startsWith("keel.") && name !== wireName)?.slice("keel.".length);
}

function cookieOf({ cookie = "" }: IncomingHttpHeaders): string | undefined {
  for (const part of cookie.split(";")) {
    const [name, value] = part.trim().split("=");
    if (name === cookieName) return value ?? "";
  }
  return undefined;
}
