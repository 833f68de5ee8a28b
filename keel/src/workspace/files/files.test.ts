import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { swapWithLink } from "../../../../test/support/link-swap.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { Files } from "../../ports/workspace.ts";
import { nodeFiles } from "./files.ts";

let base = "";
let project = "";
let outside = "";
let files: Files;
const limits = { maxBytes: 1_000_000 };

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), "keel-files-")));
  project = path.join(base, "project");
  outside = path.join(base, "outside");
  fs.mkdirSync(project);
  fs.mkdirSync(outside);
  files = nodeFiles({ cwd: project, roots: [project] });
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const put = (name: string, content: string): void => {
  fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  fs.writeFileSync(path.join(project, name), content);
};
const get = (name: string): string => fs.readFileSync(path.join(project, name), "utf8");
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const why = async (outcome: Promise<{ ok: boolean; why?: string }>): Promise<string> => {
  const settled = await outcome;
  return settled.ok ? "it worked" : (settled.why ?? "");
};

describe("describing a path", () => {
  test.each([
    ["a plain name", "src/a.ts", "src/a.ts"],
    ["dots that stay inside", "./src/../src/a.ts", "src/a.ts"],
    ["a name that does not exist yet", "src/new/deep.ts", "src/new/deep.ts"],
    ["a variable, which is not expanded", "$HOME/x", "$HOME/x"],
    ["a tilde inside a path", "src/~/x", "src/~/x"],
    ["a newline in a name", "a\nb.txt", "a\nb.txt"],
    ["a leading blank", " lead.txt", " lead.txt"],
    ["a URL, which is only a name", "file:///etc/passwd", "file:/etc/passwd"],
  ])("takes %s as it stands", async (_, given, expected) => {
    put("src/a.ts", "x");
    const facts = await files.describe(given);
    expect(facts).toMatchObject({ path: path.join(project, expected), root: project, links: false });
  });

  test.each(["../x", "src/../../x", "a/b/../../../x", "/etc/hosts", "//server/share/x"])(
    "says that %s lies outside",
    async (given) => {
      expect((await files.describe(given)).root).toBeUndefined();
    },
  );

  test("does not take a common start of names for a common directory", async () => {
    fs.mkdirSync(`${project}-evil`);
    expect((await files.describe(`${project}-evil/x`)).root).toBeUndefined();
    expect((await files.describe(`${project}evil/x`)).root).toBeUndefined();
  });

  test("resolves links before dots, as the kernel does", async () => {
    fs.mkdirSync(path.join(outside, "sub"));
    fs.symlinkSync(path.join(outside, "sub"), path.join(project, "d"));
    expect(await files.describe("d/../x")).toMatchObject({
      path: path.join(outside, "x"),
      root: undefined,
      links: true,
    });
  });

  test("looks at links again after a detour through a name that does not exist", async () => {
    fs.symlinkSync(outside, path.join(project, "d"));
    expect(await files.describe("nope/../d/x")).toMatchObject({
      path: path.join(outside, "x"),
      root: undefined,
    });
  });

  test("names the target of a link that dangles", async () => {
    fs.symlinkSync(path.join(outside, "created.txt"), path.join(project, "l"));
    expect(await files.describe("l")).toMatchObject({
      path: path.join(outside, "created.txt"),
      kind: "missing",
      root: undefined,
      links: true,
    });
  });

  test("knows the root by its real name when it was opened through a link", async () => {
    put("src/a.ts", "x");
    fs.symlinkSync(project, path.join(base, "link"));
    const linked = nodeFiles({ cwd: path.join(base, "link"), roots: [path.join(base, "link")] });
    expect((await linked.describe(path.join(project, "src/a.ts"))).root).toBe(project);
    expect((await linked.describe("src/a.ts")).root).toBe(project);
  });

  test("names the innermost of several roots", async () => {
    const inner = path.join(project, "packages");
    const nested = nodeFiles({ cwd: project, roots: [project, inner] });
    expect((await nested.describe("packages/x")).root).toBe(inner);
  });

  test.each([
    ["an empty path", ""],
    ["a NUL byte", "a\0.txt"],
    ["half a surrogate pair", "\ud800.txt"],
    ["a tilde in front", "~/.ssh/id_rsa"],
    ["another user's home", "~root/x"],
    ["a network path", "\\\\server\\share\\x"],
    ["a name that is too long", "x".repeat(300)],
    ["a magic link", "/proc/self/cwd/src/a.ts"],
    ["a way round into /proc", "/dev/stdin"],
    ["a file used as a directory", "file.txt/child"],
  ])("refuses %s with a sentence, in no root", async (_, given) => {
    verifies("S4.50");
    put("file.txt", "x");
    const facts = await files.describe(given);
    expect(facts.problem).toMatch(/\.$|:/);
    expect(facts.root).toBeUndefined();
    expect(await why(files.read(given, limits))).toBe(facts.problem);
    expect(await why(files.write(given, bytes("y")))).toBe(facts.problem);
    expect(fs.readdirSync(project)).toEqual(["file.txt"]);
  });

  test("ends at a loop of links", async () => {
    fs.symlinkSync("b", path.join(project, "a"));
    fs.symlinkSync("a", path.join(project, "b"));
    expect((await files.describe("a")).problem).toContain("loop of links");
  });
});

describe("a path that ends with a slash", () => {
  test("names a directory and nothing else", async () => {
    put("src/a.ts", "x");
    expect(await files.describe("src/")).toMatchObject({ kind: "directory", root: project });
    for (const given of ["src/a.ts/", "src/a.ts/.", "new/", "src/new/."])
      expect(await files.describe(given), given).toMatchObject({
        root: undefined,
        problem: expect.any(String),
      });
    expect(await why(files.write("new/", bytes("y")))).toContain("names a directory");
    expect(fs.readdirSync(project)).toEqual(["src"]);
  });

  test("or that is longer than any path is refused at once", { timeout: 2_000 }, async () => {
    expect(await files.describe("a/../".repeat(1_000_000))).toMatchObject({
      problem: "The path is too long.",
    });
  });
});

describe("reading a file", () => {
  test("gives its bytes, its real path and a stamp of its content", async () => {
    put("a.txt", "one");
    fs.symlinkSync("a.txt", path.join(project, "l"));
    const first = await files.read("l", limits);
    expect(first).toMatchObject({
      ok: true,
      file: { path: path.join(project, "a.txt"), bytes: bytes("one") },
    });
    put("a.txt", "two");
    const second = await files.read("a.txt", limits);
    put("a.txt", "one");
    const third = await files.read("a.txt", limits);
    // Same size and perhaps the same tick of the clock, yet another stamp; the old content has the old stamp again.
    expect(second.ok && first.ok && second.file.stamp !== first.file.stamp).toBe(true);
    expect(third.ok && first.ok && third.file.stamp === first.file.stamp).toBe(true);
  });

  test("answers at once for pipes, devices, sockets and /proc", { timeout: 5_000 }, async () => {
    verifies("G34", "S4.50");
    execFileSync("mkfifo", [path.join(project, "pipe")]);
    const server = net.createServer().listen(path.join(project, "sock"));
    await new Promise((resolve) => server.once("listening", resolve));
    const special = ["pipe", "sock", "/dev/zero", "/dev/tty", "/dev/stdin", "/proc/self/fd/0", "/proc/kmsg"];
    for (const given of special) {
      expect(await why(files.read(given, limits)), given).toMatch(/not a regular file|\/proc/);
      expect(await why(files.write(given, bytes("x"))), given).toMatch(/not a regular file|\/proc/);
    }
    server.close();
  });

  test("refuses a file that is larger than asked for, without reading it", async () => {
    put("big.bin", "");
    fs.truncateSync(path.join(project, "big.bin"), 5 * 1024 ** 3);
    expect(await why(files.read("big.bin", limits))).toContain("too large: 5368709120 bytes");
  });

  test("names the closest names when there is no such file", async () => {
    put("src/reader.ts", "x");
    put("src/other.md", "x");
    expect(await why(files.read("src/raeder.ts", limits))).toBe(
      `No such file: src/raeder.ts. In ${project}/src there is reader.ts.`,
    );
    expect(await why(files.read("lib/x.ts", limits))).toContain(
      `The directory ${project}/lib does not exist either.`,
    );
  });

  test("says what is in the way when rights are missing", async () => {
    put("locked.txt", "x");
    fs.chmodSync(path.join(project, "locked.txt"), 0o000);
    const outcome = withoutPowers('files.read("locked.txt", { maxBytes: 100 })');
    expect(outcome).toEqual({ ok: false, why: "Permission denied: locked.txt" });
  });
});

describe("what a path passes", () => {
  test("is told: every link on the way, by its own name", async () => {
    put("real/a.txt", "x");
    fs.symlinkSync("real", path.join(project, "one"));
    fs.symlinkSync("one", path.join(project, "two"));
    expect(await files.describe("two/a.txt")).toMatchObject({
      path: path.join(project, "real/a.txt"),
      links: true,
      passed: [path.join(project, "two"), path.join(project, "one")],
    });
    expect(await files.describe("real/a.txt")).not.toHaveProperty("passed");
  });

  test("is told to be Keel's own, wherever that is", async () => {
    verifies("G33");
    const state = path.join(project, "state");
    const own = nodeFiles({ cwd: project, roots: [project], own: [state] });
    expect(await own.describe("state/settings.json")).toMatchObject({ own: true, root: undefined });
    expect(await own.describe("statement")).not.toHaveProperty("own");
  });
});

describe("writing a file", () => {
  test("replaces the content, keeps the mode, and leaves the other name of the inode alone", async () => {
    verifies("G32");
    fs.writeFileSync(path.join(outside, "h.txt"), "abc", { mode: 0o750 });
    fs.linkSync(path.join(outside, "h.txt"), path.join(project, "h.txt"));
    const written = await files.write("h.txt", bytes("new"));
    const read = await files.read("h.txt", limits);
    expect(written.ok && read.ok && written.stamp === read.file.stamp).toBe(true);
    expect(fs.statSync(path.join(project, "h.txt")).mode & 0o777).toBe(0o750);
    expect(fs.readFileSync(path.join(outside, "h.txt"), "utf8")).toBe("abc");
    expect(fs.readdirSync(project)).toEqual(["h.txt"]);
  });

  test("makes missing directories, and takes them back when the write fails", async () => {
    expect(await why(files.write("a/b/c.txt", bytes("x")))).toBe("it worked");
    expect(get("a/b/c.txt")).toBe("x");
    expect(await why(files.write(`d/e/${"n".repeat(300)}`, bytes("x")))).toContain("too long");
    expect(await why(files.write("d/e/f", bytes("x"), { stamp: "1-nothing" }))).toContain(
      "nothing was written",
    );
    expect(fs.readdirSync(project)).toEqual(["a"]);
  });

  test("never follows a link, wherever it leads", async () => {
    verifies("G32");
    put("real.txt", "x");
    fs.symlinkSync("real.txt", path.join(project, "inside"));
    fs.symlinkSync(path.join(outside, "created.txt"), path.join(project, "dangling"));
    fs.symlinkSync(outside, path.join(project, "d"));
    expect(await why(files.write("inside", bytes("y")))).toBe(
      `inside leads through a link to ${project}/real.txt; write to that path itself.`,
    );
    expect(await why(files.write("dangling", bytes("y")))).toContain("leads through a link");
    expect(await why(files.write("d/new.txt", bytes("y")))).toContain("leads through a link");
    expect(fs.readdirSync(outside)).toEqual([]);
    expect(get("real.txt")).toBe("x");
  });

  test("refuses a directory and leaves nothing behind", async () => {
    put("src/a.ts", "x");
    expect(await why(files.write("src", bytes("y")))).toBe("src is a directory, not a file.");
    expect(fs.readdirSync(project)).toEqual(["src"]);
  });

  test("is refused when the file is not the one that the change builds on", async () => {
    put("a.txt", "one");
    const seen = await files.read("a.txt", limits);
    put("a.txt", "two");
    const stamp = seen.ok ? seen.file.stamp : "";
    expect(await why(files.write("a.txt", bytes("three"), { stamp }))).toContain("changed by somebody else");
    expect(await why(files.write("a.txt", bytes("three"), { stamp: null }))).toContain(
      "made by somebody else",
    );
    expect(get("a.txt")).toBe("two");
    expect(fs.readdirSync(project)).toEqual(["a.txt"]);
  });

  test("does not make a read-only file writable behind its owner's back", async () => {
    put("ro.txt", "x");
    fs.chmodSync(path.join(project, "ro.txt"), 0o444);
    const outcome = withoutPowers('files.write("ro.txt", new Uint8Array([65]))');
    expect(outcome).toEqual({ ok: false, why: "ro.txt is read-only." });
    expect(get("ro.txt")).toBe("x");
  });

  test("shows a reader the old content or the new, never a part", async () => {
    const [old, fresh] = ["o".repeat(300_000), "n".repeat(300_000)];
    put("big.txt", old);
    let torn = 0;
    const reading = (async () => {
      for (let times = 0; times < 60; times++) {
        const read = await files.read("big.txt", limits);
        const content = read.ok ? new TextDecoder().decode(read.file.bytes) : read.why;
        if (content !== old && content !== fresh) torn++;
      }
    })();
    for (let times = 0; times < 20; times++) await files.write("big.txt", bytes(times % 2 ? old : fresh));
    await reading;
    expect(torn).toBe(0);
  });

  test("puts nothing outside while a directory is swapped for a link", { timeout: 20_000 }, async () => {
    verifies("G32");
    fs.mkdirSync(path.join(project, "d"));
    const swapping = await swapWithLink(path.join(project, "d"), outside);
    const outcomes = { written: 0, refused: 0 };
    for (let tries = 0; tries < 200; tries++) {
      const outcome = await files.write("d/x.txt", bytes("x"));
      outcomes[outcome.ok ? "written" : "refused"]++;
    }
    await swapping.stop();
    expect(fs.readdirSync(outside)).toEqual([]);
    // Otherwise the race was none.
    expect(outcomes.written).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});

/** Runs a script with `files` in scope in a process that rights apply to: root's powers are laid down first. */
function withoutPowers(script: string): unknown {
  const source = `import { nodeFiles } from ${JSON.stringify(new URL("./files.ts", import.meta.url).href)};
    const files = nodeFiles({ cwd: ${JSON.stringify(project)}, roots: [] });
    process.stdout.write(JSON.stringify(await ${script}));`;
  const node = [process.execPath, "--input-type=module", "-e", source];
  const powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", ...node];
  const [file = "", ...args] = process.getuid?.() === 0 ? powerless : node;
  return JSON.parse(execFileSync(file, args, { encoding: "utf8" }));
}
