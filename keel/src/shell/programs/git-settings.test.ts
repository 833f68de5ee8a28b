import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settingClass } from "./git-settings.ts";

/** Every name that `git help --config` of 2.39 prints, those of later versions from git-config(1), each with its class. */
const listed = readFileSync(
  new URL("../../../../test/fixtures/commands/git-settings.txt", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => line.split(" "));

test("every setting of git has the class that its documentation gives it", () => {
  expect(listed.length).toBeGreaterThan(880);
  expect(listed.filter(([kind, name = ""]) => settingClass(name) !== kind)).toEqual([]);
});

test("every setting whose name says that it is a program is one", () => {
  const says =
    /(?:command|cmd|editor|pager|hook|hookspath|program|helper|textconv|driver|askpass|proxy|tool|browser|smudge|clean|process|tunnel)$/i;
  const known =
    /^(?:http\.proxy|remote\.<name>\.proxy|color\.|clean\.|column\.|advice\.|completion\.|gpg\.format)/;
  const odd = listed.filter(
    ([kind, name = ""]) => kind !== "program" && says.test(name) && !known.test(name),
  );
  // A flag of a cache, and the name of a database.
  expect(odd.map(([, name]) => name)).toEqual(["diff.<driver>.cachetextconv", "gitcvs.dbDriver"]);
});

test("what nobody has read about counts as a program, and letters are of any case", () => {
  for (const name of [
    "core.somethingNew",
    "newsection.x",
    "hook.pre.x",
    "lfs.customtransfer.x.path",
    "nodot",
    ".x",
  ])
    expect(settingClass(name), name).toBe("program");
  expect(settingClass("CORE.HooksPath")).toBe("program");
  expect(settingClass("USER.Email")).toBe("harmless");
  expect(settingClass("trailer.a.b.c.command")).toBe("program");
  expect(settingClass("remote.ext::sh.url")).toBe("path");
});

test("the git of this machine has no setting that the list leaves out for something harmless", () => {
  const { stdout } = spawnSync("git", ["help", "--config"], { encoding: "utf8" });
  const names = (stdout ?? "").split("\n").filter((line) => /^\w+\./.test(line));
  const known = new Set(listed.map(([, name]) => name));
  expect(names.filter((name) => !known.has(name) && settingClass(name) !== "program")).toEqual([]);
});
