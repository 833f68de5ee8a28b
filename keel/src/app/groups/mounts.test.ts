// Which folders a group is given: real folders and links, and a list of ways to ask for more.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { type AllowedMount, readMount, resolveMounts } from "./mounts.ts";

let root = "";
const at = (...names: string[]): string => path.join(root, ...names);
const made = (...names: string[]): string => {
  mkdirSync(at(...names), { recursive: true });
  return at(...names);
};

beforeEach(() => {
  root = realpathSync.native(mkdtempSync(path.join(tmpdir(), "keel-mounts-")));
  for (const name of ["shared/docs", "shared/deep/er", "home/notes", "keel/groups", "elsewhere"])
    made(...name.split("/"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const given = (
  text: string | NonNullable<Parameters<typeof resolveMounts>[0]["mounts"]>[number],
  allowed: readonly AllowedMount[] = [{ path: at("shared") }],
  main = false,
) =>
  resolveMounts(
    { mounts: [typeof text === "string" ? readMount(text) : text], main },
    { allowed, keelHome: at("keel"), userHome: at("home") },
  );

test("a folder inside of an allowed one is given, read-only, by the last part of its name", () => {
  verifies("S2.60");
  expect(given(at("shared/docs")).given).toEqual([
    { source: at("shared/docs"), target: "docs", readonly: true },
  ]);
  expect(given(at("shared")).given).toHaveLength(1);
  expect(given(`${at("shared/docs")}:manual/v2`).given[0]?.target).toBe("manual/v2");
  expect(given("~/notes", [{ path: "~/notes" }]).given[0]?.source).toBe(at("home/notes"));
});

test("it may be written to only where the group asks, the folder allows it, and the group may", () => {
  verifies("S2.60");
  const docs = `${at("shared/docs")}:rw`;
  const writable = (write: AllowedMount["write"], main: boolean, text = docs): boolean | undefined =>
    given(text, [{ path: at("shared"), write }], main).given[0]?.readonly === false;
  expect(writable(undefined, true)).toBe(false);
  expect(writable("nobody", true)).toBe(false);
  expect(writable("main", false)).toBe(false);
  expect(writable("main", true)).toBe(true);
  expect(writable("all", false)).toBe(true);
  expect(writable("all", false, at("shared/docs"))).toBe(false);
});

test("without a list nothing is given", () => {
  verifies("S2.60");
  expect(given(at("shared/docs"), []).refused[0]).toContain("no folder of `groups.mounts`");
});

test("no way to ask for more than the list is answered", () => {
  verifies("S2.60");
  symlinkSync(at("elsewhere"), at("shared/link"));
  symlinkSync(at("shared/docs"), at("elsewhere/back"));
  symlinkSync("/", at("shared/root"));
  for (const name of [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".env",
    ".npmrc",
    ".netrc",
    "credentials",
  ])
    made("shared", "secret-kinds", name, "sub");
  made("shared", "holds-keys", ".ssh");
  writeFileSync(path.join(made("shared", "holds-key"), "id_ed25519"), "");
  writeFileSync(path.join(made("shared", "holds-env"), ".env.local"), "");
  writeFileSync(path.join(made("shared", "holds-pem"), "server.pem"), "");
  writeFileSync(at("shared/file.txt"), "");
  const everything = [{ path: "/", write: "all" as const }];
  const corpus: readonly [string, (readonly AllowedMount[])?][] = [
    [at("elsewhere")],
    [at("shared/../elsewhere")],
    [at("shared/link")],
    [at("shared/link/x")],
    [at("shared/root")],
    [`${at("shared")}x`],
    [at("sharedx")],
    [at("shared/missing")],
    [at("shared/file.txt")],
    ["shared/docs"],
    ["./shared"],
    ["../shared"],
    [""],
    ["/", everything],
    ["//", everything],
    [root, everything],
    [at("keel"), everything],
    [at("keel/groups"), everything],
    [at("shared/../keel"), everything],
    [at("shared/holds-keys"), everything],
    [at("shared/holds-key"), everything],
    [at("shared/holds-env"), everything],
    [at("shared/holds-pem"), everything],
    ...[".ssh", ".aws", ".gnupg", ".kube", ".docker", ".env", ".npmrc", ".netrc", "credentials"].flatMap(
      (name): [string, readonly AllowedMount[]][] => [
        [at("shared/secret-kinds", name), everything],
        [at("shared/secret-kinds", name, "sub"), everything],
      ],
    ),
  ];
  for (const [hostPath, allowed] of corpus) {
    const { given: got, refused } = given({ hostPath, readonly: false }, allowed);
    expect(got, hostPath).toEqual([]);
    expect(refused, hostPath).toHaveLength(1);
  }
  // A link that leads into an allowed folder is that folder.
  expect(given(at("elsewhere/back")).given[0]?.source).toBe(at("shared/docs"));
});

test("its name inside leads nowhere else", () => {
  verifies("S2.60");
  for (const containerPath of [
    "/etc",
    "..",
    "../x",
    "a/../../b",
    "a//b",
    ".",
    "./a",
    "",
    "a:b",
    "a,readonly=false",
    "a\nb",
    "a\u0000b",
    "a\\b",
    "x".repeat(201),
  ])
    expect(given({ hostPath: at("shared/docs"), containerPath }).given, containerPath).toEqual([]);
  const twice = resolveMounts(
    {
      mounts: [at("shared/docs"), `${at("shared/deep")}:docs`, `${at("shared/deep")}:docs/er`].map(readMount),
    },
    { allowed: [{ path: at("shared") }], keelHome: at("keel"), userHome: at("home") },
  );
  expect(twice.given).toHaveLength(1);
  expect(twice.refused).toHaveLength(2);
});
