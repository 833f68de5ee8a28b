import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { failed, ok } from "../../kernel/result.ts";
import { addRule, pathNamed, removeRule, setValue, valueNamed } from "./edit-settings.ts";
import { type Saving, saveChange } from "./save.ts";

const fresh = (): string => mkdtempSync(path.join(tmpdir(), "keel-save-"));
const saving = (file: string, owner: Saving["owner"] = "person"): Saving => ({
  file,
  owner,
  lock: (work) => work(),
});
const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe("a save", () => {
  test("makes the file and its folder, private for the person and readable for a project", async () => {
    const folder = fresh();
    const mine = path.join(folder, "home/settings.json");
    await saveChange(saving(mine), async (text) => ok(`${text}{}`));
    expect([readFileSync(mine, "utf8"), modeOf(mine), modeOf(path.dirname(mine))]).toEqual([
      "{}",
      0o600,
      0o700,
    ]);
    const shared = path.join(folder, ".keel/settings.json");
    await saveChange(saving(shared, "project"), async () => ok("{}"));
    expect(modeOf(shared) & 0o444).toBe(0o444);
  });

  test("keeps the rights that a file has, and leaves nothing beside it, also of one that was killed", async () => {
    const folder = fresh();
    const file = path.join(folder, "settings.json");
    writeFileSync(file, "old");
    chmodSync(file, 0o640);
    writeFileSync(path.join(folder, ".settings.json.99999.keel-new"), "half");
    await saveChange(saving(file), async (text) => ok(`${text} and new`));
    expect(readFileSync(file, "utf8")).toBe("old and new");
    expect(modeOf(file)).toBe(0o640);
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  test("the person's own link is followed and stays a link; a project's is refused", async () => {
    const folder = fresh();
    writeFileSync(path.join(folder, "real.json"), "real");
    symlinkSync("real.json", path.join(folder, "settings.json"));
    await saveChange(saving(path.join(folder, "settings.json")), async () => ok("changed"));
    expect(readFileSync(path.join(folder, "real.json"), "utf8")).toBe("changed");
    const refused = saveChange(saving(path.join(folder, "settings.json"), "project"), async () => ok("evil"));
    await expect(refused).rejects.toMatchObject({ code: "settings_unwritable" });
    mkdirSync(path.join(folder, "elsewhere"));
    symlinkSync("elsewhere", path.join(folder, ".keel"));
    const inLink = saveChange(saving(path.join(folder, ".keel/settings.json"), "project"), async () =>
      ok("evil"),
    );
    await expect(inLink).rejects.toMatchObject({ detail: { reason: "its folder is a link" } });
    expect(readdirSync(path.join(folder, "elsewhere"))).toEqual([]);
    expect(readFileSync(path.join(folder, "real.json"), "utf8")).toBe("changed");
  });

  test("a file that cannot be read or changed stays as it is", async () => {
    const file = path.join(fresh(), "settings.json");
    writeFileSync(file, "x".repeat(3 * 1024 * 1024));
    await expect(saveChange(saving(file), async () => ok("{}"))).rejects.toMatchObject({
      code: "settings_unwritable",
    });
    expect(statSync(file).size).toBe(3 * 1024 * 1024);
    writeFileSync(file, "{ broken");
    await expect(setValue(saving(file), ["model"], "x")).rejects.toMatchObject({
      code: "settings_unwritable",
    });
    await expect(saveChange(saving(file), async () => failed("no"))).rejects.toMatchObject({
      detail: { reason: "no" },
    });
    expect(readFileSync(file, "utf8")).toBe("{ broken");
  });
});

describe("a value by its name", () => {
  test.each([
    ["model", ["model"]],
    ["permissions.defaultMode", ["permissions", "defaultMode"]],
    ["permissions.allow", ["permissions", "allow"]],
    ["env.PATH", ["env", "PATH"]],
    ["modelAliases.gpt-5.4", ["modelAliases", "gpt-5.4"]],
    ["providers.anthropic.baseUrl", ["providers", "anthropic", "baseUrl"]],
    ["mcpServers.a.b", ["mcpServers", "a.b"]],
    ["modle", undefined],
    ["permissions.dney", undefined],
    ["providers.anthropic.url", undefined],
    ["constructor", undefined],
    ["__proto__.x", undefined],
    ["model.", undefined],
    ["", undefined],
  ])("%s", (name, expected) => {
    expect(pathNamed(name)).toEqual(expected);
  });

  test("a text is taken as JSON where that fits, and as a text otherwise", () => {
    expect(valueNamed(["limits", "maxRetries"], "3")).toEqual({ ok: true, value: 3 });
    expect(valueNamed(["model"], "3")).toEqual({ ok: true, value: "3" });
    expect(valueNamed(["model"], "opus")).toEqual({ ok: true, value: "opus" });
    expect(valueNamed(["env", "A"], "true")).toEqual({ ok: true, value: "true" });
    expect(valueNamed(["permissions", "allow"], '["Read"]')).toEqual({ ok: true, value: ["Read"] });
    expect(valueNamed(["permissions", "defaultMode"], "yolo").ok).toBe(false);
    expect(valueNamed(["limits", "maxRetries"], "-1").ok).toBe(false);
    expect(valueNamed(["permissions"], '{"dney": []}').ok).toBe(false);
  });

  test("rules are added once and removed from every list, and comments stay", async () => {
    const file = path.join(fresh(), "settings.json");
    writeFileSync(file, '{\n  // mine\n  "permissions": { "deny": ["Bash(a)"] }\n}\n');
    for (const rule of ["Read", "Bash(a)", "Read"]) await addRule(saving(file), "allow", rule);
    expect(readFileSync(file, "utf8")).toContain("// mine");
    expect(await removeRule(saving(file), "Bash(a)")).toEqual(["allow", "deny"]);
    expect(await removeRule(saving(file), "Bash(a)")).toEqual([]);
    expect(JSON.parse(readFileSync(file, "utf8").replace("// mine", ""))).toEqual({
      permissions: { allow: ["Read"], deny: [] },
    });
  });
});
