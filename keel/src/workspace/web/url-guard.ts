/**
 * Which addresses of the web may be fetched: http and https, to public hosts, or to hosts that the user's own settings
 * name. The text of an address is judged here; what a name stands for is judged by `reachable`, and only that is
 * connected to.
 */

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { no, type Refused } from "../../kernel/result.ts";
import { isOwnNetwork, whyNotPublic } from "./public-address.ts";

/** All addresses of a name. Throws as `node:dns` does when there are none. */
export type LookUp = (name: string) => Promise<readonly string[]>;
export const systemLookUp: LookUp = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);

export type UrlGuard = {
  /** Judges the text of an address. Touches nothing. */
  judge(text: string): JudgedUrl;
  /** The addresses that may be connected to for a judged URL, or why none may. */
  reachable(url: URL): Promise<Reachable>;
};

export type JudgedUrl = { readonly ok: true; readonly url: URL } | Refused;
export type Reachable = { readonly ok: true; readonly addresses: readonly string[] } | Refused;

type UrlGuardOptions = {
  /** Names or addresses, each with a port or for all ports: `localhost:8080`, `10.0.0.7`, `wiki.local`. */
  readonly allowHosts: readonly string[];
  readonly lookUp?: LookUp | undefined;
};

export function urlGuard({ allowHosts, lookUp = systemLookUp }: UrlGuardOptions): UrlGuard {
  const allowed = allowHosts.flatMap(parseHost);
  const isAllowed = (url: URL): boolean =>
    allowed.some(({ host, port }) => host === plainHost(url) && (port === undefined || port === portOf(url)));
  return {
    judge: (text) => judge(text, isAllowed),
    async reachable(url) {
      const host = plainHost(url);
      const literal = isIP(host) !== 0;
      const addresses = literal ? [host] : await lookUp(host);
      const isNamed = (address: string): boolean =>
        allowed.some((one) => one.host === address && (one.port === undefined || one.port === portOf(url)));
      // Who names a host means what is inside, but not what a cloud tells its machines: that only by its address.
      const isMeant = (address: string): boolean =>
        isNamed(address) || (isAllowed(url) && (literal || isOwnNetwork(address)));
      // One bad address among good ones is how a name is made to point inside: then none is used.
      const refused = addresses.find((address) => whyNotPublic(address) && !isMeant(address));
      if (addresses.length === 0) return no(`${host} has no address.`);
      if (refused === undefined) return { ok: true, addresses };
      const leads = literal ? host : `${host} leads to ${refused}, which`;
      return no(notPublic(leads, whyNotPublic(refused) ?? "refused", host));
    },
  };
}

/** Why `url`, which the server at `home` named, must not be asked. A server inside may name what is inside. */
export async function whyNotOutward(
  url: URL,
  { home, allowHosts }: { home: URL; allowHosts: readonly string[] },
): Promise<string | undefined> {
  const guard = urlGuard({ allowHosts });
  const why = async (place: URL): Promise<string | undefined> => {
    const judged = guard.judge(place.href);
    if (!judged.ok) return judged.why;
    try {
      const reachable = await guard.reachable(judged.url);
      return reachable.ok ? undefined : reachable.why;
    } catch {
      return undefined; // A name without an address leads nowhere; the request itself says so.
    }
  };
  const inside = await why(home);
  return inside === undefined ? why(url) : undefined;
}

function judge(text: string, isAllowed: (url: URL) => boolean): JudgedUrl {
  const url = URL.parse(text);
  if (!url)
    return no(`${shown(text)} is not an address. Give a whole one, such as https://example.org/page.`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return no(`Only http and https can be fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "")
    return no("The address holds a user name or a password. Give it without.");
  const host = plainHost(url);
  if (host === "") return no(`${shown(text)} names no host.`);
  url.hash = "";
  if (isAllowed(url)) return { ok: true, url };
  const why = isIP(host) === 0 ? whyNotName(host) : whyNotPublic(host);
  return why === undefined ? { ok: true, url } : no(notPublic(host, why, host));
}

/** Names that only a private network or this machine gives a meaning to. */
const localEndings = "localhost local internal intranet lan home corp private home.arpa".split(" ");

function whyNotName(host: string): string | undefined {
  if (localEndings.some((ending) => host === ending || host.endsWith(`.${ending}`)))
    return "a name of a private network";
  return host.includes(".") ? undefined : "a name without a domain";
}
export const isLocalName = (host: string): boolean => whyNotName(host) !== undefined;

/** Without the brackets of a new address and the dot that a full name may end with. */
export function plainHost({ hostname }: URL): string {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return bare.replace(/\.$/, "").toLowerCase();
}

export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

function parseHost(entry: string): { host: string; port: number | undefined }[] {
  const url = URL.parse(`http://${entry.trim()}`);
  if (url?.pathname !== "/" || url.username !== "") return [];
  const port = /:(\d{1,5})$/.exec(entry.trim())?.[1];
  return [{ host: plainHost(url), port: port === undefined ? undefined : Number(port) }];
}

const notPublic = (leads: string, what: string, host: string): string =>
  `${leads} is ${what}: only the public web can be fetched. The user can allow it by adding ${shown(host)} to web.allowHosts in their settings.`;

const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
