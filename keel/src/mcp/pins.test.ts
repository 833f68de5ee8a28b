import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { findTools } from "./as-tools.ts";
import { AuthFile } from "./auth-file.ts";
import { Pins } from "./pins.ts";

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), "keel-pins-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return path.join(made, "mcp");
}

const offered = (description: string, extra: object = {}) =>
  findTools("s", [{ name: "go", description, inputSchema: { type: "object" }, ...extra }]).tools;

describe("what was approved of a server's tools", () => {
  test("is taken at first sight, and kept over processes in a private file", async () => {
    verifies("G37");
    const place = { folder: folder(), server: "s", identity: "abc" };
    const first = offered("Goes.");
    expect((await new Pins(place).compare(first)).get("go")?.mark).toBe(first[0]?.mark);
    const later = await new Pins(place).compare(offered("Sends."));
    expect(later.get("go")).toMatchObject({ description: "Goes.", mark: first[0]?.mark });
    const [file = ""] = readdirSync(place.folder);
    expect(statSync(path.join(place.folder, file)).mode & 0o777).toBe(0o600);
  });

  test("is another one after somebody approved it", async () => {
    const place = { folder: folder(), server: "s", identity: "abc" };
    await new Pins(place).compare(offered("Goes."));
    const [now] = offered("Sends.");
    if (!now) throw new Error("no tool");
    await new Pins(place).approve(now);
    expect((await new Pins(place).compare([now])).get("go")).toMatchObject({
      description: "Sends.",
      mark: now.mark,
    });
  });

  test.each([
    ["a description", offered("Goes!")],
    ["the end of a very long description", offered(`${"x".repeat(5_000)}!`)],
    ["a schema", offered("Goes.", { inputSchema: { type: "object", properties: { a: {} } } })],
    ["a hint", offered("Goes.", { annotations: { readOnlyHint: true } })],
  ])("tells %s from another one", (_, changed) => {
    verifies("G37");
    const marks = [offered("Goes."), offered("x".repeat(5_000)), changed].map(([tool]) => tool?.mark);
    expect(new Set(marks).size).toBe(3);
  });
});

test("what a login left is for nobody else to read, and can be forgotten", async () => {
  verifies("S4.61");
  const place = folder();
  const file = new AuthFile({ folder: place, identity: "x" });
  await Promise.all([file.change({ tokens: { access_token: "t" } }), file.change({ verifier: "v" })]);
  expect(await file.read()).toEqual({ tokens: { access_token: "t" }, verifier: "v" });
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(statSync(place).mode & 0o777).toBe(0o700);
  await file.forget();
  expect(await file.read()).toEqual({});
});
