// A world in which only bash is real: an empty root in namespaces of its own, where every program is a stub that logs
// its name and nothing else exists. Commands are run there to see which programs bash starts for them.
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

export type Ran = {
  /** The name of every stub that was started. */
  readonly programs: readonly string[];
  /** It hung, or went on for ever, and was ended. */
  readonly isCut: boolean;
};

export type StubRoot = {
  run(command: string): Promise<Ran>;
  close(): Promise<void>;
};

const run = promisify(execFile);

/** Undefined with a reason when this machine does not allow such namespaces. */
export async function openStubRoot(
  programs: readonly string[],
): Promise<{ ok: true; root: StubRoot } | { ok: false; why: string }> {
  const place = await mkdtemp(path.join(tmpdir(), "keel-stub-root-"));
  // The smaller shell starts in half the time, and a stub does nothing but start.
  const stubShell = existsSync("/bin/dash") ? "/bin/dash" : "/bin/bash";
  const libraries = [...(await librariesOf("/bin/bash")), ...(await librariesOf(stubShell))];
  const child = spawn(
    "unshare",
    [...namespaces, "bash", "-c", setUp, "set-up", place, stubShell, programs.join(" "), libraries.join(" ")],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  const lines = new Lines(child);
  const first = await lines.next();
  if (first !== "ready") {
    child.kill("SIGKILL");
    await rm(place, { recursive: true, force: true });
    return { ok: false, why: lines.errors.trim().split("\n").at(-1) ?? "namespaces are not allowed" };
  }
  return {
    ok: true,
    root: {
      run: async (command) => {
        child.stdin.write(`${command}\0`);
        const programs: string[] = [];
        let isCut = false;
        for (;;) {
          const line = await lines.next();
          if (line === undefined)
            throw new Error(`the world of stubs ended at ${JSON.stringify(command)}: ${lines.errors}`);
          // No program has a slash in its name.
          if (line === "/done") return { programs, isCut };
          if (line === "/cut") isCut = true;
          else programs.push(line);
        }
      },
      close: async () => {
        child.stdin.end();
        child.kill("SIGKILL");
        await rm(place, { recursive: true, force: true });
      },
    },
  };
}

const namespaces = ["--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"];

async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run("ldd", [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, file = ""]) => file);
}

/** Runs outside of the new root, with real tools, and ends by entering it. */
const setUp = `
set -e
root=$1
mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
mkdir -p "$root"/{bin,usr,dev,proc,work,tmp,home/dev}
ln -s ../bin "$root/usr/bin"
cp /bin/bash "$root/bin/bash"
cp "$2" "$root/stub-shell"
for library in $4; do mkdir -p "$root$(dirname "$library")"; cp -L "$library" "$root$library"; done
mount -t proc proc "$root/proc"
ln -s /proc/self/fd "$root/dev/fd"
: > "$root/dev/null"
mount --bind /dev/null "$root/dev/null"
cat > "$root/bin/stub" <<'STUB'
#!/stub-shell
printf '%s\\n' "\${0##*/}" >> /log
STUB
chmod 755 "$root/bin/stub"
for program in $3; do ln "$root/bin/stub" "$root/bin/$program"; done
cat > "$root/driver" <<'DRIVER'
exec 9<> <(:)
settle() {
  isCut=
  read -r -t 0.8 -u 8 || (( $? <= 128 )) || { isCut=1; kill -9 -1; }
  exec 8<&-
  for (( round = 0; round < 1000; round++ )); do
    others=(/proc/[0-9]*)
    (( \${#others[@]} <= 1 )) && return
    (( round >= 500 )) && { isCut=1; kill -9 -1; }
    read -r -t 0.001 -u 9 || :
  done
}
printf 'ready\\n'
while IFS= read -r -d '' command; do
  : > /log
  # Whatever the command starts holds the far end of this pipe, so its end is the end of them all.
  exec 8< <(
    ulimit -t 2; ulimit -f 2000; cd /work
    exec /bin/bash --noprofile --norc -c "$command" 7>&1 < /dev/null > /dev/null 2>&1
  )
  settle 2> /dev/null
  while IFS= read -r line; do printf '%s\\n' "$line"; done < /log
  printf "\${isCut:+/cut\\n}/done\\n"
done
DRIVER
exec env -i PATH=/bin HOME=/home/dev LANG=C.UTF-8 "$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)" "$root" /bin/bash --noprofile --norc /driver
`;

class Lines {
  errors = "";
  #waiting: ((line: string | undefined) => void)[] = [];
  #lines: string[] = [];
  #ended = false;

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const pieces = (rest + chunk).split("\n");
      rest = pieces.pop() ?? "";
      for (const line of pieces) this.#give(line);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.errors = (this.errors + chunk).slice(-4_000);
    });
    child.stdin.on("error", () => undefined); // It has ended; whoever waits for a line learns of it.
    child.on("close", () => {
      this.#ended = true;
      for (const take of this.#waiting) take(undefined);
    });
  }

  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #give(line: string): void {
    const take = this.#waiting.shift();
    if (take) take(line);
    else this.#lines.push(line);
  }
}
