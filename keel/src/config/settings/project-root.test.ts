import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { findProject } from "./project-root.ts";

const fresh = (): string => realpathSync(mkdtempSync(path.join(tmpdir(), "keel-root-")));

test("the nearest repository is the root, and its folders are looked at from the inside out", () => {
  const root = fresh();
  mkdirSync(path.join(root, ".git"));
  mkdirSync(path.join(root, "a/b"), { recursive: true });
  expect(findProject(path.join(root, "a/b"))).toEqual({
    root,
    folders: [path.join(root, "a/b"), path.join(root, "a"), root],
  });
});

test("a repository inside of another, a work tree and a bare one are roots of their own", () => {
  const root = fresh();
  mkdirSync(path.join(root, ".git"));
  for (const name of ["nested/.git", "bare/objects", "bare/refs", "tree/deep"])
    mkdirSync(path.join(root, name), { recursive: true });
  writeFileSync(path.join(root, "bare/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(path.join(root, "tree/.git"), "gitdir: elsewhere\n");
  expect(findProject(path.join(root, "nested")).root).toBe(path.join(root, "nested"));
  expect(findProject(path.join(root, "bare/refs")).root).toBe(path.join(root, "bare"));
  expect(findProject(path.join(root, "tree/deep")).root).toBe(path.join(root, "tree"));
});

test("a folder outside of every repository is its own root, and nothing above it counts", () => {
  const folder = path.join(fresh(), "a");
  mkdirSync(folder);
  expect(findProject(folder)).toEqual({ root: folder, folders: [folder] });
});

test("a link to a project is that project", () => {
  const root = fresh();
  mkdirSync(path.join(root, "real/.git"), { recursive: true });
  symlinkSync(path.join(root, "real"), path.join(root, "link"));
  expect(findProject(path.join(root, "link")).root).toBe(path.join(root, "real"));
});
