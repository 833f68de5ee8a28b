import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { sandboxFindings } from "../keel/src/app/maintenance/doctor.ts";
import type { Confinement } from "../keel/src/ports/sandbox.ts";
import type { Shell, ShellOutcome } from "../keel/src/ports/shell.ts";
import { openProcessGuard } from "../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../keel/src/workspace/processes/shell.ts";
import { systemPath } from "../keel/src/workspace/processes/system-programs.ts";
import { confinedGuard } from "../keel/src/workspace/sandbox/confined-guard.ts";
import { LocalSandbox } from "../keel/src/workspace/sandbox/sandbox.ts";
import { notRunHere } from "./support/not-run.ts";
import { verifies } from "./support/verifies.ts";

// Not below /tmp, which is another one inside.
const base = realpathSync(
  mkdtempSync(path.join(process.getuid?.() === 0 ? "/var/lib" : homedir(), "keel-sandbox-")),
);
const env = { PATH: process.env["PATH"] ?? "", HOME: base, TMPDIR: path.join(base, "tmp") };
mkdirSync(env.TMPDIR);
const guard = openProcessGuard({ env });
let sandbox = new LocalSandbox({ env, guard });
let root = "";

beforeEach(() => {
  root = mkdtempSync(path.join(base, "root-"));
});
afterEach(async () => {
  await sandbox.close();
  sandbox = new LocalSandbox({ env, guard });
});
afterAll(async () => {
  await guard.close();
  rmSync(base, { recursive: true, force: true });
});

const confinement = (more: Partial<Confinement> = {}): Confinement => ({
  writable: [root],
  unwritable: [],
  unreadable: [],
  readable: [],
  scratch: [],
  unixSockets: [],
  nested: "refused",
  ...more,
});

const shellWith = (given: Confinement): Shell =>
  nodeShell({ env, guard, inside: confinedGuard(guard, () => sandbox.open(given)) });

const run = async (text: string, given = confinement(), shell = shellWith(given)): Promise<ShellOutcome> => {
  const started = await shell.start({
    text,
    cwd: root,
    timeoutMs: 20_000,
    maxBytes: 10_000,
    endFolder: "asked",
  });
  return started.over;
};

const canConfine = (await sandbox.describe()).layer !== "none";
const why = (): void => notRunHere("the sandbox of namespaces", "none can be made");

test("a command writes in its roots, and nowhere else", async () => {
  verifies("P10", "S2.46");
  if (!canConfine) return why();
  const outside = path.join(base, "outside");
  const ended = await run(`echo in > made; echo out > ${outside}; mkdir deep && cd deep`);
  expect(existsSync(path.join(root, "made"))).toBe(true);
  expect(existsSync(outside)).toBe(false);
  expect(ended.violations).toEqual([{ kind: "write", target: outside }]);
  expect(ended.endFolder).toBe(path.join(root, "deep"));
});

test("it has exit codes, signals, order of output and a time limit as outside", async () => {
  if (!canConfine) return why();
  const shell = shellWith(confinement());
  expect(await run("echo a; echo b >&2; echo c; exit 7", confinement(), shell)).toMatchObject({
    output: "a\nb\nc\n",
    exitCode: 7,
  });
  expect((await run("kill -TERM $$", confinement(), shell)).signal ?? "").toBe("SIGTERM");
  const late = await shell.start({
    text: "trap 'echo bye; exit 3' TERM; sleep 30 & wait",
    cwd: root,
    timeoutMs: 300,
    maxBytes: 1_000,
  });
  expect(await late.over).toMatchObject({ timedOut: true, output: "bye\n" });
});

test("what it leaves running lives on, is listed and can be stopped", async () => {
  if (!canConfine) return why();
  const started = await shellWith(confinement()).start({
    text: "sleep 60 & echo left",
    cwd: root,
    timeoutMs: 9_000,
    maxBytes: 1_000,
  });
  expect(await started.over).toMatchObject({ exitCode: 0, output: "left\n" });
  const left = started.left();
  expect(left?.processes).toBe(1);
  await left?.stop();
  expect(await left?.over).toBeUndefined();
});

test("secrets and sockets are unseen, loopback is its own, and /tmp too", async () => {
  verifies("S2.48");
  if (!canConfine) return why();
  mkdirSync(path.join(base, "keys"), { recursive: true });
  writeFileSync(path.join(base, "keys", "one"), "hidden words");
  const ended = await run(
    `cat ${base}/keys/one; ls /tmp | wc -l; bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' ; python3 -m http.server 8765 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 1; curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8765/; kill %1`,
    confinement({ unreadable: [path.join(base, "keys")] }),
  );
  expect(ended.output).not.toContain("hidden words");
  expect(ended.output).toContain("200");
  expect(ended.violations).toContainEqual({ kind: "read", target: path.join(base, "keys", "one") });
});

test("what is not there yet cannot be made, and nothing of that stays on the disk", async () => {
  if (!canConfine) return why();
  const given = confinement({ unwritable: [path.join(root, ".keel"), path.join(root, ".mcp.json")] });
  const ended = await run("mkdir -p .keel/x; echo 1 > .mcp.json; rm -rf .keel; ls -A", given);
  expect(ended.exitCode).toBe(0);
  expect(readdirSync(path.join(root, ".keel"))).toEqual([]);
  await sandbox.close();
  expect(readdirSync(root)).toEqual([]);
  expect(readdirSync(env.TMPDIR).filter((name) => name.startsWith("keel-box-"))).toEqual([]);
});

test("a file that somebody replaced outside is kept from the next command all the same", async () => {
  if (!canConfine) return why();
  const file = path.join(root, "config");
  writeFileSync(file, "one");
  const shell = shellWith(confinement({ unwritable: [file] }));
  const given = confinement();
  expect((await run("echo x > config", given, shell)).exitCode).toBe(1);
  // As git does it: a new file takes the name, and with it the mount inside is gone.
  execFileSync("sh", ["-c", "echo two > new && mv new config"], { cwd: root });
  expect((await run("echo x > config", given, shell)).exitCode).toBe(1);
  expect(execFileSync("cat", [file], { encoding: "utf8" })).toBe("two\n");
});

test("a program that a command planted on the path starts nothing outside", async () => {
  if (!canConfine) return why();
  const planted = path.join(base, "outside-mark");
  const crowded = { ...env, PATH: `${root}:${env.PATH}` };
  const shell = nodeShell({
    env: crowded,
    guard,
    inside: confinedGuard(guard, () => sandbox.open(confinement())),
  });
  const words = `for p in nsenter setpriv setsid sh env; do printf '#!/bin/bash\\ntouch ${planted}\\n' > $p; chmod +x $p; done`;
  await run(words, confinement(), shell);
  await run("true", confinement(), shell);
  expect(existsSync(planted)).toBe(false);
});

test("where nothing confines, no command is started", async () => {
  verifies("G38");
  const broken = brokenMachine({
    unshare: 'echo "unshare: unshare failed: Operation not permitted" >&2; exit 1',
  });
  const inside = confinedGuard(guard, () => broken.open(confinement()));
  const ended = await run("touch made", confinement(), nodeShell({ env, guard, inside }));
  expect(ended).toMatchObject({ exitCode: 126, output: expect.stringContaining("cannot be confined") });
  expect(existsSync(path.join(root, "made"))).toBe(false);
});

/** A machine where programs of the system are these; what is not named is as it is. */
function brokenMachine(programs: Readonly<Record<string, string>>): LocalSandbox {
  const folder = mkdtempSync(path.join(base, "bin-"));
  for (const [name, words] of Object.entries(programs)) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${words}\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
  return new LocalSandbox({ env, guard, search: `${folder}:${systemPath}` });
}

const none = "exit 127";
const version = (number: string): string => `[ "$1" = --version ] && echo "bubblewrap ${number}"`;
const makes = 'mkdir -p "$5"';

test.each([
  ["no bubblewrap", { bwrap: none }, { layer: "namespaces" }, "by namespaces"],
  [
    "no user namespaces",
    { unshare: 'echo "unshare: unshare failed: No space left on device" >&2; exit 1', bwrap: none },
    { layer: "none", why: expect.stringContaining("No space left") },
    "cannot confine",
  ],
  [
    "a kernel module that forbids them",
    {
      unshare: 'echo "unshare: write failed /proc/self/uid_map: Operation not permitted" >&2; exit 1',
      bwrap: none,
    },
    { layer: "none", why: expect.stringContaining("uid_map") },
    "uid_map",
  ],
  [
    "an old bubblewrap",
    { bwrap: `${version("0.8.0")} || { shift 3; ${makes.replace("$5", "$2")}; }` },
    { bubblewrap: { version: "0.8.0", hole: "open" } },
    "CVE-2026-87766 is open",
  ],
  [
    "a bubblewrap that refuses links",
    { bwrap: `${version("0.12.0")} || exit 1` },
    { bubblewrap: { version: "0.12.0", hole: "fixed" } },
    "CVE-2026-87766 is fixed",
  ],
])("on a machine with %s it says what it can do", async (_, programs, facts, words) => {
  verifies("G38");
  if (!canConfine && !("unshare" in programs)) return why();
  const found = await brokenMachine(programs).describe();
  expect(found).toMatchObject(facts);
  const said = sandboxFindings(found, { wishes: { failIfUnavailable: true }, isOn: true });
  expect(said.map(({ says }) => says).join("\n")).toContain(words);
  expect(said[0]?.state).toBe(found.layer === "none" ? "bad" : "ok");
});
