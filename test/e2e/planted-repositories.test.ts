// The reproductions of planted repositories and replaced programs, with the built command, real git and real files: the
// model does what the attacker wants, nobody is there to ask, and nothing of the folder may start.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { script } from "../planted/tools.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, type Stage } from "./stage.ts";

const bash = (command: string) => reply(toolUse("Bash", { command }));
const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd, stdio: "pipe" });
const config =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch pwned; false"\n';
const edits = ["--permission-mode", "acceptEdits"];

/** Also without the second wall, where the person's environment says otherwise: the first must hold alone. */
const noWall = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "all",
};

function denied({ log }: Stage): unknown[] {
  return log().filter(({ type, denied: refused }) => type === "tool.finished" && refused !== undefined);
}

/** A bare repository for git, whose head is a link that leads nowhere. */
function plant(folder: string): void {
  for (const inner of ["objects/info", "refs/heads"])
    mkdirSync(path.join(folder, inner), { recursive: true });
  for (const file of ["objects/info/x", "refs/heads/x"]) writeFileSync(path.join(folder, file), "x");
  writeFileSync(path.join(folder, "config"), config);
  symlinkSync("refs/heads/main", path.join(folder, "HEAD"));
}

test("a bare repository that comes with a clone is not read, though the clone is trusted", async () => {
  verifies("G35");
  const stage = await openStage(
    byPosition([bash("cd sub && git status"), bash("git status --short"), reply("done")]),
  );
  git(stage.project, "init", "-q");
  plant(path.join(stage.project, "sub"));
  await stage.run(["trust", "add"]);
  await stage.run(["-p", "go"], { env: noWall });
  expect(denied(stage)).toHaveLength(1);
  expect(existsSync(path.join(stage.project, "sub/pwned"))).toBe(false);
});

test("a model that may edit cannot make the folder a repository and have git read it", async () => {
  const write = (file_path: string, content: string) => toolUse("Write", { file_path, content });
  const stage = await openStage(
    byPosition([
      reply(
        write("HEAD", "ref: refs/heads/main\n"),
        write("config", config),
        write("objects/info/x", "x"),
        write("refs/heads/x", "x"),
      ),
      bash("git status"),
      reply("done"),
    ]),
  );
  await stage.run(["trust", "add"]);
  await stage.run(["-p", "go", ...edits], { env: noWall });
  expect(existsSync(path.join(stage.project, "config"))).toBe(true);
  expect(existsSync(path.join(stage.project, "HEAD"))).toBe(false);
  expect(existsSync(path.join(stage.project, "pwned"))).toBe(false);
});

test("a plain folder that brings a bare repository shows it when it is trusted, and git asks there", async () => {
  const stage = await openStage(byPosition([bash("git status"), reply("done")]));
  plant(stage.project);
  const shown = await stage.run(["trust", "add"]);
  expect(shown.stdout).toContain("git takes the folder for a repository");
  await stage.run(["-p", "go"], { env: noWall });
  expect(denied(stage)).toHaveLength(1);
  expect(existsSync(path.join(stage.project, "pwned"))).toBe(false);
});

test("a version question runs nothing of an untrusted folder, and nothing that a trusted one names", async () => {
  verifies("G35");
  const stage = await openStage(
    byPosition([bash("rustc --version"), bash("yarn --version"), bash("python3 --version"), reply("done")]),
  );
  const tools = path.join(path.dirname(stage.project), "tools");
  for (const program of ["rustc", "yarn", "python3"])
    script(path.join(tools, program), `[ -e rust-toolchain.toml ] && sh ./evil.sh; echo ${program}`);
  script(path.join(stage.project, "evil.sh"), "touch pwned");
  writeFileSync(path.join(stage.project, "rust-toolchain.toml"), '[toolchain]\npath = "tc"\n');
  writeFileSync(path.join(stage.project, ".yarnrc.yml"), "yarnPath: ./y.cjs\n");
  writeFileSync(path.join(stage.project, ".python-version"), "../../evil\n");
  const env = { PATH: `${tools}:${process.env["PATH"]}` };
  for (const isTrusted of [false, true]) {
    if (isTrusted) await stage.run(["trust", "add"]);
    await stage.run(["-p", "go"], { env });
    expect(existsSync(path.join(stage.project, "pwned"))).toBe(false);
  }
});

test("a rule about git starts no program by a trailer, and writes nothing above the workspace", async () => {
  const stage = await openStage(
    byPosition([
      bash("git config trailer.x.command 'touch pwned'"),
      bash("git commit --allow-empty -m m --trailer x=1"),
      bash("git apply --unsafe-paths p.patch"),
      reply("done"),
    ]),
  );
  git(stage.project, "init", "-q");
  const above = path.join(path.dirname(stage.project), "above.txt");
  writeFileSync(above, "a\n");
  writeFileSync(
    path.join(stage.project, "p.patch"),
    "--- a/../above.txt\n+++ b/../above.txt\n@@ -1 +1 @@\n-a\n+b\n",
  );
  await stage.run(["trust", "add"]);
  await stage.run(["-p", "go", "--allowed-tools", "Bash(git:*)", ...edits]);
  expect(denied(stage)).toHaveLength(3);
  expect(existsSync(path.join(stage.project, "pwned"))).toBe(false);
});
