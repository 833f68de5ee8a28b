// Real commands that try to get out of the sandbox: nothing outside changes, no secret is printed, nobody is called.
// Nothing here needs bubblewrap: namespaces by util-linux are what every Linux has.
import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EscapeOutcome } from "./sandbox/escape-child.ts";
import type { EscapeCase } from "./sandbox/escape-world.ts";
import { partOf } from "./support/budget.ts";
import { notRunHere } from "./support/not-run.ts";
import { verifies } from "./support/verifies.ts";

const corpus: readonly EscapeCase[] = readFileSync(
  path.resolve(import.meta.dirname, "corpora/sandbox-escapes.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const nobody = 65534;
const me = process.getuid?.() ?? nobody;

test("the corpus has 300 cases and more, of every class", () => {
  expect(corpus.length).toBeGreaterThanOrEqual(300);
  expect(new Set(corpus.map(({ id }) => id)).size).toBe(corpus.length);
  expect(new Set(corpus.map((each) => each.class)).size).toBe(13);
});

test.each([
  ["whoever runs the tests", me],
  ["an ordinary user", nobody],
])(
  "no command gets out, as %s",
  async (_, uid) => {
    verifies("P10", "G38");
    if (uid !== me && me !== 0) return notRunHere("escapes as an ordinary user", "not root");
    const cases = partOf("sandbox-escapes", () => spread(corpus));
    const { facts, outcomes } = await runAs(uid, cases);
    if (facts.layer === "none") return notRunHere("escapes from namespaces", facts.why ?? "");
    expect(outcomes.filter(({ escaped }) => escaped.length > 0)).toEqual([]);
    expect(outcomes.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
    // Most say what they were refused, with its path or host; the others keep it to themselves.
    const told = outcomes.filter(({ violations }) => violations.length > 0).length;
    expect(told / outcomes.length).toBeGreaterThan(0.5);
  },
  1_200_000,
);

/** So that a sample has something of every class. */
const spread = (all: readonly EscapeCase[]): readonly EscapeCase[] =>
  [...all.entries()]
    .toSorted(([left], [right]) => (left % 15) - (right % 15) || left - right)
    .map(([, each]) => each);

type Ran = { readonly facts: { layer: string; why?: string }; readonly outcomes: readonly EscapeOutcome[] };

function runAs(uid: number, cases: readonly EscapeCase[]): Promise<Ran> {
  // Not below /tmp, which is another one inside: what lies outside is to be seen.
  const base = mkdtempSync(path.join(me === 0 ? "/var/lib" : homedir(), "keel-escape-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  chownSync(base, uid, uid === me ? statSync(base).gid : uid);
  const file = path.join(import.meta.dirname, "sandbox/escape-child.ts");
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, JSON.stringify({ base, cases })], {
      ...(uid === me ? {} : { uid, gid: uid }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [said, complained] = ["", ""];
    child.stdout.on("data", (bytes: Buffer) => {
      said += bytes.toString();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      complained += bytes.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      const [facts, ...outcomes] = said
        .trim()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      if (code === 0 && facts) resolve({ facts, outcomes });
      else reject(new Error(`it ended with ${code}: ${complained}`));
    });
  });
}
