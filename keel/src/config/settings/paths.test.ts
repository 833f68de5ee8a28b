import { expect, test } from "vitest";
import { pathsOf } from "./paths.ts";

test("KEEL_HOME wins, a relative one is meant from the working folder, and otherwise it is ~/.keel", () => {
  expect(pathsOf({ env: { KEEL_HOME: "/k" }, cwd: "/w" }).home).toBe("/k");
  expect(pathsOf({ env: { KEEL_HOME: "here" }, cwd: "/w" }).home).toBe("/w/here");
  expect(pathsOf({ env: { KEEL_HOME: " ", HOME: "/home/ada" }, cwd: "/w" }).home).toBe("/home/ada/.keel");
  expect(pathsOf({ env: { KEEL_HOME: "/k" }, cwd: "/w", home: "/given" }).settings).toBe(
    "/given/settings.json",
  );
});

test("a variable names an administrator's file only behind that of the machine", () => {
  const { managed } = pathsOf({ env: { KEEL_MANAGED_SETTINGS: "m.json" }, cwd: "/w" });
  expect(managed).toEqual([expect.stringContaining("managed-settings.json"), "/w/m.json"]);
});

test("the compatible second source stands in the home folder, wherever Keel's own files are", () => {
  const env = { HOME: "/home/ada", KEEL_HOME: "/k" };
  expect(pathsOf({ env, cwd: "/w" }).compatible).toBe("/home/ada/.claude/settings.json");
  expect(pathsOf({ env: {}, cwd: "/w", home: "/k" }).compatible).toBeUndefined();
});
