// What developers run every day, once outside and once inside: the same exit codes and the same words, but for what the
// corpus says will differ.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Shell } from "../keel/src/ports/shell.ts";
import { openProcessGuard } from "../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../keel/src/workspace/processes/shell.ts";
import { confinedGuard } from "../keel/src/workspace/sandbox/confined-guard.ts";
import { confinementOf } from "../keel/src/workspace/sandbox/confinement.ts";
import { LocalSandbox } from "../keel/src/workspace/sandbox/sandbox.ts";
import { countOf } from "./support/budget.ts";
import { notRunHere } from "./support/not-run.ts";
import { verifies } from "./support/verifies.ts";

type Everyday = { readonly id: string; readonly command: string; readonly differs?: string };

const corpus: readonly Everyday[] = readFileSync(
  path.resolve(import.meta.dirname, "corpora/everyday-commands.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test("everyday commands run inside as they run outside", async () => {
  verifies("P10", "S2.46");
  const base = realpathSync(
    mkdtempSync(path.join(process.getuid?.() === 0 ? "/var/lib" : homedir(), "keel-everyday-")),
  );
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const home = path.join(base, "home");
  mkdirSync(path.join(home, ".npm"), { recursive: true });
  mkdirSync(path.join(home, ".cache"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, LANG: "C.UTF-8", TZ: "UTC" };
  const guard = openProcessGuard({ env });
  const sandbox = new LocalSandbox({ env, guard });
  onTestFinished(async () => {
    await sandbox.close();
    await guard.close();
  });
  const { layer, why } = await sandbox.describe();
  if (layer === "none") return notRunHere("everyday commands in the sandbox", why ?? "");
  const [free, confined] = [projectIn(path.join(base, "out")), projectIn(path.join(base, "in"))];
  const inside = confinedGuard(guard, () =>
    sandbox.open(
      confinementOf({
        roots: [confined],
        home,
        own: [],
        lent: [],
        named: [],
        allowWrite: [],
        denyWrite: [],
        allowRead: [],
        denyRead: [],
        denies: () => false,
        egress: undefined,
        unixSockets: [],
        nested: "refused",
      }),
    ),
  );
  const shells = [
    { shell: nodeShell({ env, guard }), cwd: free },
    { shell: nodeShell({ env, guard, inside }), cwd: confined },
  ];
  const count = countOf("sandbox-everyday");
  // What differs is tried in every run.
  const chosen = [
    ...corpus.slice(0, count),
    ...corpus.slice(count).filter(({ differs }) => differs !== undefined),
  ];
  const differing: string[] = [];
  for (const { id, command, differs } of chosen) {
    const [outside = "", within = ""] = await Promise.all(
      shells.map(({ shell, cwd }) => outcomeOf(shell, command, cwd)),
    );
    if ((outside !== within) !== (differs !== undefined))
      differing.push(`${id} ${command}\n${outside}\n${within}`);
  }
  expect(differing).toEqual([]);
}, 900_000);

async function outcomeOf(shell: Shell, text: string, cwd: string): Promise<string> {
  const run = await shell.start({ text, cwd, timeoutMs: 60_000, maxBytes: 20_000 });
  const { exitCode, signal, output } = await run.over;
  return `${exitCode ?? signal} ${output.replaceAll(cwd, "PROJECT")}`;
}

/** A small repository with something of everything. */
function projectIn(folder: string): string {
  const put = (name: string, text: string, mode = 0o644): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text, { mode });
  };
  put("README.md", "a project\nof two lines\n");
  put("src/a.txt", "hello world\nagain\n");
  put("src/p.txt", "one\n");
  put("fix.diff", "--- src/p.txt\n+++ src/p.txt\n@@ -1 +1 @@\n-one\n+two\n");
  put("run.sh", "#!/bin/sh\necho ran\n");
  put("index.js", "console.log(require('./package.json').name)\n");
  put("test.js", "require('node:test')('works', () => undefined)\n");
  put("hello.c", '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n');
  put("app.py", "def f():\n    return 2\n\nif __name__ == '__main__':\n    print(f())\n");
  put(
    "test_app.py",
    "import unittest\nimport app\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(app.f(), 2)\n",
  );
  put(
    "Makefile",
    "all: build/made\nbuild/made:\n\tmkdir -p build && echo made > $@\nclean:\n\trm -rf build/made\n",
  );
  put("dep/package.json", '{ "name": "dep", "version": "1.0.0", "main": "i.js" }\n');
  put("dep/i.js", "module.exports = 'dep'\n");
  const scripts = { test: "node --test test.js", build: "mkdir -p build && echo built > build/built" };
  put("package.json", `${JSON.stringify({ name: "everyday", version: "1.0.0", scripts })}\n`);
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=b", ...args], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        GIT_AUTHOR_DATE: "@0 +0000",
        GIT_COMMITTER_DATE: "@0 +0000",
      },
    });
  };
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "first");
  return folder;
}
