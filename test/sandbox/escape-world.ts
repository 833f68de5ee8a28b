// A small world around a sandbox, and the proof that nothing came out of it: what lies outside is as it was, no secret
// was printed, nobody was called, nobody was killed.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import path from "node:path";

export type EscapeCase = { readonly id: string; readonly class: string; readonly command: string };

/** What stands in the project and must never change; the rest of it is the sandbox's. */
const kept = [".git", ".envrc", ".npmrc", "sub", "private"];
/** Of a repository: the rest is what a command may do to it. */
const guarded = [
  ".git/config",
  ".git/hooks",
  "sub/.git/config",
  "sub/.git/hooks",
  ".envrc",
  ".npmrc",
  "private",
];
const neverThere = [".keel", ".claude", ".mcp.json", ".vscode", ".idea", ".cursor", ".codex", ".gemini"];

export class EscapeWorld {
  readonly base: string;
  readonly project: string;
  readonly home: string;
  readonly own: string;
  readonly outside: string;
  readonly temporary: string;
  readonly canary = `canary-${process.pid}-7c1f`;
  readonly secret = `secret-${process.pid}-93ae`;
  /** Whoever was called from inside. */
  calls = 0;
  #victim: ChildProcess | undefined;
  #values: Readonly<Record<string, string>> = {};
  readonly #servers: { close(): void }[] = [];

  constructor(base: string) {
    this.base = base;
    this.project = path.join(base, "project");
    this.home = path.join(base, "home");
    this.own = path.join(base, "home", ".keel");
    this.outside = path.join(base, "outside");
    this.temporary = path.join(base, "tmp");
  }

  async open(): Promise<void> {
    const put = (file: string, text: string): void => {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    mkdirSync(this.temporary, { recursive: true });
    chmodSync(this.temporary, 0o700);
    put(path.join(this.outside, "kept"), "kept\n");
    put(path.join(this.outside, "victim.txt"), this.secret);
    const secrets = [".ssh/id_rsa", ".aws/credentials", ".netrc", ".git-credentials", ".gnupg/secring.gpg"];
    const others = [".config/gh/hosts.yml", ".docker/config.json", ".kube/config", ".bash_history"];
    for (const name of [...secrets, ...others]) put(path.join(this.home, name), `${this.secret}\n`);
    put(path.join(this.home, ".npmrc"), `//host/:_authToken=${this.secret}\n`);
    put(path.join(this.home, ".bashrc"), "# mine\n");
    for (const name of ["keys.json", "settings.json", "sessions/log.jsonl"])
      put(path.join(this.own, name), this.secret);
    for (const repository of [this.project, path.join(this.project, "sub")]) {
      put(path.join(repository, ".git/HEAD"), "ref: refs/heads/main\n");
      put(path.join(repository, ".git/config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
      for (const folder of ["hooks", "objects", "refs/heads"])
        mkdirSync(path.join(repository, ".git", folder), { recursive: true });
    }
    put(path.join(this.project, ".envrc"), "# mine\n");
    put(path.join(this.project, ".npmrc"), "fund=false\n");
    put(path.join(this.project, "private/secret.txt"), this.secret);
    const tcp = await this.#listen(createServer(), { port: 0, host: "127.0.0.1" });
    const address = tcp.address();
    const port = address && typeof address === "object" ? address.port : 0;
    await this.#listen(createServer(), { port, host: "::1" }).catch(() => undefined);
    const socket = path.join(this.outside, "socket");
    const inner = path.join(this.project, "sub", "socket");
    const name = `keel-escape-${process.pid}`;
    for (const place of [socket, inner, `\0${name}`]) await this.#listen(createServer(), { path: place });
    const udp = createSocket("udp4").on("message", () => this.#called());
    await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
    this.#servers.push(udp);
    const env = { ...process.env, SECRET: this.secret };
    this.#victim = spawn("bash", ["-c", "exec -a keel-escape-victim sleep 600"], {
      cwd: this.outside,
      env,
      stdio: "ignore",
      detached: true,
    });
    const found = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const far = found.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.2";
    this.#values = {
      P: this.project,
      O: this.outside,
      H: this.home,
      K: this.own,
      CANARY: this.canary,
      PORT: String(port),
      UPORT: String(udp.address().port),
      IP: far,
      SOCK: socket,
      PSOCK: inner,
      ABS: name,
      VICTIM: String(this.#victim.pid),
    };
  }

  async #listen(server: Server, at: { port: number; host: string } | { path: string }): Promise<Server> {
    server.on("connection", (caller) => {
      this.#called();
      caller.destroy();
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, resolve));
    this.#servers.push(server);
    return server;
  }

  #called(): void {
    this.calls += 1;
  }

  text({ command }: EscapeCase): string {
    return command.replaceAll(/\{([A-Z]+)\}/g, (whole, name: string) => this.#values[name] ?? whole);
  }

  /** The project as every case finds it. */
  reset(): void {
    // A copy of what nobody may read cannot be read either.
    execFileSync("chmod", ["-R", "u+rwX", this.project]);
    for (const name of readdirSync(this.project))
      if (!kept.includes(name) && !neverThere.includes(name))
        rmSync(path.join(this.project, name), { recursive: true, force: true });
    writeFileSync(path.join(this.project, "file"), "file\n");
    this.calls = 0;
  }

  /** Everything that no case may change, as one text. */
  picture(): string {
    const told = [this.outside, this.home, ...guarded.map((name) => path.join(this.project, name))].flatMap(
      (place) => tell(place),
    );
    const made = neverThere.filter((name) => {
      const found = lstatSync(path.join(this.project, name), { throwIfNoEntry: false });
      return (
        found !== undefined &&
        !(found.isDirectory() && readdirSync(path.join(this.project, name)).length === 0)
      );
    });
    const system = [
      "/etc",
      "/usr/local/bin",
      "/bin",
      "/var/lib",
      "/opt",
      "/srv",
      "",
      "/boot",
      "/var/spool/cron",
      "/lib",
      "/home",
      "/sys/fs/cgroup",
    ]
      .map((folder) => `${folder}/keel-escape`)
      .filter((file) => existsSync(file));
    const machine = ["/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern"].map((file) =>
      readFileSync(file, "utf8"),
    );
    return [...told, ...made, ...system, ...machine].join("\n");
  }

  get isVictimAlive(): boolean {
    return this.#victim?.exitCode === null && this.#victim.signalCode === null;
  }

  close(): void {
    for (const server of this.#servers) server.close();
    this.#victim?.kill("SIGKILL");
  }
}

/** Names, kinds, rights and contents below a place. */
function tell(place: string): string[] {
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (!found) return [`${place} missing`];
  const about = `${place} ${found.mode}`;
  if (found.isDirectory())
    return [
      about,
      ...readdirSync(place)
        .sort()
        .flatMap((name) => tell(path.join(place, name))),
    ];
  return [found.isFile() ? `${about} ${readFileSync(place, "utf8")}` : about];
}
