// Paths: where a tool may go, where it must ask, and where nothing may happen at all. Every row is a whole session.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countOf } from "../support/budget.ts";
import { swapWithLink } from "../support/link-swap.ts";
import { verifies } from "../support/verifies.ts";
import { doStep, makeWorld, type Row, readPathRows, type World } from "./path-rows.ts";
import { type Ran, type RunWish, runCall } from "./path-run.ts";

const rows = readPathRows();

let world: World | undefined;
beforeEach(() => {
  world = undefined;
});
afterEach(() => world?.close());

test("the path corpus is here", () => {
  expect(rows.length).toBeGreaterThanOrEqual(80);
});

describe("a path", () => {
  test.each(rows)("$id $tool, $class, is $expect: $why", { timeout: 20_000 }, async (row) => {
    verifies("G32", "G33", "G34");
    const made = await makeWorld(row);
    world = made;
    const before = contents(row, made);
    if (row.race) await expectNoEscape(row, made);
    else await expectations(row, made);
    for (const [file, content] of before) expect(fs.readFileSync(file, "utf8"), file).toBe(content);
    for (const name of row.mustNotExist ?? []) expect(fs.existsSync(made.fill(name)), name).toBe(false);
    for (const name of row.stillSymlink ?? [])
      expect(fs.lstatSync(made.fill(name)).isSymbolicLink()).toBe(true);
  });
});

function expectations(row: Row, made: World): Promise<void> {
  const known: Readonly<Record<string, (row: Row, made: World) => Promise<void>>> = {
    inside: expectInside,
    outside: expectOutside,
    protected: expectProtected,
    literal: expectLiteral,
    error: expectError,
    bounded: expectBounded,
    "no-follow": expectNoFollow,
    denied: expectDenied,
    "denied-part": expectDeniedPart,
  };
  const check = Object.hasOwn(known, row.expect) ? known[row.expect] : undefined;
  if (!check) throw new Error(`No such expectation is known: ${row.expect}`);
  return check(row, made);
}

/** Happens without a question. */
async function expectInside(row: Row, made: World): Promise<void> {
  const ran = await run(row, made, { answer: "deny" });
  expect(ran).toMatchObject({ asked: [], failed: false });
  if (row.tool === "Write") expect(fs.readFileSync(target(row, made), "utf8")).toBe(written);
  if (row.tool === "Edit") expect(fs.readFileSync(target(row, made), "utf8")).toBe(changed);
  expectKept(row, ran);
}

/** Does not happen unless somebody says so; and where it can happen at all, somebody is asked about the real place. */
async function expectOutside(row: Row, made: World): Promise<void> {
  const listed = listing(made.base);
  for (const mode of ["default", "acceptEdits"] as const) {
    const ran = await run(row, made, { mode, answer: "deny" });
    expect(ran).toMatchObject({ failed: true, refused: true });
    for (const { claims } of ran.asked)
      for (const claim of claims) expect(isInside(made, claim.replace(/^\w+ /, ""))).toBe(false);
    expectKept(row, ran);
  }
  expect(listing(made.base)).toEqual(listed);
}

/** Is asked in every mode that asks, refused where nobody is asked, and done when somebody says yes. */
async function expectProtected(row: Row, made: World): Promise<void> {
  const listed = listing(made.base);
  for (const mode of ["default", "acceptEdits", "bypassPermissions", "dontAsk", "plan"] as const) {
    const ran = await run(row, made, { mode, answer: "deny" });
    expect(ran).toMatchObject({ failed: true, refused: true });
    const isAsked = mode !== "dontAsk" && mode !== "plan";
    expect(ran.asked.map(({ reason }) => reason)).toEqual(
      isAsked ? [expect.stringContaining("protected")] : [],
    );
  }
  expect(listing(made.base)).toEqual(listed);
  expect(await run(row, made, { answer: "allow" })).toMatchObject({ failed: false });
  expect(fs.readFileSync(target(row, made), "utf8")).toBe(written);
}

/** A rule blocks it, in every mode and without a question. */
async function expectDenied(row: Row, made: World): Promise<void> {
  for (const mode of ["default", "acceptEdits", "bypassPermissions", "dontAsk", "plan"] as const) {
    const ran = await run(row, made, { mode, answer: "allow" });
    expect(ran).toMatchObject({
      asked: [],
      failed: true,
      refused: true,
      said: expect.stringContaining("rule"),
    });
  }
}

/** It happens, without the part that a rule denies. */
async function expectDeniedPart(row: Row, made: World): Promise<void> {
  const ran = await run(row, made, { answer: "deny" });
  expect(ran).toMatchObject({ asked: [], failed: false });
  for (const rule of row.rules) expect(ran.said).not.toContain(rule.replace(/^.*\((?:\.\/)?(.*)\)$/, "$1"));
  expectKept(row, ran);
}

/** The text is a name and nothing else. */
async function expectLiteral(row: Row, made: World): Promise<void> {
  const ran = await run(row, made, { answer: "deny" });
  expect(ran.asked).toEqual([]);
  if (row.tool === "Read") {
    expect(ran).toMatchObject({ failed: true, said: expect.stringContaining("No such file") });
    expect(ran.said).toContain(path.join(made.project, row.path));
  } else {
    expect(ran.failed).toBe(false);
    expect(fs.readdirSync(made.project)).toEqual([row.path]);
  }
}

/** Said clearly and soon, without a question, and nothing is made. */
async function expectError(row: Row, made: World): Promise<void> {
  const listed = listing(made.base);
  const ran = row.needsNonRoot ? asOther(row, made) : await run(row, made, { answer: "allow" });
  expect(ran).toMatchObject({ asked: [], failed: true });
  expect(ran.said.length).toBeGreaterThan(10);
  expect(ran.said).not.toMatch(/\n\s+at /);
  expect(ran.ms).toBeLessThan(row.maxMs ?? 5_000);
  expect(listing(made.base)).toEqual(listed);
}

async function expectBounded(row: Row, made: World): Promise<void> {
  const before = process.memoryUsage.rss();
  const ran = await run(row, made, { answer: "allow" });
  expect(ran.ms).toBeLessThan(row.maxMs ?? 5_000);
  expect(process.memoryUsage.rss() - before).toBeLessThan((row.maxRssMb ?? 256) * 2 ** 20);
  expect(ran.said.length).toBeLessThan(150_000);
  if (row.class === "binary")
    expect(ran).toMatchObject({ failed: true, said: expect.stringContaining("binary") });
}

async function expectNoFollow(row: Row, made: World): Promise<void> {
  const ran = await run(row, made, { answer: "deny" });
  expect(ran).toMatchObject({ asked: [], failed: false });
  expectKept(row, ran);
}

async function expectNoEscape(row: Row, made: World): Promise<void> {
  const { race } = row;
  if (!race) return;
  verifies("G32");
  const swapping = await swapWithLink(made.fill(race.swap), made.fill(race.with));
  // The many tries are in test/e2e/link-race.test.ts; here a row is a session each time.
  const tries = Math.min(race.tries, Math.ceil(countOf("link-race") / 20));
  const ends = { done: 0, refused: 0 };
  for (let done = 0; done < tries; done++) {
    // A new name each time: one that is there already would be refused for having not been read.
    const fresh = { ...row, path: row.path.replace(/(\.\w+)?$/, `-${done}$1`) };
    const ran = await run(fresh, made, { answer: "deny" });
    ends[ran.failed ? "refused" : "done"]++;
  }
  await swapping.stop();
  expect(ends.done + ends.refused).toBe(tries);
  expect(fs.readdirSync(made.fill(race.with))).toEqual([]);
}

function expectKept(row: Row, ran: Ran): void {
  for (const name of [...(row.mustNotList ?? []), ...(row.mustNotReturn ?? [])])
    expect(ran.said).not.toContain(name);
}

const written = "written by the row";
const changed = "changed by the row";

function run(
  row: Row,
  made: World,
  { mode = "acceptEdits", answer }: Pick<RunWish, "answer"> & { mode?: RunWish["mode"] },
): Promise<Ran> {
  return runCall(wishOf(row, made, { mode, answer }));
}

function wishOf(row: Row, made: World, { mode, answer }: Pick<RunWish, "mode" | "answer">): RunWish {
  const cwd = row.cwd === undefined ? made.project : made.fill(row.cwd);
  // What is an expansion for a shell or a glob must not be one for us: only the corpus's own places are filled in.
  const given = made.fill(row.path);
  const isChange = row.tool === "Edit" || (row.tool === "Write" && isFile(path.resolve(cwd, given)));
  return {
    cwd,
    roots: [cwd, ...row.extraDirs.map(made.fill)],
    mode,
    answer,
    call: { tool: row.tool, input: inputOf(row, given) },
    rules: row.rules,
    ...(isChange ? { readFirst: given } : {}),
    between: async () => {
      for (const step of row.between ?? []) await doStep(step, made);
    },
  };
}

function inputOf(row: Row, given: string): Record<string, string> {
  const old = row.setup.find(({ content }) => content !== undefined)?.content ?? "x";
  const inputs: Readonly<Record<string, Record<string, string>>> = {
    Read: { file_path: given },
    Write: { file_path: given, content: written },
    Edit: { file_path: given, old_string: old, new_string: changed },
    Glob: { pattern: given },
    Grep: { pattern: row.pattern ?? "x", path: given },
  };
  const input = Object.hasOwn(inputs, row.tool) ? inputs[row.tool] : undefined;
  if (!input) throw new Error(`No such tool is known: ${row.tool}`);
  return input;
}

/** Root may do everything: the row runs as somebody else, in a process of its own. */
function asOther(row: Row, made: World): Ran {
  const asRoot = process.getuid?.() === 0;
  if (asRoot) execFileSync("chown", ["-R", "65534:65534", made.base]);
  const { between: _, ...wish } = wishOf(row, made, { mode: "acceptEdits", answer: "allow" });
  const child = path.join(import.meta.dirname, "path-as-other.ts");
  const output = execFileSync(process.execPath, [child, JSON.stringify(wish)], {
    ...(asRoot ? { uid: 65_534, gid: 65_534 } : {}),
    encoding: "utf8",
    cwd: "/",
  });
  return JSON.parse(output);
}

const target = (row: Row, made: World): string => path.resolve(made.project, made.fill(row.path));

const isInside = (made: World, file: string): boolean =>
  file === made.project || file.startsWith(`${made.project}/`);

function isFile(place: string): boolean {
  try {
    return fs.statSync(place).isFile();
  } catch {
    return false;
  }
}

/** Everything that is there, by name. */
const listing = (base: string): string[] => fs.globSync("**", { cwd: base }).sort();

const contents = (row: Row, made: World): [string, string][] =>
  (row.unchanged ?? []).map((name) => [made.fill(name), fs.readFileSync(made.fill(name), "utf8")]);
