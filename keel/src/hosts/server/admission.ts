/**
 * Whether a request may pass, before anything of it is read: by the address that it names (a page elsewhere may have
 * pointed a name of its own at us), by the page that it comes from, and by its secret. A secret in an address counts
 * for nothing: addresses are logged.
 */
import type { IncomingHttpHeaders } from "node:http";
import { wireName } from "../../protocol/wire.ts";
import type { Device, Devices } from "./devices.ts";

export type DoorRefusal = { readonly status: 400 | 401 | 403 | 415 | 421 | 429; readonly why: string };

export type Admitted = { readonly ok: true; readonly device: Device };
export type DoorAdmission = { readonly ok: false; readonly refusal: DoorRefusal } | Admitted;

export type AdmissionOptions = {
  readonly devices: Pick<Devices, "find">;
  /** `127.0.0.1:8080`: what a Host header may say, in lower case. */
  readonly hosts: ReadonlySet<string>;
  /** `http://127.0.0.1:8080`: where a page may come from. */
  readonly origins: ReadonlySet<string>;
  readonly now: () => number;
};

export const cookieName = "keel_session";

/** Who tries secrets is made to wait; who has one never is. */
const maxWrong = 20;
const wrongMs = 60_000;

export class Doorkeeper {
  readonly #options: AdmissionOptions;
  #wrong: number[] = [];

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** What holds for every request, also for the page itself. */
  place(headers: IncomingHttpHeaders): DoorRefusal | undefined {
    const { host = "", origin } = headers;
    if (!this.#options.hosts.has(host.toLowerCase()))
      return { status: 421, why: "This is not the address of this server." };
    if (origin !== undefined && !this.#options.origins.has(origin.toLowerCase()))
      return { status: 403, why: "A page of another origin may not do this." };
    if (headers["sec-fetch-site"] === "cross-site")
      return { status: 403, why: "A page of another site may not do this." };
    return undefined;
  }

  admit(headers: IncomingHttpHeaders): DoorAdmission {
    const refusal = this.place(headers);
    if (refusal) return { ok: false, refusal };
    const secret = bearerOf(headers) ?? protocolOf(headers) ?? cookieOf(headers);
    if (secret === undefined) return refused(401, "A secret is needed.");
    const device = this.#options.devices.find(secret);
    if (device) return { ok: true, device };
    return this.#isTrying() ? refused(429, "Too many wrong secrets.") : refused(401, "The secret is wrong.");
  }

  #isTrying(): boolean {
    const now = this.#options.now();
    this.#wrong = [...this.#wrong.filter((at) => at > now - wrongMs), now].slice(-maxWrong - 1);
    return this.#wrong.length > maxWrong;
  }
}

const refused = (status: DoorRefusal["status"], why: string): DoorAdmission => ({
  ok: false,
  refusal: { status, why },
});

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
