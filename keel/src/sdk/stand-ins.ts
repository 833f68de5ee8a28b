/**
 * Values that programs import by name though little or nothing stands behind them here: an ES module that imports a name
 * which is not exported does not load. Each does what it can honestly do; `docs/guide/migrating.md` lists them.
 */
import { fault } from "../kernel/fault.ts";

// Keel never says these texts: a limit is told by the class of its error.
export const USAGE_LIMIT_ERROR_PREFIXES: readonly string[] = [];
export const USAGE_WARNING_PREFIXES: readonly string[] = [];
export const USAGE_TRANSITION_PREFIXES: readonly string[] = [];
export const ORG_POLICY_LIMIT_PREFIXES: readonly string[] = [];

export type DeniedModelsMatch = {
  /** For each model, in the order given. */
  denied: boolean[];
  warnings: string[];
};

/** Which models a list names, letter by letter. */
export async function matchDeniedModels(
  models: readonly string[],
  deniedModels: readonly string[] | undefined,
): Promise<DeniedModelsMatch> {
  const named = new Set<unknown>(Array.isArray(deniedModels) ? deniedModels : []);
  return { denied: Array.isArray(models) ? models.map((model) => named.has(model)) : [], warnings: [] };
}

type FoundPath = { path: string; score: number; positions: number[] };

/** Paths that contain a text, whatever its case: the shortest first. */
export class FileIndex {
  #paths: readonly string[] = [];

  loadFromFileList(paths: readonly string[]): void {
    this.#paths = [...new Set(paths)];
  }

  loadFromFileListAsync(paths: readonly string[]): { queryable: Promise<void>; done: Promise<boolean> } {
    this.loadFromFileList(paths);
    return { queryable: Promise.resolve(), done: Promise.resolve(true) };
  }

  search(text: string, limit: number): FoundPath[] {
    return this.#paths
      .flatMap((path): FoundPath[] => {
        const at = path.toLowerCase().indexOf(text.toLowerCase());
        return at < 0 ? [] : [{ path, score: 0, positions: Array.from(text, (_, index) => at + index) }];
      })
      .sort((left, right) => left.path.length - right.path.length)
      .slice(0, limit);
  }
}

/** Commands whose name contains a text: those that begin with it first. */
export class CommandMatcher<Command extends { name?: string }> {
  readonly #commands: readonly Command[];

  constructor(commands: readonly Command[]) {
    this.#commands = commands;
  }

  search(text: string): Command[] {
    const wanted = text.replace(/^\//, "").toLowerCase();
    const placeOf = ({ name = "" }: Command): number => name.toLowerCase().indexOf(wanted);
    return this.#commands
      .filter((command) => placeOf(command) >= 0)
      .sort((left, right) => placeOf(left) - placeOf(right));
  }
}

export class DirectConnectError extends Error {
  override readonly name = "DirectConnectError";
}

/** `cc://host:port/token`, or the address of a server as it is. Throws `usage` for something else. */
export function parseDirectConnectUrl(address: string): { serverUrl: string; authToken: string | undefined } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:")
    return { serverUrl: url.origin, authToken: undefined };
  if (url?.protocol === "cc:" && url.host !== "")
    return { serverUrl: `http://${url.host}`, authToken: url.pathname.slice(1) || undefined };
  throw fault("usage", { reason: `${address} is no address of a server.` });
}

/** Cannot be made: a session that runs elsewhere is reached through the runner. */
export class DirectConnectTransport {
  constructor(_options?: unknown) {
    throw new DirectConnectError(
      "Keel has no such connection: a session elsewhere is reached by its runner.",
    );
  }
}
