/** The library that speaks to PostgreSQL, which whoever wants one installs: what Keel needs of it, and how it is loaded. */
import { createRequire } from "node:module";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";

export const postgresPackage = "pg";

export type PgRow = Readonly<Record<string, unknown>>;
export type PgResult = { readonly rows: readonly PgRow[] };
export type PgQuery = { readonly text: string; readonly values: readonly unknown[]; readonly name?: string };

type PgConfig = {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  /** How long an answer may take before the connection counts as cut. */
  readonly query_timeout: number;
  readonly keepAlive: boolean;
};

export type PgClient = {
  connect(): Promise<void>;
  query(query: PgQuery | string): Promise<PgResult>;
  on(event: "notification", listener: (notice: { readonly payload?: string | undefined }) => void): void;
  on(event: "error" | "end", listener: (thrown?: unknown) => void): void;
  end(): Promise<void>;
};

/** One of the pool's: given back, or thrown away where it is not known what state it is in. */
export type PooledClient = Pick<PgClient, "query"> & { release(isBroken?: boolean): void };

export type PgPool = {
  connect(): Promise<PooledClient>;
  on(event: "error", listener: (thrown: unknown) => void): void;
  on(event: "connect", listener: (client: Pick<PgClient, "on">) => void): void;
  end(): Promise<void>;
  readonly totalCount: number;
  readonly idleCount: number;
};

export type PgLibrary = {
  readonly Pool: new (
    config: PgConfig & {
      readonly max: number;
      readonly idleTimeoutMillis: number;
      readonly allowExitOnIdle: boolean;
    },
  ) => PgPool;
  readonly Client: new (config: PgConfig) => PgClient;
};

const isLibrary = (loaded: unknown): loaded is PgLibrary =>
  typeof loaded === "object" &&
  loaded !== null &&
  "Pool" in loaded &&
  typeof loaded.Pool === "function" &&
  "Client" in loaded &&
  typeof loaded.Client === "function";

/**
 * Looked for in Keel's home and beside Keel, never in a project. Throws `package_missing`, and `package_refused` for one
 * that does not export what is needed.
 */
export function loadPostgres(home: string): PgLibrary {
  const loaded = tryLoad(path.join(home, "package.json")) ?? tryLoad(import.meta.url);
  if (loaded === undefined) throw fault("package_missing", { package: postgresPackage });
  if (isLibrary(loaded)) return loaded;
  throw fault("package_refused", {
    package: postgresPackage,
    reason: "it does not export what Keel needs of it",
  });
}

function tryLoad(from: string): unknown {
  try {
    return createRequire(from)(postgresPackage);
  } catch {
    return undefined;
  }
}
