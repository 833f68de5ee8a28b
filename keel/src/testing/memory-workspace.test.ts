import { describe, expect, test } from "vitest";
import type { Shell } from "../ports/shell.ts";
import { fakeClock } from "./fake-clock.ts";
import { memoryWorkspace } from "./memory-workspace.ts";

const limits = { maxBytes: 1000 };
const bytes = (text: string) => new TextEncoder().encode(text);
const never = new AbortController().signal;

const command = (text: string, more: object = {}) => ({
  text,
  cwd: "/project",
  timeoutMs: 1000,
  maxBytes: 1000,
  ...more,
});

async function run(shell: Shell, given: ReturnType<typeof command>, signal = never) {
  const stream = shell.run(given, signal);
  const shown: string[] = [];
  for (;;) {
    const step = await stream.next();
    if (step.done) return { shown, ...step.value };
    shown.push(step.value.text);
  }
}

describe("files in memory", () => {
  const workspace = () =>
    memoryWorkspace({ files: { "src/a.txt": "hello", "/etc/hosts": "x", b: bytes("raw") } });

  test("are described as what they are and where they lie", async () => {
    const { files } = workspace();
    const facts = { links: false, exists: true };
    expect(await files.describe("src/a.txt")).toEqual({
      ...facts,
      path: "/project/src/a.txt",
      kind: "file",
      root: "/project",
    });
    expect(await files.describe("src")).toMatchObject({ ...facts, kind: "directory", root: "/project" });
    expect(await files.describe("/project")).toMatchObject({ kind: "directory" });
    expect(await files.describe("/etc/hosts")).toMatchObject({ ...facts, kind: "file", root: undefined });
    expect(await files.describe("../project2/c")).toMatchObject({
      path: "/project2/c",
      kind: "missing",
      exists: false,
      root: undefined,
    });
    expect(await files.describe("a\0b")).toMatchObject({ root: undefined, problem: expect.any(String) });
  });

  test("are read with a stamp of their content", async () => {
    const { files } = workspace();
    const before = await files.read("src/a.txt", limits);
    files.put("src/a.txt", "changed");
    const changed = await files.read("src/a.txt", limits);
    files.put("src/a.txt", "hello");
    const again = await files.read("src/a.txt", limits);
    if (!before.ok || !changed.ok || !again.ok) throw new Error("a file is missing");
    expect(new TextDecoder().decode(before.file.bytes)).toBe("hello");
    expect(before.file.path).toBe("/project/src/a.txt");
    expect(changed.file.stamp).not.toBe(before.file.stamp);
    expect(again.file.stamp).toBe(before.file.stamp);
  });

  test("are refused with a sentence when they cannot be read", async () => {
    const { files } = workspace();
    expect(await files.read("nope", limits)).toEqual({ ok: false, why: "No such file: /project/nope" });
    expect(await files.read("src", limits)).toEqual({ ok: false, why: "/project/src is a directory." });
    expect(await files.read("src/a.txt", { maxBytes: 4 })).toMatchObject({ ok: false });
  });

  test("are written, and only that is an effect", async () => {
    const place = workspace();
    const written = await place.files.write("/project/new/c.txt", bytes("c"));
    await place.files.read("src/a.txt", limits);
    place.files.put("d", "by somebody else");
    expect(written).toEqual({ ok: true, path: "/project/new/c.txt", stamp: place.files.stamp("new/c.txt") });
    expect(place.effects).toEqual(["write /project/new/c.txt"]);
    expect(place.files.all()).toEqual({
      "/etc/hosts": "x",
      "/project/b": "raw",
      "/project/d": "by somebody else",
      "/project/new/c.txt": "c",
      "/project/src/a.txt": "hello",
    });
  });

  test("are not written over a change, a directory or through a file", async () => {
    const place = workspace();
    const { files } = place;
    const basis = { stamp: files.stamp("src/a.txt") };
    files.put("src/a.txt", "changed by hand");
    expect(await files.write("src/a.txt", bytes("x"), basis)).toMatchObject({ ok: false });
    expect(await files.write("src/a.txt", bytes("x"), { stamp: null })).toMatchObject({ ok: false });
    expect(await files.write("src", bytes("x"))).toMatchObject({ ok: false });
    expect(await files.write("src/a.txt/deeper", bytes("x"))).toMatchObject({ ok: false });
    expect(place.effects).toEqual([]);
    expect(await files.write("src/a.txt", bytes("x"), { stamp: files.stamp("src/a.txt") })).toMatchObject({
      ok: true,
    });
    files.delete("src/a.txt");
    expect(await files.write("src/a.txt", bytes("y"), { stamp: null })).toMatchObject({ ok: true });
  });

  test("are copies: what the caller does to its bytes later changes nothing", async () => {
    const { files } = workspace();
    const mine = bytes("abc");
    await files.write("c", mine);
    mine[0] = 0;
    const read = await files.read("c", limits);
    if (read.ok) read.file.bytes[1] = 0;
    expect(files.text("c")).toBe("abc");
  });
});

describe("the scripted shell", () => {
  test("answers what it knows, leaves the files that it says, and notes that it ran", async () => {
    const place = memoryWorkspace({
      shell: { "npm test": { output: "1 failed\n", exitCode: 1, writes: { "report.txt": "bad" } } },
    });
    expect(await run(place.shell, command("npm test"))).toEqual({
      shown: ["1 failed\n"],
      output: "1 failed\n",
      exitCode: 1,
      signal: null,
      timedOut: false,
      interrupted: false,
      omittedBytes: 0,
    });
    expect(place.files.text("report.txt")).toBe("bad");
    expect(place.effects).toEqual(["run npm test"]);
  });

  test("does not know other commands, nor names that every object has", async () => {
    const { shell } = memoryWorkspace();
    for (const text of ["make it so", "constructor"])
      expect(await run(shell, command(text))).toMatchObject({
        exitCode: 127,
        output: expect.stringContaining("not found"),
      });
  });

  test("may be a function that works on the files", async () => {
    const place = memoryWorkspace({
      shell: ({ text }, files) => {
        if (text !== "wc") return undefined;
        files.put("seen", "yes");
        return { output: "3" };
      },
    });
    expect(await run(place.shell, command("wc"))).toMatchObject({ output: "3", exitCode: 0 });
    expect(await run(place.shell, command("other"))).toMatchObject({ exitCode: 127 });
    expect(place.files.text("seen")).toBe("yes");
  });

  test("keeps head and tail of a long output and counts the rest", async () => {
    const { shell } = memoryWorkspace({ shell: { long: { output: `begin${"x".repeat(500)}end` } } });
    const outcome = await run(shell, command("long", { maxBytes: 100 }));
    expect(outcome.output).toMatch(/^beginx+\n…\nx+end$/);
    expect(outcome.omittedBytes).toBe(408);
  });

  test("takes its time on the clock, and is ended at its limit", async () => {
    const clock = fakeClock();
    const place = memoryWorkspace({
      clock,
      shell: {
        slow: { runsMs: 500, writes: { done: "1" } },
        stuck: { runsMs: Number.POSITIVE_INFINITY, writes: { done: "2" } },
      },
    });
    const slow = run(place.shell, command("slow"));
    await clock.advance(499);
    expect(place.files.text("done")).toBeUndefined();
    await clock.advance(1);
    expect(await slow).toMatchObject({ exitCode: 0, timedOut: false });
    const stuck = run(place.shell, command("stuck"));
    await clock.advance(1000);
    expect(await stuck).toMatchObject({
      exitCode: null,
      signal: "SIGKILL",
      timedOut: true,
      interrupted: false,
    });
    expect(place.files.text("done")).toBe("1");
  });

  test("is interrupted by its signal, and does not start after it", async () => {
    const clock = fakeClock();
    const place = memoryWorkspace({ clock, shell: { slow: { output: "so far", runsMs: 500 } } });
    const stop = new AbortController();
    const running = run(place.shell, command("slow"), stop.signal);
    await clock.advance(1);
    stop.abort();
    expect(await running).toMatchObject({ interrupted: true, exitCode: null, output: "so far" });
    expect(await run(place.shell, command("slow"), stop.signal)).toMatchObject({
      interrupted: true,
      output: "",
    });
    expect(place.effects).toEqual(["run slow"]);
  });
});
