/** What a move needs of the process around it. */
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { exclusionsIn } from "../../workspace/checkpoints/snapshot.ts";
import type { FolderPlace } from "../../workspace/git/folder-state.ts";
import type { HomeResources } from "../compose/home-resources.ts";
import { MoveStore } from "./move-store.ts";

export type MovePorts = {
  readonly home: Pick<HomeResources, "path" | "clock" | "ids" | "store" | "logs">;
  readonly env: EnvironmentVariables;
  /** What this machine is called. */
  readonly host: string;
  /** Keys that this machine knows: no parcel holds one. */
  readonly secrets: readonly string[];
  /** Told when a step is done that lasts: a move may break behind any of them. */
  readonly step?: ((name: string) => Promise<void>) | undefined;
  /** For a person who waits. */
  readonly tell?: ((words: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

export const movesOf = ({ home }: MovePorts): MoveStore => new MoveStore(home.path, () => home.ids.uuid());

/** Settings that hold for one machine and say who may do what: they stay there. */
const ownSettings = /(?:^|\/)(?:\.(?:keel|claude)\/settings[^/]*\.json|\.mcp\.json)$/;

export function folderPlace(
  ports: MovePorts,
  { cwd, scratch }: { cwd: string; scratch: string },
): FolderPlace {
  const exclusions = exclusionsIn(cwd, { home: ports.env["HOME"] ?? "/" });
  return {
    cwd,
    scratch,
    env: ports.env,
    signal: ports.signal ?? new AbortController().signal,
    isLeft: (file, content) =>
      exclusions.isNamed(file) ||
      ownSettings.test(file) ||
      (content !== undefined && (exclusions.isKey(content) || holdsSecret(content, ports.secrets))),
  };
}

export const holdsSecret = (content: Uint8Array, secrets: readonly string[]): boolean => {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return secrets.some((secret) => secret.length >= minSecret && bytes.includes(secret));
};
/** Shorter ones are found in any text. */
const minSecret = 8;
