/**
 * What a program was refused, as it says so itself: the kernel tells nobody else. A program that keeps its complaints to
 * itself leaves no trace here.
 */
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import type { Confinement, Violation } from "../../ports/sandbox.ts";

const most = 20;

type RefusalWords = {
  readonly kind: Violation["kind"];
  readonly says: RegExp;
  /** It may have other causes: it counts only where it is about a path that the sandbox keeps. */
  readonly only?: "kept";
};

const name = /['"‘`]?([^\s'"‘’`:]+)['"’]?/.source;

/** The words of the C library, which most programs print behind the name that they are about, and of some that do not. */
const complaints: readonly RefusalWords[] = [
  { kind: "write", says: /EROFS: read-only file system, \w+ '([^']+)'/ },
  { kind: "write", says: /Read-only file system: ['"]([^'"]+)['"]/ },
  { kind: "write", says: new RegExp(`${name}: Read-only file system`) },
  { kind: "read", says: /EACCES: permission denied, \w+ '([^']+)'/, only: "kept" },
  { kind: "read", says: /Permission denied: ['"]([^'"]+)['"]/, only: "kept" },
  { kind: "read", says: new RegExp(`${name}: Permission denied`), only: "kept" },
  { kind: "write", says: /(?:busy|Is a directory): ['"]([^'"]+)['"]/, only: "kept" },
  { kind: "write", says: /EISDIR: illegal operation on a directory, \w+ '([^']+)'/, only: "kept" },
  { kind: "write", says: /['"‘]([^'"‘’]+)['"’] to ['"‘].*: Device or resource busy/, only: "kept" },
  { kind: "write", says: new RegExp(`${name}: (?:Device or resource busy|Is a directory)`), only: "kept" },
  { kind: "network", says: /Could not resolve host: ([^\s;,]+)/i },
  { kind: "network", says: /Failed to connect to (\S+ port \d+)/ },
  { kind: "network", says: /(?:getaddrinfo|connect) (?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED) (\S+)/ },
  { kind: "network", says: /(\S+): Temporary failure in name resolution/ },
  { kind: "network", says: /(\S+): (?:Network is unreachable|Name or service not known)/ },
  {
    kind: "system",
    says: /^(?:\S+: )?(unshare|mount|umount|nsenter|chroot|mknod|pivot_root|setpriv)\b.*(?:not permitted|No space left on device|must be superuser)/,
  },
];

type Seen = Pick<Confinement, "unreadable" | "unwritable"> & { readonly cwd: string };

/** By the first complaint that fits each line; each once. */
export function violationsIn(output: string, { cwd, unreadable, unwritable }: Seen): Violation[] {
  const found = new Map<string, Violation>();
  const kept = [...unreadable, ...unwritable];
  const isKept = (target: string): boolean => {
    const place = path.resolve(cwd, target);
    return isInside(place, kept) || kept.some((each) => isInside(each, [place]));
  };
  for (const line of output.split("\n")) {
    if (found.size >= most) break;
    for (const { kind, says, only } of complaints) {
      const target = says.exec(line)?.[1];
      if (target === undefined || (only && !isKept(target))) continue;
      found.set(`${kind} ${target}`, { kind, target });
      break;
    }
  }
  return [...found.values()];
}
