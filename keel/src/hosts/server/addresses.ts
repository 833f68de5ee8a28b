/**
 * Where a server can be reached, and by which names. Another interface than this machine's own is listened on only with
 * TLS: without it whoever is on the way could read the secret.
 */
import { readFile } from "node:fs/promises";
import { BlockList, isIP, isIPv6 } from "node:net";
import { createSecureContext } from "node:tls";
import { fault, reasonOf } from "../../kernel/fault.ts";

/** As a person names it. */
export type ServeAt = {
  /** 0 for any that is free. */
  readonly port: number;
  /** This machine only when left out. */
  readonly host?: string | undefined;
  /** Files in PEM. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** What a tunnel or a proxy in front calls this server. */
  readonly publicUrl?: string | undefined;
};

export type TlsFiles = { readonly cert: string; readonly key: string };

/** What is listened on, once it is known to be safe. */
export type ListenAt = {
  readonly port: number;
  readonly host: string;
  readonly tls: TlsFiles | undefined;
  /** An origin, `https://keel.example`. */
  readonly publicUrl: string | undefined;
};

/** What a request may call us, and which pages it may come from, besides the address that it came to. */
export type ServerNames = { readonly hosts: ReadonlySet<string>; readonly origins: ReadonlySet<string> };

const thisMachine = "127.0.0.1";

/** Reads the files. Throws `usage` for an address that would be read along on the way, and for what is no address. */
export async function readAddress({ port, host = thisMachine, ...at }: ServeAt): Promise<ListenAt> {
  if ((at.tlsCert === undefined) !== (at.tlsKey === undefined))
    throw refused("Name both --tls-cert and --tls-key.");
  if (host !== "localhost" && isIP(host) === 0) throw refused(`--host must be an address, not ${host}.`);
  const tls =
    at.tlsCert === undefined || at.tlsKey === undefined ? undefined : await readTls(at.tlsCert, at.tlsKey);
  if (!isLoopback(host) && !tls)
    throw refused(
      `${host} is not of this machine alone: name --tls-cert and --tls-key, or whoever is on the way reads along.`,
    );
  return { port, host, tls, publicUrl: at.publicUrl === undefined ? undefined : readPublic(at.publicUrl) };
}

/** The address of a server for those on this machine. */
export function urlOf({ host, tls }: ListenAt, port: number): string {
  const reached = isAny(host) ? (isIPv6(host) ? "::1" : thisMachine) : host;
  return new URL(`${schemeOf(tls)}://${bracketed(reached)}:${port}`).origin;
}

export function namesOf({ host, tls, publicUrl }: ListenAt, port: number): ServerNames {
  const urls = [
    ...(isAny(host) || isLoopback(host) ? [`${schemeOf(tls)}://localhost:${port}`] : []),
    ...(publicUrl === undefined ? [] : [publicUrl]),
  ].map((url) => new URL(url));
  return { hosts: new Set(urls.map((url) => url.host)), origins: new Set(urls.map((url) => url.origin)) };
}

/**
 * What a request may call the address that it came to: a name can be pointed at us by somebody else, an address cannot.
 * So it is right for an interface that came up after the start too.
 */
export function calledBy(
  {
    localAddress,
    localPort,
  }: { readonly localAddress?: string | undefined; readonly localPort?: number | undefined },
  isTls: boolean,
): { readonly host: string; readonly origin: string } | undefined {
  const address = localAddress?.replace(/^::ffff:(?=\d+\.)/, "");
  if (address === undefined || isIP(address) === 0 || localPort === undefined) return undefined;
  const { host, origin } = new URL(`${isTls ? "https" : "http"}://${bracketed(address)}:${localPort}`);
  return { host, origin };
}

const schemeOf = (tls: TlsFiles | undefined): string => (tls ? "https" : "http");
const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);
const isAny = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** The whole range, and names that mean it. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (isIP(name) === 0) return false;
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  return loopback.check(name, isIPv6(name) ? "ipv6" : "ipv4");
}

function readPublic(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || given.includes("@"))
    throw refused("--public-url must be an address like https://keel.example.");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw refused("--public-url must end with the name of the host: no path is passed on.");
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw refused("--public-url must be https, or whoever is on the way reads along.");
  return url.origin;
}

async function readTls(certFile: string, keyFile: string): Promise<TlsFiles> {
  const [cert, key] = await Promise.all([readPem("--tls-cert", certFile), readPem("--tls-key", keyFile)]);
  try {
    createSecureContext({ cert, key });
  } catch (thrown) {
    throw refused(`--tls-cert and --tls-key are no pair that can be used: ${reasonOf(thrown)}`);
  }
  return { cert, key };
}

async function readPem(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    throw refused(`${flag} cannot be read: ${reasonOf(thrown)}`);
  }
}

const refused = (reason: string) => fault("usage", { reason });
