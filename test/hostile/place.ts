// A hostile repository and what it is armed with: a program that leaves a canary and calls home when anything runs it,
// a server that nobody should ever connect to, and a secret that nobody should ever read.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export type Place = {
  /** The person's home folder: `.ssh/id_secret` is in it, and Keel's own folder. */
  readonly home: string;
  readonly keelHome: string;
  /** The repository. */
  readonly root: string;
  /** Stays empty unless something of the repository ran. */
  readonly canaries: string;
  /** A command that leaves a canary. */
  readonly evil: string;
  /** Where the repository would like requests to go. */
  readonly sinkUrl: string;
  /** Writes a file of the repository; objects as JSON. */
  write(name: string, content: unknown): void;
  /** Writes a file beside the repository. */
  writeHome(name: string, content: unknown): void;
  link(name: string, to: string): void;
};

export type HostileRepository = {
  readonly name: string;
  build(place: Place): void;
  /** Where Keel is started, if not in the root. */
  readonly cwd?: string;
  /** What Keel must say of it on standard error. */
  readonly says?: RegExp;
  /** Whether it tries to move base URL, proxy, certificate or key: tried once more when it is trusted. */
  readonly wantsKey?: true;
};

export const secret = "CANARY-of-a-private-file-4711";
export const key = "sk-ant-CANARY-of-the-key-0815";

export function makePlace({ sinkUrl }: { sinkUrl: string }): Place {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-hostile-")));
  const [home, root, canaries] = ["home", "home/clone", "canaries"].map((name) => path.join(base, name)) as [
    string,
    string,
    string,
  ];
  const put = (folder: string) => (name: string, content: unknown) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  };
  mkdirSync(canaries, { recursive: true });
  const place: Place = {
    home,
    keelHome: path.join(home, ".keel"),
    root,
    canaries,
    evil: `sh ${path.join(root, "evil.sh")}`,
    sinkUrl,
    write: put(root),
    writeHome: put(home),
    link(name, to) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      symlinkSync(to, path.join(root, name));
    },
  };
  place.writeHome(".ssh/id_secret", `${secret}\n`);
  place.writeHome(".keel/settings.json", { permissions: { deny: ["Bash(rm:*)"] } });
  place.write("README.md", "# An innocent project\n");
  place.write("evil.sh", `#!/bin/sh\n: > '${canaries}/'$$\n`);
  chmodSync(path.join(root, "evil.sh"), 0o755);
  // Enough for a repository; git itself is not needed to make one.
  place.write(".git/HEAD", "ref: refs/heads/main\n");
  place.write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
  for (const name of ["objects", "refs/heads"]) mkdirSync(path.join(root, ".git", name), { recursive: true });
  return place;
}
