// The launcher: which Node it becomes, and what it says when there is none that fits.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { keel, launcher } from "./command.ts";

const manifest: { version: string } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, "../../keel/package.json"), "utf8"),
);
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "keel launcher-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the command tells the version of its package", async () => {
  expect(await keel(["--version"])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

test("it starts through links, from any directory", async () => {
  mkdirSync(path.join(folder, "bin"));
  symlinkSync(launcher, path.join(folder, "first"));
  symlinkSync("../first", path.join(folder, "bin/keel"));
  const ended = await keel(["--version"], { launcher: path.join(folder, "bin/keel"), cwd: folder });
  expect(ended.stdout).toBe(`${manifest.version}\n`);
});

test("it starts through the link that npm makes", async () => {
  const linked = path.resolve(import.meta.dirname, "../../node_modules/.bin/keel");
  const ended = await keel(["--version"], { launcher: linked, cwd: folder });
  expect(ended.stdout).toBe(`${manifest.version}\n`);
});

test("it becomes the Node that KEEL_NODE names, and passes every argument on as it is", async () => {
  const fake = program("fake-node", 'for word in "$@"; do printf "<%s>" "$word"; done; echo " $$"');
  const ended = await keel(["-p", "two words", "", "$HOME *"], { env: { KEEL_NODE: fake } });
  expect(ended.stdout).toContain("bin/start.cjs><-p><two words><><$HOME *>");
});

test("it leaves no second process behind: the pid that was started is the Node", async () => {
  const fake = program("pid-node", "echo $$");
  const started = execFileSync("/bin/sh", ["-c", 'echo $$; exec "$0"', launcher], {
    env: { KEEL_NODE: fake, PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  const [outer, inner] = started.trim().split("\n");
  expect(inner).toBe(outer);
});

test("a Node that is too old is refused with both versions and the set-up exit code", async () => {
  verifies("S4.34");
  const shim = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.20.2'}})";
  const old = program("old-node", `exec '${process.execPath}' --import "${shim}" "$@"`);
  const ended = await keel(["--version"], { env: { KEEL_NODE: old } });
  expect(ended).toMatchObject({ code: 78, stdout: "" });
  expect(ended.stderr).toContain("needs Node 24 or newer, but found 20.20.2");
});

test("the library says the same of a Node that is too old, in one line", () => {
  verifies("S4.34");
  const shim = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.20.2'}})";
  const library = path.resolve(import.meta.dirname, "../../keel/dist/index.js");
  const program = `await import(${JSON.stringify(library)}).catch((thrown) => console.log(thrown.stack))`;
  const words = ["--import", shim, "--input-type=module", "-e", program];
  const said = execFileSync(process.execPath, words, { encoding: "utf8" });
  expect(said).toBe(`keel: needs Node 22.13 or newer, but runs on 20.20.2 (${process.execPath}).\n`);
});

test("a system that Keel is not made for is refused with a sentence and the set-up exit code", async () => {
  verifies("S4.34");
  const shim = "data:text/javascript,Object.defineProperty(process,'platform',{value:'sunos'})";
  const elsewhere = program("sun-node", `exec '${process.execPath}' --import "${shim}" "$@"`);
  const ended = await keel(["--version"], { env: { KEEL_NODE: elsewhere } });
  expect(ended).toMatchObject({ code: 78, stdout: "" });
  expect(ended.stderr).toContain("does not work on sunos");
});

test("a really old Node reads the first file of the command without a syntax error", async () => {
  verifies("S4.34");
  const old = (process.env["PATH"] ?? "")
    .split(":")
    .map((place) => path.join(place, "node"))
    .find(isOld);
  if (!old) return notRunHere("launcher on an old Node", "no Node before 24 on the path");
  const ended = await keel(["--version"], { env: { KEEL_NODE: old } });
  expect(ended).toMatchObject({ code: 78, stdout: "" });
  expect(ended.stderr).toMatch(/^keel: needs Node 24 or newer, but found \d+\./);
});

test("a Node that is not there is named, with the set-up exit code", async () => {
  const ended = await keel(["--version"], { env: { KEEL_NODE: path.join(folder, "none") } });
  expect(ended).toMatchObject({ code: 78, stdout: "" });
  expect(ended.stderr).toContain(path.join(folder, "none"));
});

function program(name: string, body: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

function isOld(file: string): boolean {
  if (!existsSync(file)) return false;
  const version = execFileSync(file, ["--version"], { encoding: "utf8" });
  return Number(version.slice(1).split(".")[0]) < 24;
}
