/** Which folders beside its own the agent of a group is given: those that the person has named, and nothing secret. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import type { ChatGroup } from "../../protocol/group.ts";

/** A folder that groups may be given, as the settings have it. */
export type AllowedMount = {
  readonly path: string;
  readonly write?: "nobody" | "main" | "all" | undefined;
};

export type ResolvedMount = {
  /** Without links. */
  readonly source: string;
  /** Its name below the folder for mounts. */
  readonly target: string;
  readonly readonly: boolean;
};

export type MountPlaces = {
  readonly allowed: readonly AllowedMount[];
  /** Keel's own folder: with it a group would have every other one. */
  readonly keelHome: string;
  readonly userHome: string;
};

/** Below this all mounts stand in a box. */
export const mountFolder = "/workspace/extra";

/** Names of files and folders that hold keys, whatever is above or below them. */
const blocked = [
  /^\.(?:ssh|gnupg|gpg|aws|azure|gcloud|kube|docker|netrc|npmrc|pypirc|pgpass|my\.cnf|git-credentials)$/i,
  /^\.env(?:\..*)?$/i,
  /^\.(?:vault-token|password-store|secrets?)$/i,
  /^(?:credentials|secrets?|private_key|_netrc)(?:\.\w+)?$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.\w+)?$/i,
  /\.(?:pem|key|p12|pfx|keystore|jks)$/i,
];
const isBlocked = (name: string): boolean => blocked.some((pattern) => pattern.test(name));

/** What a group asks for, in its order; what it is not given says why. */
export function resolveMounts(
  { mounts = [], main = false }: Pick<ChatGroup, "mounts" | "main">,
  places: MountPlaces,
): { readonly given: readonly ResolvedMount[]; readonly refused: readonly string[] } {
  const given: ResolvedMount[] = [];
  const refused: string[] = [];
  for (const mount of mounts) {
    const resolved = resolve(mount, main, places);
    const why =
      typeof resolved === "string"
        ? resolved
        : given.some(({ target }) => overlap(target, resolved.target))
          ? "another mount has its name"
          : undefined;
    if (why !== undefined) refused.push(`${mount.hostPath}: ${why}`);
    else if (typeof resolved !== "string") given.push(resolved);
  }
  return { given, refused };
}

function resolve(
  { hostPath, containerPath, readonly = true }: NonNullable<ChatGroup["mounts"]>[number],
  isMain: boolean,
  { allowed, keelHome, userHome }: MountPlaces,
): ResolvedMount | string {
  const expanded = (place: string): string =>
    place === "~" || place.startsWith("~/") ? path.join(userHome, place.slice(2)) : place;
  const written = expanded(hostPath);
  if (!path.isAbsolute(written)) return "it is no absolute path";
  const source = realOf(written);
  if (source === undefined || !statSync(source).isDirectory()) return "there is no such folder";
  const target = targetOf(containerPath ?? path.basename(path.resolve(written)));
  if (target === undefined)
    return "its name inside must be a relative path, without `..`, colons or signs that nobody sees";
  const names = source.split(path.sep).filter((name) => name !== "");
  if (names.length === 0 || names.some(isBlocked)) return "it holds keys";
  const own = realOf(keelHome) ?? keelHome;
  if (isInside(source, [own]) || isInside(own, [source])) return "Keel's own folder is there";
  const root = allowed.find((one) => {
    const real = realOf(expanded(one.path));
    return real !== undefined && isInside(source, [real]);
  });
  if (!root) return "no folder of `groups.mounts` in your settings has it";
  if (readdirSync(source).some(isBlocked)) return "it holds keys";
  const mayWrite = root.write === "all" || (root.write === "main" && isMain);
  return { source, target, readonly: readonly || !mayWrite };
}

function realOf(place: string): string | undefined {
  try {
    return realpathSync.native(place);
  } catch {
    return undefined;
  }
}

/** Undefined for one that leads elsewhere, or that a runtime would read as something more. */
function targetOf(name: string): string | undefined {
  if (name === "" || name.length > 200 || path.posix.isAbsolute(name)) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[:,\\\u0000-\u001f\u007f]/.test(name)) return undefined;
  const parts = name.replace(/\/+$/, "").split("/");
  return parts.some((part) => part === "" || part === "." || part === "..") ? undefined : parts.join("/");
}

const overlap = (left: string, right: string): boolean =>
  left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);

/** `SOURCE[:NAME][:rw|:ro]`, as people write mounts. */
export function readMount(text: string): NonNullable<ChatGroup["mounts"]>[number] {
  const [hostPath = "", ...rest] = text.split(":");
  const mode = /^r[ow]$/.test(rest.at(-1) ?? "") ? rest.pop() : undefined;
  const [containerPath, ...more] = rest;
  return {
    hostPath,
    ...(containerPath === undefined ? {} : { containerPath: [containerPath, ...more].join(":") }),
    ...(mode === "rw" ? { readonly: false } : {}),
  };
}
