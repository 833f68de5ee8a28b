// What cannot be moved, or must not be taken in, is refused with its reason, and nothing has changed on either side.
import {
  copyFileSync,
  existsSync,
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
import { afterAll, describe, expect, test } from "vitest";
import { takeFile } from "../keel/src/app/moves/take-file.ts";
import { encodeHeader } from "../keel/src/store/jsonl/line.ts";
import { verifies } from "./support/verifies.ts";
import {
  filesBelow,
  fromFile,
  git,
  type Machine,
  machine,
  newFolder,
  newRepository,
  newSession,
  owns,
  portsOf,
  put,
  toFile,
  treeHash,
} from "./teleport/stage.ts";
import { change, partOf } from "./teleport/tamper.ts";

type Pair = {
  readonly folder: string;
  readonly here: Machine;
  readonly there: Machine;
  readonly session: string;
  readonly file: string;
};

async function pair(folder = newFolder()): Promise<Pair> {
  const [here, there] = [machine(folder, "here"), machine(folder, "there")];
  newRepository(here.project);
  return { folder, here, there, session: await newSession(here), file: path.join(folder, "s.keel") };
}

const because = (words: RegExp) => ({ code: "not_moved", message: expect.stringMatching(words) });

describe("a session stays where it is", () => {
  test.each<[string, (at: Pair) => void, RegExp]>([
    ["in a folder without git", ({ here }) => git(here.project, "update-ref", "-d", "HEAD"), /no commit yet/],
    [
      "in the middle of a merge",
      ({ here: { project } }) =>
        writeFileSync(path.join(project, ".git/MERGE_HEAD"), `${git(project, "rev-parse", "HEAD")}\n`),
      /a merge is going on/,
    ],
    [
      "with a repository in the repository",
      ({ here: { project } }) => newRepository(path.join(project, "inner")),
      /repositories within it, such as "inner"/,
    ],
    [
      "with conflicts",
      ({ here: { project } }) => {
        const blob = git(project, "rev-parse", "HEAD:a.txt");
        execIndex(project, [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\ta.txt`).join("\n"));
      },
      /conflicts|stock/,
    ],
    [
      "with a damaged log",
      ({ here, session }) => {
        const log = here.home.sessions.location(session) ?? "";
        const text = readFileSync(log, "utf8");
        writeFileSync(log, text.replace('"settings"', '"settinks"'));
      },
      /damaged|does not begin/,
    ],
    [
      "with a key of this machine in its log",
      ({ here, session }) => {
        here.env["ANTHROPIC_API_KEY"] = session;
      },
      /a key of this machine stands in it \(in its log\)/,
    ],
  ])("%s", async (_, spoil, reason) => {
    const at = await pair();
    spoil(at);
    await expect(toFile(at.here, at.session, at.file)).rejects.toMatchObject(because(reason));
    expect(existsSync(at.file) || existsSync(`${at.file}.part`)).toBe(false);
    if (!String(reason).includes("damaged")) expect(await owns(at.here, at.session)).toBe(true);
  });

  test("where there is no git at all, but for --no-files; and a file that is there is not written over", async () => {
    verifies("S4.40");
    const folder = newFolder();
    const [here, there] = [machine(folder, "here"), machine(folder, "there")];
    mkdirSync(here.project);
    const session = await newSession(here);
    const file = path.join(folder, "s.keel");
    await expect(toFile(here, session, file)).rejects.toMatchObject(
      because(/in no git repository.*--no-files/s),
    );
    writeFileSync(file, "mine");
    await expect(toFile(here, session, file, "none")).rejects.toMatchObject({ code: "usage" });
    expect(readFileSync(file, "utf8")).toBe("mine");
    const other = path.join(folder, "t.keel");
    await toFile(here, session, other, "none");
    await expect(fromFile(there, other)).rejects.toMatchObject(because(/there is no folder/));
    mkdirSync(there.project);
    expect(await fromFile(there, other)).toMatchObject({ session, cwd: there.project });
    expect([await owns(here, session), await owns(there, session)]).toEqual([false, true]);
  });
});

const execIndex = (cwd: string, lines: string): void => {
  const list = path.join(cwd, ".git/list");
  writeFileSync(list, `${lines}\n`);
  git(cwd, "-c", `alias.x=!git update-index --index-info < .git/list`, "x");
};

describe("a file that came from anywhere", () => {
  /** Nothing of it changes by being refused. */
  let whole: Pair | undefined;
  afterAll(() => whole && rmSync(whole.folder, { recursive: true, force: true }));
  const packed = async (): Promise<Pair> => {
    const at = await pair(realpathSync(mkdtempSync(path.join(tmpdir(), "keel-teleport-"))));
    await toFile(at.here, at.session, at.file);
    return at;
  };

  test.each<[string, (at: Pair) => void, RegExp]>([
    [
      "is half of one",
      ({ file }) => truncateSync(file, Math.floor(readFileSync(file).length / 2)),
      /ends in the middle|not finished/,
    ],
    [
      "lacks its last line",
      ({ file }) =>
        truncateSync(file, readFileSync(file).lastIndexOf("\n", readFileSync(file).length - 2) + 1),
      /not finished/,
    ],
    [
      "was changed in a byte",
      ({ file }) => {
        const bytes = readFileSync(file);
        bytes[bytes.indexOf("git.bundle") + 400] = 7;
        writeFileSync(file, bytes);
      },
      /sum is wrong|middle|no place/,
    ],
    [
      "has an output that leads outside",
      ({ file }) =>
        change(file, ({ parts }) =>
          parts.push({ name: "beside/output/../../../../evil", bytes: Buffer.from("x") }),
        ),
      /no place in it/,
    ],
    [
      "has an absolute name",
      ({ file }) => change(file, ({ parts }) => parts.push({ name: "/tmp/evil", bytes: Buffer.from("x") })),
      /no place in it/,
    ],
    [
      "has settings of a home",
      ({ file }) =>
        change(file, ({ parts }) => parts.push({ name: "beside/settings.json", bytes: Buffer.from("{}") })),
      /no place in it/,
    ],
    [
      "has a content under another name",
      ({ file }) =>
        change(file, ({ parts }) => parts.push({ name: `blobs/${"a".repeat(64)}`, bytes: Buffer.from("x") })),
      /not what it is called/,
    ],
    [
      "has the log of another session",
      ({ file }) =>
        change(file, ({ head }) => {
          head["session"] = "0198c0de-0000-7000-8000-000000000001";
        }),
      /another session|none of this session|damaged/,
    ],
    [
      "has a log of a newer form",
      ({ file, session }) =>
        change(file, (content) => {
          const log = partOf(content, "log.jsonl");
          const header = encodeHeader({ session, cwd: "/", at: 1 })
            .toString()
            .replace('"v":1', '"v":99')
            .replace(/,"sum":"\w+"/, "");
          log.bytes = Buffer.concat([Buffer.from(header), log.bytes]);
        }),
      /newer Keel/,
    ],
    [
      "is of a newer form",
      ({ file }) =>
        change(file, ({ head }) => {
          head["v"] = 99;
        }),
      /newer Keel/,
    ],
    [
      "says that it left, and its log does not",
      ({ file }) =>
        change(file, (content) => {
          content.tombstone = "";
        }),
      /did not leave where it was/,
    ],
    [
      "has a bundle of git that is none",
      ({ file }) =>
        change(file, (content) => {
          partOf(content, "git.bundle").bytes = Buffer.from("# v2 git bundle\n\n");
        }),
      /bundle of git is none/,
    ],
    [
      "has a folder outside of its repository",
      ({ file }) =>
        change(file, ({ head }) => {
          head["folder"] = { ...(head["folder"] as object), prefix: "../../" };
        }),
      /outside of its repository/,
    ],
  ])("%s: it is refused, and is as it was", async (_, spoil, reason) => {
    whole ??= await packed();
    const { folder, there, session } = whole;
    const file = path.join(folder, "case.keel");
    copyFileSync(whole.file, file);
    spoil({ ...whole, file });
    const before = readFileSync(file);
    await expect(fromFile(there, file)).rejects.toMatchObject({ message: expect.stringMatching(reason) });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(path.join(folder, "evil"))).toBe(false);
    expect(await owns(there, session)).toBe(false);
    expect(existsSync(there.project)).toBe(false);
  });

  test.each([
    ["..", "040000 tree"],
    [".git", "040000 tree"],
    [".GIT", "040000 tree"],
  ])("with files in %s is refused by git, and writes none of them", async (name, kind) => {
    const at = await pair();
    await toFile(at.here, at.session, at.file);
    const { project } = at.here;
    const make = (lines: string): string => {
      put(project, ".git/lines", `${lines}\n`);
      return git(project, "-c", "alias.x=!git mktree < .git/lines", "x");
    };
    const blob = git(project, "rev-parse", "HEAD:a.txt");
    const tree = make(`${kind} ${make(`100644 blob ${blob}\tplanted`)}\t${name}`);
    const index = git(project, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x");
    const work = git(project, "commit-tree", tree, "-p", "HEAD", "-p", index, "-m", "x");
    git(project, "update-ref", `refs/keel/moved/${at.session}`, work);
    git(
      project,
      "bundle",
      "create",
      "--quiet",
      path.join(at.folder, "evil.bundle"),
      `refs/keel/moved/${at.session}`,
    );
    change(at.file, (content) => {
      partOf(content, "git.bundle").bytes = readFileSync(path.join(at.folder, "evil.bundle"));
      content.head["folder"] = { ...(content.head["folder"] as object), tree, work };
    });
    await expect(fromFile(at.there, at.file)).rejects.toMatchObject(
      because(/git read-tree: .*invalid path/s),
    );
    expect(filesBelow(at.there.folder).filter((file) => file.endsWith("planted"))).toEqual([]);
    expect(await owns(at.there, at.session)).toBe(false);
  });

  test("with a link in its files puts nothing behind the link", async () => {
    const at = await pair();
    const outside = path.join(at.folder, "outside");
    mkdirSync(outside);
    symlinkSync(outside, path.join(at.here.project, "out"));
    await toFile(at.here, at.session, at.file);
    newRepository(at.there.project);
    put(at.there.project, "out/mine.txt", "mine\n");
    await expect(fromFile(at.there, at.file)).rejects.toMatchObject(because(/changes of its own: .*out/));
    expect(readFileSync(path.join(at.there.project, "out/mine.txt"), "utf8")).toBe("mine\n");
    expect(existsSync(path.join(outside, "mine.txt"))).toBe(false);
  });
});

describe("a folder with work of its own", () => {
  test("is left alone, whether that is committed or not, and the session can be taken in once it is put away", async () => {
    verifies("S4.40");
    const at = await pair();
    put(at.here.project, "a.txt", "from here\n");
    git(at.here.project, "clone", "-q", at.here.project, at.there.project);
    await toFile(at.here, at.session, at.file);
    put(at.there.project, "a.txt", "theirs\n");
    await expect(fromFile(at.there, at.file)).rejects.toMatchObject(because(/changes of its own: a.txt/));
    expect(readFileSync(path.join(at.there.project, "a.txt"), "utf8")).toBe("theirs\n");
    git(at.there.project, "commit", "-qam", "theirs");
    const theirs = git(at.there.project, "rev-parse", "main");
    expect(await fromFile(at.there, at.file)).toMatchObject({
      notices: [expect.stringContaining("another way")],
    });
    expect(git(at.there.project, "rev-parse", "main")).toBe(theirs);
    expect(treeHash(at.there.project)).toBe(treeHash(at.here.project));
  });

  test("of other commits says which are missing", async () => {
    const at = await pair();
    const origin = path.join(at.folder, "origin");
    git(at.folder, "clone", "-q", "--bare", at.here.project, origin);
    git(at.here.project, "remote", "add", "origin", origin);
    git(at.here.project, "fetch", "-q");
    await toFile(at.here, at.session, at.file);
    mkdirSync(at.there.project);
    await expect(fromFile(at.there, at.file)).rejects.toMatchObject(
      because(/there is no repository.*--whole/),
    );
    git(at.there.project, "init", "-q");
    git(at.there.project, "commit", "-q", "--allow-empty", "-m", "other");
    await expect(fromFile(at.there, at.file)).rejects.toMatchObject(because(/lacks the commit/));
    git(at.there.project, "fetch", "-q", origin, "main:theirs");
    expect(await fromFile(at.there, at.file)).toMatchObject({ session: at.session });
    expect(treeHash(at.there.project)).toBe(treeHash(at.here.project));
  });
});

test("one file that is taken in by two homes comes back from one of them", async () => {
  const at = await pair();
  const third = machine(at.folder, "third");
  await toFile(at.here, at.session, at.file);
  const copy = `${at.file}.copy.keel`;
  copyFileSync(at.file, copy);
  expect(await fromFile(at.there, at.file)).toMatchObject({ state: "new" });
  copyFileSync(copy, at.file);
  expect(await fromFile(at.there, at.file)).toMatchObject({ state: "there" });
  expect(await fromFile(third, copy)).toMatchObject({ state: "new" });
  const [first, second] = [path.join(at.folder, "1.keel"), path.join(at.folder, "2.keel")];
  await toFile(at.there, at.session, first);
  await toFile(third, at.session, second);
  expect(await fromFile(at.here, first)).toMatchObject({ state: "new" });
  await expect(fromFile(at.here, second)).rejects.toMatchObject(because(/is here, and did not go away/));
  await toFile(at.here, at.session, path.join(at.folder, "3.keel"));
  await expect(fromFile(at.here, second)).rejects.toMatchObject(because(/two places/));
  expect(existsSync(second)).toBe(true);
});

test("a disk that is full there gives the file its name back, and the folder what it had", async () => {
  const at = await pair();
  put(at.here.project, "new.txt", "new\n");
  git(at.folder, "clone", "-q", at.here.project, at.there.project);
  await toFile(at.here, at.session, at.file);
  const [bytes, tree, head] = [
    readFileSync(at.file),
    treeHash(at.there.project),
    git(at.there.project, "rev-parse", "HEAD"),
  ];
  const ports = portsOf(at.there);
  const full = async (): Promise<never> => {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };
  const fs = { ...ports.home.logs.fs, rename: full };
  const spoilt = { ...ports, home: { ...ports.home, logs: { ...ports.home.logs, fs } } };
  await expect(takeFile({ file: at.file, folder: at.there.project }, spoilt)).rejects.toMatchObject({
    code: "log_unwritable",
    message: expect.stringContaining("disk is full"),
  });
  expect(readFileSync(at.file).equals(bytes)).toBe(true);
  expect([treeHash(at.there.project), git(at.there.project, "rev-parse", "HEAD")]).toEqual([tree, head]);
  expect(git(at.there.project, "status", "--porcelain")).toBe("");
  expect(await owns(at.there, at.session)).toBe(false);
  expect(await fromFile(at.there, at.file)).toMatchObject({ state: "new" });
  expect(readFileSync(path.join(at.there.project, "new.txt"), "utf8")).toBe("new\n");
});

test("homes whose logs stand in a database give and take as others do", async () => {
  const at = await pair();
  const base = machine(at.folder, "base");
  put(base.folder, ".keel/settings.json", JSON.stringify({ store: "sqlite" }));
  await toFile(at.here, at.session, at.file);
  await fromFile(base, at.file, base.project);
  expect(
    existsSync(path.join(base.folder, ".keel", "logs.db")) ||
      filesBelow(path.join(base.folder, ".keel")).some((name) => /sqlite|\.db/.test(name)),
  ).toBe(true);
  expect((await base.home.sessions.find(at.session))?.cwd).toBe(base.project);
  await toFile(base, at.session, at.file);
  await expect(base.home.sessions.label(at.session, { title: "x" })).rejects.toMatchObject({
    code: "session_moved",
  });
  expect(await fromFile(at.here, at.file)).toMatchObject({ cwd: at.here.project });
  expect(await owns(at.here, at.session)).toBe(true);
  await toFile(at.here, at.session, at.file);
  expect(await fromFile(base, at.file)).toMatchObject({ cwd: base.project });
});
