/**
 * Which hosts may be reached from a sandbox, by name and port: denied, allowed, or not decided by anybody. Pure. Names
 * are read strictly, since whoever resolves them reads them more freely; what a name leads to is looked at where it is
 * resolved.
 */
import { failed, ok, type Result } from "../kernel/result.ts";
import type { HostTarget } from "../ports/sandbox.ts";
import { isOfDomain, type PermissionRule } from "./rules.ts";

export type HostEntry = {
  /** As it was written. */
  readonly text: string;
  readonly host: string;
  /** Undefined: all of them. */
  readonly port: number | undefined;
  /** `below`: the names under it, not itself. `any`: every host there is. */
  readonly extent: "itself" | "below" | "any";
};

export type HostLists = {
  readonly allowed: readonly HostEntry[];
  readonly denied: readonly HostEntry[];
  /** Somebody is asked about these, allowed or not. */
  readonly asked: readonly HostEntry[];
  /** Hosts and addresses of this machine and its network that may be meant at all. */
  readonly inner: readonly HostEntry[];
};

export type HostVerdict = {
  readonly verdict: "allow" | "deny" | "open";
  /** What decided. */
  readonly entry?: HostEntry | undefined;
};

/** A deny wins over a question, and that over an allow; both are also about what is below the name. */
export function judgeHost({ allowed, denied, asked }: HostLists, target: HostTarget): HostVerdict {
  const no = denied.find((entry) => isAbout(entry, target, "and below"));
  if (no) return { verdict: "deny", entry: no };
  const question = asked.find((entry) => isAbout(entry, target, "and below"));
  if (question) return { verdict: "open", entry: question };
  const yes = allowed.find((entry) => isAbout(entry, target, "exactly"));
  return yes ? { verdict: "allow", entry: yes } : { verdict: "open" };
}

/** Whether this very name or address is written down. */
export const isNamed = (entries: readonly HostEntry[], target: HostTarget): boolean =>
  entries.some((entry) => entry.extent === "itself" && isAbout(entry, target, "exactly"));

export function isAbout(
  { host, port, extent }: HostEntry,
  target: HostTarget,
  reach: "exactly" | "and below",
): boolean {
  if (port !== undefined && port !== target.port) return false;
  if (extent === "any") return true;
  return isOfDomain(target.host, extent === "below" ? `*.${host}` : host, reach);
}

/** What settings and rules say together. A rule for `WebFetch` is about hosts, whoever asks for them. */
export function hostLists(
  given: {
    readonly allowed: readonly HostEntry[];
    readonly denied: readonly HostEntry[];
    readonly inner: readonly HostEntry[];
  },
  rules: Readonly<Record<"allow" | "ask" | "deny", readonly PermissionRule[]>>,
): HostLists {
  const domains = (list: readonly PermissionRule[]): HostEntry[] =>
    list.flatMap(({ tool, pattern, text }) =>
      tool === "WebFetch" && pattern.kind === "domain" ? [{ ...domainEntry(pattern.value), text }] : [],
    );
  return {
    allowed: [...given.allowed, ...domains(rules.allow)],
    denied: [...given.denied, ...domains(rules.deny)],
    asked: domains(rules.ask),
    inner: given.inner,
  };
}

function domainEntry(domain: string): Omit<HostEntry, "text"> {
  const host = domain.replace(/^\*\./, "").replace(/^\[|\]$/g, "");
  return { host, port: undefined, extent: domain.startsWith("*.") ? "below" : "itself" };
}

/** `example.org`, `*.example.org`, `example.org:8443`, `10.0.0.7`, `[::1]:3000`. Says what is wrong with another one. */
export function readHostEntry(text: string, list: "allowed" | "denied"): Result<HostEntry> {
  const trimmed = text.trim();
  if (trimmed === "*")
    return list === "denied"
      ? ok({ text, host: "", port: undefined, extent: "any" })
      : failed("`*` would allow every host there is");
  const [, star, written = "", digits] = /^(\*\.)?(.*?)(?::(\d+))?$/s.exec(trimmed) ?? [];
  // An address of the new kind has colons of its own: with a port it stands in brackets.
  const isBare = !trimmed.startsWith("[") && trimmed.split(":").length > 2;
  const host = readHost(isBare ? trimmed : inLetters(written));
  const port = isBare || digits === undefined ? undefined : readPort(digits);
  if (host === undefined || (digits !== undefined && !isBare && port === undefined))
    return failed("it is no host, such as example.org, *.example.org or example.org:8443");
  if (star === undefined) return ok({ text, host, port, extent: "itself" });
  if (isAddress(host)) return failed("nothing is below an address");
  if (list === "allowed" && !host.includes(".")) return failed("it would allow a whole top-level domain");
  return ok({ text, host, port, extent: "below" });
}

/** Names in other letters as the name service has them: a person writes `bücher.example`, programs send the other form. */
const inLetters = (written: string): string =>
  /[^\x20-\x7e]/.test(written) ? (URL.parse(`http://${written}/`)?.hostname ?? "") : written;

export const readPort = (digits: string): number | undefined =>
  /^[1-9]\d{0,4}$/.test(digits) && Number(digits) <= 65_535 ? Number(digits) : undefined;

const maxName = 253;
const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const plainName = new RegExp(`^${label}(?:\\.${label})*$`);
const plainQuad = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/;

/**
 * The one spelling of a host as a wire names it; undefined for what is none. What a resolver could take for an address in
 * an odd spelling (`0x7f.1`, `2130706433`, `010.0.0.1`) is none either.
 */
export function readHost(text: string): string | undefined {
  if (text.startsWith("[") !== text.endsWith("]")) return undefined;
  if (text.startsWith("[")) return newAddress(text.slice(1, -1));
  if (text.includes(":")) return newAddress(text);
  const name = text.toLowerCase().replace(/\.$/, "");
  if (name.length > maxName || !plainName.test(name)) return undefined;
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (!/^(?:\d+|0x[0-9a-f]*)$/.test(last)) return name;
  return plainQuad.test(name) && name.split(".").every((part) => Number(part) < 256) ? name : undefined;
}

export const isAddress = (host: string): boolean => host.includes(":") || plainQuad.test(host);

function newAddress(text: string): string | undefined {
  // A zone says which wire of this machine is meant: nobody outside has one.
  if (!/^[0-9a-f:.]{2,45}$/i.test(text) || !text.includes(":")) return undefined;
  return URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
}
