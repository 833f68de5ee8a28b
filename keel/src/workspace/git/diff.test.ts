import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { DiffSummary, FileDiff } from "../../protocol/workspace.ts";
import { changeDiff, type DiffChanged, type WantedDiffChange } from "./diff-change.ts";
import { readFileDiff } from "./diff-file.ts";
import { ignoredFolders, openDiffPlace } from "./diff-place.ts";
import { readDiffSummary, readDiffTotals } from "./diff-summary.ts";
import { watchFolder } from "./watch-folder.ts";

let home: string;
let top: string;
const env = { PATH: process.env["PATH"], HOME: tmpdir() };
const signal = new AbortController().signal;

const given = (setting: string): string[] => ["-c", setting];
const git = (...args: string[]): string =>
  execFileSync(
    "git",
    [
      ...["user.name=A", "user.email=a@b", "init.defaultBranch=trunk", "core.fsync=none"].flatMap(given),
      ...args,
    ],
    {
      cwd: top,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
const at = (name: string): string => path.join(top, name);
const put = (name: string, content: string | Buffer): void => {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
};
const content = (name: string): string => readFileSync(at(name), "utf8");
const numbered = (count: number): string =>
  Array.from({ length: count }, (_, line) => `line ${line + 1}\n`).join("");

beforeEach(() => {
  home = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-diff-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  top = path.join(home, "project");
  mkdirSync(top);
  git("init", "--quiet");
  put("a.txt", numbered(40));
  put("b.txt", "b\n");
  put("moved.txt", numbered(20));
  git("add", ".");
  git("commit", "--quiet", "-m", "first");
});

const summary = (more: { base?: string } = {}): Promise<DiffSummary> =>
  readDiffSummary({ cwd: top, env, ...more }, signal);
const change = (wanted: WantedDiffChange): Promise<DiffChanged> =>
  changeDiff({ cwd: top, env, undoFolder: path.join(home, "undo") }, wanted, signal);
async function done(wanted: WantedDiffChange): Promise<string> {
  const changed = await change(wanted);
  if (!changed.ok) throw new Error(changed.why);
  return changed.undo ?? "";
}
async function file(name: string, base?: string): Promise<FileDiff> {
  const place = await openDiffPlace({ cwd: top, env }, signal);
  const look = place.ok ? await readFileDiff(place, name, base) : place;
  if (!look.ok) throw new Error(look.why);
  return look.diff;
}
const shown = ({ files }: DiffSummary): string[] =>
  files.map(
    ({ path: name, change: how, staged, added, removed }) => `${name} ${how} ${staged} +${added} -${removed}`,
  );

test("where lines are long to count, the files are listed before", async () => {
  verifies("S3.15");
  put("a.txt", "other\n");
  put("new.txt", "1\n2\n");
  // A git that counts only when it is let go.
  const bin = path.join(home, "bin");
  mkdirSync(bin);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const gate = path.join(home, "gate");
  const slow = `#!/bin/sh\ncase "$*" in *--numstat*) while [ ! -e '${gate}' ]; do sleep 0.05; done;; esac\nexec ${real} "$@"\n`;
  writeFileSync(path.join(bin, "git"), slow, { mode: 0o755 });
  const listed = Promise.withResolvers<DiffSummary>();
  const slowEnv = { ...env, PATH: `${bin}:${env.PATH}` };

  const reading = readDiffSummary({ cwd: top, env: slowEnv }, signal, listed.resolve);

  const first = await listed.promise;
  expect(first).toMatchObject({ counting: true, added: 0, removed: 0, branch: "trunk" });
  expect(shown(first)).toEqual(["a.txt modified unstaged +0 -0", "new.txt untracked unstaged +0 -0"]);
  writeFileSync(gate, "");
  const whole = await reading;
  expect(shown(whole)).toEqual(["a.txt modified unstaged +1 -40", "new.txt untracked unstaged +2 -0"]);
  expect(whole.counting).toBeUndefined();
  expect(whole.files.map(({ stamp }) => stamp)).toEqual(first.files.map(({ stamp }) => stamp));
});

describe("a summary", () => {
  test("has every changed file, how it changed, what of it is staged and how many lines", async () => {
    verifies("S3.4");
    expect(await summary()).toMatchObject({ branch: "trunk", files: [], added: 0, removed: 0, more: 0 });
    put("a.txt", numbered(40).replace("line 3\n", "third\n"));
    put("staged.txt", "1\n2\n");
    git("add", "staged.txt");
    put("partly.txt", "1\n");
    git("add", "partly.txt");
    put("partly.txt", "1\n2\n");
    git("mv", "moved.txt", "to.txt");
    rmSync(at("b.txt"));
    put("new/one.txt", "x\ny");
    put("picture.bin", Buffer.from([0, 1, 2]));
    const now = await summary();
    expect(shown(now).sort()).toEqual([
      "a.txt modified unstaged +1 -1",
      "b.txt deleted unstaged +0 -1",
      "new/one.txt untracked unstaged +2 -0",
      "partly.txt added partly +2 -0",
      "picture.bin untracked unstaged +0 -0",
      "staged.txt added staged +2 -0",
      "to.txt renamed staged +0 -0",
    ]);
    expect(now.files.find(({ path: name }) => name === "to.txt")).toMatchObject({ from: "moved.txt" });
    expect(now.files.find(({ path: name }) => name === "picture.bin")).toMatchObject({ binary: true });
    expect(now).toMatchObject({ added: 7, removed: 2 });
    expect(await readDiffTotals({ cwd: top, env }, signal)).toMatchObject({ branch: "trunk", removed: 2 });
  });

  test("has another stamp for a file whenever its contents are others", async () => {
    put("a.txt", "one\n");
    const stamps = new Set<string>();
    for (const text of ["two\n", "three\n", "3!!!!\n"]) {
      put("a.txt", text);
      stamps.add((await summary()).files[0]?.stamp ?? "");
    }
    git("add", "a.txt");
    stamps.add((await summary()).files[0]?.stamp ?? "");
    expect(stamps.size).toBe(4);
  });

  test("goes back to a base, and tells what is in commits since", async () => {
    const base = git("rev-parse", "HEAD").trim();
    put("b.txt", "committed\n");
    git("commit", "--quiet", "-am", "second");
    put("a.txt", `${numbered(40)}more\n`);
    expect(shown(await summary({ base })).sort()).toEqual([
      "a.txt modified unstaged +1 -0",
      "b.txt modified committed +1 -1",
    ]);
    const { hunks } = await file("b.txt", base);
    expect(hunks).toMatchObject([{ committed: true, staged: true }]);
  });

  test("names paths as they are, whatever is in them", async () => {
    const names = [
      "a b.txt",
      "tab\there",
      "line\nbreak",
      "ümläut",
      ":(glob)*",
      "-rf",
      '"quoted"',
      "#hash",
      "deep/er/file",
    ];
    for (const name of names) put(name, "x\n");
    expect((await summary()).files.map(({ path: name }) => name).sort()).toEqual([...names].sort());
    for (const name of names) await done({ action: "stage", path: name });
    const staged = await summary();
    expect(staged.files.map(({ path: name, staged: how }) => [name, how]).sort()).toEqual(
      [...names].sort().map((name) => [name, "staged"]),
    );
    await done({ action: "unstage", path: ":(glob)*" });
    expect((await summary()).files.filter(({ staged: how }) => how === "unstaged")).toMatchObject([
      { path: ":(glob)*" },
    ]);
  });
});

describe("where there is nothing to compare", () => {
  test("it is said, and nothing breaks", async () => {
    verifies("S3.4");
    const plain = path.join(home, "plain");
    mkdirSync(plain);
    const problem = async (cwd: string, more = {}) =>
      (await readDiffSummary({ cwd, env: { ...env, ...more } }, signal)).problem;
    expect(await problem(plain)).toBe("This folder is in no git repository.");
    mkdirSync(path.join(plain, ".jj"));
    expect(await problem(plain)).toContain("jj");
    const bare = path.join(home, "bare.git");
    execFileSync("git", ["init", "--quiet", "--bare", bare]);
    expect(await problem(bare)).toBeDefined();
    expect(await problem(top, { PATH: "/nowhere" })).toBe("Git is not installed.");
    expect(await problem(path.join(home, "gone"))).toBe("The folder is not there any more.");
    expect(await change({ action: "stage", path: "a.txt" })).toMatchObject({ ok: false });
  });

  test("a detached head has no branch, and a repository without a commit has all files as new", async () => {
    git("checkout", "--quiet", "--detach");
    put("b.txt", "c\n");
    const detached = await summary();
    expect(detached.branch).toBeUndefined();
    expect(detached.problem).toBeUndefined();
    expect(shown(detached)).toEqual(["b.txt modified unstaged +1 -1"]);
    top = path.join(home, "fresh");
    mkdirSync(top);
    git("init", "--quiet");
    put("one.txt", "1\n");
    git("add", ".");
    put("two.txt", "2\n");
    expect(shown(await summary())).toEqual([
      "one.txt added staged +1 -0",
      "two.txt untracked unstaged +1 -0",
    ]);
    await done({ action: "unstage", path: "one.txt" });
    await done({ action: "stage", path: "two.txt" });
    expect(shown(await summary()).sort()).toEqual([
      "one.txt untracked unstaged +1 -0",
      "two.txt added staged +1 -0",
    ]);
    const back = await done({ action: "revert", path: "two.txt" });
    expect(existsSync(at("two.txt"))).toBe(false);
    await done({ action: "undo", undo: back });
    expect(shown(await summary()).sort()).toEqual([
      "one.txt untracked unstaged +1 -0",
      "two.txt added staged +1 -0",
    ]);
  });
});

describe("the hunks of a file", () => {
  const twoPlaces = numbered(40).replace("line 3\n", "third\n").replace("line 30\n", "thirtieth\n");

  test("have their lines with both numbers, staged and unstaged ones apart", async () => {
    put("a.txt", twoPlaces);
    const { hunks } = await file("a.txt");
    expect(hunks).toHaveLength(2);
    expect(hunks[0]?.lines.slice(2, 5)).toEqual([
      { kind: "removed", before: 3, text: "line 3" },
      { kind: "added", after: 3, text: "third" },
      { kind: "same", before: 4, after: 4, text: "line 4" },
    ]);
    await done({ action: "stage", path: "a.txt", hunk: hunks[1]?.id });
    const after = await file("a.txt");
    expect(after.hunks.map(({ staged }) => staged)).toEqual([true, false]);
    expect(git("diff", "--cached", "--stat")).toContain("1 insertion(+), 1 deletion(-)");
  });

  test("are staged, unstaged and reverted one by one, and a revert is put back", async () => {
    verifies("S3.4");
    put("a.txt", twoPlaces);
    const [first, second] = (await file("a.txt")).hunks;
    await done({ action: "stage", path: "a.txt", hunk: second?.id });
    const staged = (await file("a.txt")).hunks.find((hunk) => hunk.staged);
    await done({ action: "unstage", path: "a.txt", hunk: staged?.id });
    expect(git("diff", "--cached", "--stat")).toBe("");
    const back = await done({ action: "revert", path: "a.txt", hunk: first?.id });
    expect(content("a.txt")).toBe(numbered(40).replace("line 30\n", "thirtieth\n"));
    expect(await change({ action: "revert", path: "a.txt", hunk: first?.id })).toMatchObject({ ok: false });
    await done({ action: "undo", undo: back });
    expect(content("a.txt")).toBe(twoPlaces);
    expect(await change({ action: "undo", undo: back })).toMatchObject({ ok: false });
  });

  test("that are staged are reverted in both places, or in none", async () => {
    put("a.txt", twoPlaces);
    git("add", "a.txt");
    const [first, second] = (await file("a.txt")).hunks;
    const back = await done({ action: "revert", path: "a.txt", hunk: first?.id });
    expect(content("a.txt")).toBe(numbered(40).replace("line 30\n", "thirtieth\n"));
    expect(git("diff", "--stat")).toBe("");
    await done({ action: "undo", undo: back });
    expect(content("a.txt")).toBe(twoPlaces);
    expect(git("diff", "--stat")).toBe("");
    put("a.txt", twoPlaces.replace("thirtieth", "30th"));
    expect(await change({ action: "revert", path: "a.txt", hunk: second?.id })).toMatchObject({ ok: false });
    expect(git("diff", "--cached", "--stat")).toContain("2 insertions(+), 2 deletions(-)");
    expect(content("a.txt")).toBe(twoPlaces.replace("thirtieth", "30th"));
  });

  test("that have changed since they were shown are refused, and so is what was changed before an undo", async () => {
    verifies("S3.4");
    put("a.txt", twoPlaces);
    const [first] = (await file("a.txt")).hunks;
    put("a.txt", twoPlaces.replace("third", "3rd"));
    for (const action of ["stage", "revert"] as const)
      expect(await change({ action, path: "a.txt", hunk: first?.id })).toEqual({
        ok: false,
        why: "This place of the file has changed since it was shown. Look at it again.",
      });
    const back = await done({ action: "revert", path: "a.txt" });
    put("a.txt", "mine\n");
    expect(await change({ action: "undo", undo: back })).toMatchObject({ ok: false });
    expect(content("a.txt")).toBe("mine\n");
  });

  test("keep every byte, whatever it is", async () => {
    const odd = Buffer.concat([Buffer.from("caf\xe9 latin\r\n", "latin1"), Buffer.from("漢字\r\nno end")]);
    put("odd.txt", Buffer.concat([Buffer.from("first\n"), odd]));
    git("add", "odd.txt");
    git("commit", "--quiet", "-m", "odd");
    const changed = Buffer.concat([Buffer.from("FIRST\n"), odd, Buffer.from("\xff", "latin1")]);
    put("odd.txt", changed);
    const [hunk] = (await file("odd.txt")).hunks;
    await done({ action: "stage", path: "odd.txt", hunk: hunk?.id });
    expect(execFileSync("git", ["cat-file", "blob", ":odd.txt"], { cwd: top })).toEqual(changed);
    const back = await done({ action: "revert", path: "odd.txt" });
    expect(readFileSync(at("odd.txt"))).toEqual(Buffer.concat([Buffer.from("first\n"), odd]));
    await done({ action: "undo", undo: back });
    expect(readFileSync(at("odd.txt"))).toEqual(changed);
  });
});

describe("whole files", () => {
  test("are reverted to the last commit, and put back as they were with their modes", async () => {
    put("run.sh", "#!/bin/sh\n");
    chmodSync(at("run.sh"), 0o755);
    symlinkSync("a.txt", at("link"));
    put("a.txt", "changed\n");
    git("add", "a.txt");
    put("a.txt", "changed further\n");
    git("mv", "moved.txt", "to.txt");
    rmSync(at("b.txt"));
    const before = shown(await summary()).sort();
    const undos: string[] = [];
    for (const { path: name } of (await summary()).files)
      undos.push(await done({ action: "revert", path: name }));
    expect((await summary()).files).toEqual([]);
    expect(git("status", "--porcelain")).toBe("");
    for (const undo of undos.reverse()) await done({ action: "undo", undo });
    expect(shown(await summary()).sort()).toEqual(before);
    expect(content("a.txt")).toBe("changed further\n");
    expect(lstatSync(at("run.sh")).mode & 0o777).toBe(0o755);
    expect(lstatSync(at("link")).isSymbolicLink()).toBe(true);
  });

  test("outside of the repository, or unchanged, are refused", async () => {
    writeFileSync(path.join(home, "outside.txt"), "x");
    for (const name of ["../outside.txt", path.join(home, "outside.txt"), ".git/config", "", "a.txt", "new/"])
      for (const action of ["stage", "revert"] as const)
        expect(await change({ action, path: name }), name).toMatchObject({ ok: false });
    symlinkSync(home, at("way-out"));
    expect(await change({ action: "revert", path: "way-out/outside.txt" })).toMatchObject({ ok: false });
    expect(existsSync(path.join(home, "outside.txt"))).toBe(true);
  });
});

/** Leaves a trace when anything runs it. */
function planted(): string {
  const program = path.join(home, "planted.sh");
  writeFileSync(program, `#!/bin/sh\necho ran >> "${path.join(home, "trace")}"\ncat\n`, { mode: 0o755 });
  return program;
}
const attributes = (): void => put(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n");
const plants: Readonly<Record<string, () => void>> = {
  "a filter": () => {
    for (const name of ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process"])
      git("config", name, planted());
    git("config", "filter.evil.required", "true");
    attributes();
  },
  "programs that show differences": () => {
    for (const name of ["diff.external", "diff.evil.textconv", "diff.evil.command"])
      git("config", name, planted());
    attributes();
  },
  "a monitor of files, a pager, an editor": () => {
    for (const name of ["core.fsmonitor", "core.pager", "core.editor", "interactive.diffFilter"])
      git("config", name, planted());
  },
  hooks: () => {
    for (const name of ["post-index-change", "pre-commit", "post-checkout", "reference-transaction"]) {
      mkdirSync(at(".git/hooks"), { recursive: true });
      symlinkSync(planted(), at(`.git/hooks/${name}`));
    }
    git("config", "core.hooksPath", ".git/hooks");
  },
  "settings in another file": () => {
    writeFileSync(
      path.join(home, "more"),
      `[core]\n\tfsmonitor = ${planted()}\n[filter "evil"]\n\tclean = ${planted()}\n`,
    );
    git("config", "include.path", path.join(home, "more"));
    attributes();
  },
};

describe("a repository that nobody has to trust", () => {
  test.each(Object.entries(plants))("runs nothing of what it names: %s", async (_, plant) => {
    verifies("S3.4", "G46");
    plant();
    put("a.txt", numbered(40).replace("line 3\n", "third\n"));
    put("plain.md", "x\n");
    rmSync(path.join(home, "trace"), { force: true });
    const { files } = await summary();
    expect(files.map(({ path: name }) => name)).toContain("a.txt");
    await readDiffTotals({ cwd: top, env }, signal);
    const { hunks } = await file("a.txt");
    for (const action of ["stage", "unstage", "revert"] as const) {
      await change({ action, path: "a.txt", hunk: hunks[0]?.id });
      await change({ action, path: "a.txt" });
      await change({ action, path: "plain.md" });
    }
    expect(existsSync(path.join(home, "trace"))).toBe(false);
  });

  test("does not lead into another folder", async () => {
    const elsewhere = path.join(home, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, "private.txt"), "x\n");
    git("config", "core.worktree", elsewhere);
    expect((await summary()).problem).toContain("name another folder");
    git("config", "core.worktree", home);
    expect((await summary()).problem).toContain("name another folder");
  });

  test("leaves a file alone that passes through a program on its way into git", async () => {
    plants["a filter"]?.();
    put("a.txt", "changed\n");
    expect(await change({ action: "stage", path: "a.txt" })).toMatchObject({ ok: false });
    expect(await change({ action: "revert", path: "a.txt" })).toMatchObject({ ok: false });
    expect(content("a.txt")).toBe("changed\n");
  });
});

describe("much at once", () => {
  test("is counted, and listed within bounds; a file of 50 MB is not read", async () => {
    verifies("S3.4");
    for (let folder = 0; folder < 8; folder++) {
      mkdirSync(at(`d${folder}`));
      for (let one = 0; one < 1_000; one++) writeFileSync(at(`d${folder}/f${one}.txt`), "x\n");
    }
    put("big.txt", "line\n");
    const kept = [0, 1, 2, 3, 4, 5].map((folder) => `d${folder}`);
    git("add", "big.txt", ...kept);
    git("commit", "--quiet", "-m", "big");
    for (const folder of kept)
      for (let one = 0; one < 1_000; one++) writeFileSync(at(`${folder}/f${one}.txt`), "x\ny\n");
    writeFileSync(at("big.txt"), Buffer.alloc(50 * 1024 * 1024, "changed line\n"));
    writeFileSync(at("sparse.new"), "");
    truncateSync(at("sparse.new"), 50 * 1024 * 1024);
    const now = await summary();
    expect(now.files.length + now.more).toBe(8_002);
    expect(now.files).toHaveLength(5_000);
    // Also lines of files that are not listed.
    expect(now.added).toBe(6_000 + (now.files.find(({ path: name }) => name === "big.txt")?.added ?? 0));
    expect(JSON.stringify(now).length).toBeLessThan(2_000_000);
    for (const name of ["big.txt", "sparse.new"]) {
      const diff = await file(name);
      expect(diff).toMatchObject({ hunks: [], binary: true, omitted: expect.stringContaining("50.0 MiB") });
    }
  });

  test("of one file is cut, with words", async () => {
    put("a.txt", numbered(60_000));
    const diff = await file("a.txt");
    expect(diff.omitted).toContain("too large to be shown whole");
    put("fresh.txt", numbered(60_000));
    expect((await file("fresh.txt")).omitted).toBe("55000 more lines are left out.");
  });
});

describe("a watched folder", () => {
  test("tells of changes in it and in git, also in new folders, and not of what git ignores", async () => {
    verifies("S3.4");
    put(".gitignore", "ignored/\n");
    put("ignored/x.txt", "x");
    put("deep/er/y.txt", "y");
    const place = await openDiffPlace({ cwd: top, env }, signal);
    if (!place.ok) throw new Error(place.why);
    let told = 0;
    const watch = await watchFolder({ ...place, ignored: await ignoredFolders(place) }, async () => {
      told += 1;
    });
    onTestFinished(() => watch.close());
    const tells = async (work: () => void): Promise<boolean> => {
      // Until nothing of what was before is told any more.
      for (let seen = -1; seen !== told; ) {
        seen = told;
        await new Promise((resolve) => setTimeout(resolve, 700));
      }
      const before = told;
      work();
      for (let tries = 0; tries < 150 && told === before; tries++)
        await new Promise((resolve) => setTimeout(resolve, 10));
      return told > before;
    };
    expect(watch.unwatched).toBe(0);
    expect(await tells(() => put("deep/er/y.txt", "z"))).toBe(true);
    expect(await tells(() => put("brand/new/z.txt", "z"))).toBe(true);
    expect(await tells(() => put("brand/new/z.txt", "zz"))).toBe(true);
    expect(await tells(() => git("add", "deep"))).toBe(true);
    expect(await tells(() => put("ignored/x.txt", "xx"))).toBe(false);
    // A look at it is no change of it.
    expect(await tells(() => void summary())).toBe(false);
  });
});
