// Every name of the interface is one of ours, or stands with its reason in the guide's list of what Keel does not do.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { settingsSchema } from "../../keel/src/config/settings/settings-schema.ts";
import * as sdk from "../../keel/src/sdk/index.ts";
import { BUILTIN_TOOL_NAMES } from "../../keel/src/sdk/names.ts";
import { builtInTools } from "../../keel/src/tools/catalog.ts";
import { codesIn, namesIn, referenceText, rowsOf, sectionOf } from "./reference.ts";
import {
  agentFields,
  askedNames,
  errorClasses,
  hookNames,
  messageNames,
  methodNames,
  modeNames,
  optionNames,
  sandboxFields,
  serverFields,
  terminalReasons,
  updateNames,
  usageFields,
} from "./surface.ts";

const root = path.join(import.meta.dirname, "../..");
const guide = readFileSync(path.join(root, "docs/guide/migrating.md"), "utf8");
const notDone = (heading: string): string[] =>
  rowsOf(sectionOf(guide, `### ${heading}`)).flatMap(([name = "", why = ""]) =>
    why === "" ? [] : codesIn(name),
  );

/** In neither list, or in both. */
function strays(theirs: readonly string[], ours: readonly string[], left: readonly string[]) {
  return {
    unknown: theirs.filter((name) => !ours.includes(name) && !left.includes(name)),
    stale: left.filter((name) => !theirs.includes(name)),
  };
}
const none = { unknown: [], stale: [] };

const table = (heading: string): string[][] => rowsOf(sectionOf(referenceText, heading));

describe("of the interface", () => {
  test("every function and value is exported", () => {
    const told = table("### 1a.").flatMap(([names = "", text = ""]) =>
      codesIn(names === "constants" ? text : names).filter((name) => !name.includes("*")),
    );
    // The same, and what only its run time has.
    const listed =
      readFileSync(path.join(root, "test/types/interface.ts"), "utf8").split("export type")[0] ?? "";
    const theirs = [...told, ...[...listed.matchAll(/keel\.(\w+)/g)].map(([, name = ""]) => name)];
    expect(theirs.length).toBeGreaterThan(60);
    const ours = Object.keys(sdk);
    expect(theirs.filter((name) => !ours.includes(name))).toEqual([]);
    expect(notDone("Functions and values").filter((name) => !ours.includes(name))).toEqual([]);
  });

  test("every option is accepted; those that mean nothing are listed", () => {
    const theirs = table("### 1b.").flatMap(([names = ""]) => names.split(" / "));
    expect(theirs.length).toBeGreaterThan(65);
    const left = notDone("Options");
    expect(theirs.filter((name) => !optionNames.includes(name))).toEqual([]);
    expect(left.filter((name) => !optionNames.includes(name))).toEqual([]);
    const options = readFileSync(path.join(root, "keel/src/sdk/options/options.ts"), "utf8");
    const accepted = options.slice(options.indexOf("export type AcceptedOptions"));
    const named = [...accepted.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
    expect([...left].sort()).toEqual([...named].sort());
  });

  test("every setting that matters is read or listed", () => {
    const [, told = ""] =
      /matter for a\nharness: ([\s\S]*?)\.\n/.exec(sectionOf(referenceText, "### 1b.")) ?? [];
    const theirs = told
      .replace(/\{.*?\}/g, "")
      .split(/,\s*/)
      // `enabled/disabledMcpjsonServers` and `includeCoAuthoredBy/attribution` are two names each.
      .flatMap((name) =>
        name === "enabled/disabledMcpjsonServers"
          ? ["enabledMcpjsonServers", "disabledMcpjsonServers"]
          : name.trim().split("/"),
      );
    expect(theirs.length).toBeGreaterThan(35);
    const ours = Object.keys(settingsSchema.def.shape);
    expect(strays(theirs, ours, notDone("Settings"))).toEqual(none);
    expect(notDone("Settings").filter((name) => ours.includes(name))).toEqual([]);
  });

  test("every message is declared, and sent or listed", () => {
    const theirs = table("### 1c.").flatMap(([name = ""]) => namesOfMessage(name));
    expect(theirs.length).toBeGreaterThan(40);
    const also = ["active_goal", "command_lifecycle", "system/session_title_changed"];
    const observed = ["system/model_fallback", "system/ui_invalidate"];
    const left = notDone("Messages");
    expect(strays([...theirs, ...also, ...observed], messageNames, left).unknown).toEqual([]);
    const silent = messageNames.filter((name) => !isSent(name));
    const undeclared = ["active_goal", "system/ui_invalidate"];
    expect([...silent, ...undeclared].sort()).toEqual([...left].sort());
  });

  test("every method is there", () => {
    const theirs = table("### 1d.").flatMap(([text = ""]) =>
      // The description shortens one that says in its name how long it is.
      [...text.matchAll(/(\w+(?:…)?)\(/g)].map(
        ([, name = ""]) =>
          methodNames.find((ours) => name.endsWith("…") && ours.startsWith(name.slice(0, -1))) ?? name,
      ),
    );
    expect(theirs.length).toBeGreaterThan(28);
    expect(strays(theirs, methodNames, notDone("Methods"))).toEqual(none);
  });

  test("every hook event is called or listed", () => {
    const theirs = table("### 1e.").flatMap(([names = ""]) => namesIn(names));
    expect(theirs).toHaveLength(33);
    expect(strays(theirs, hookNames, notDone("Hook events"))).toEqual(none);
    expect(hookNames.filter((name) => !theirs.includes(name))).toEqual([]);
  });

  test("permissions have every mode, change and destination, and questions every fact", () => {
    const lines = sectionOf(referenceText, "### 1f.").split("\n");
    const lineOf = (mark: string): string => lines.find((line) => line.includes(mark)) ?? "";
    for (const mode of ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"])
      expect(modeNames).toContain(mode);
    const updates = lineOf("`PermissionUpdate`");
    for (const name of updateNames) expect(updates).toContain(name);
    const [, asked = ""] = /options: (.*?)\. Observed/.exec(lineOf("`CanUseTool`")) ?? [];
    expect(namesIn(asked).filter((name) => !askedNames.includes(name))).toEqual([]);
  });

  test("agents, servers, the sandbox, usage, ends and errors have every field", () => {
    const lines = sectionOf(referenceText, "### 1g.").split("\n");
    const fieldsOf = (type: string): string[] => {
      const [, text = ""] =
        new RegExp(`\`${type}\`: (.*)$`).exec(lines.find((line) => line.includes(`\`${type}\``)) ?? "") ?? [];
      return text
        .split(/, |\//)
        .flatMap(
          (part) => /^\s*(\w+)\?? ?(?:\[N\])?(?:\(|\{|\[|\.|$| )/.exec(part.replaceAll("?", ""))?.[1] ?? [],
        );
    };
    const missing = (type: string, ours: readonly string[], ignored: readonly string[] = []) =>
      fieldsOf(type).filter((name) => !ours.includes(name) && !ignored.includes(name));
    expect(fieldsOf("AgentDefinition").length).toBeGreaterThan(15);
    expect(missing("AgentDefinition", agentFields)).toEqual([]);
    // Parts of nested objects stand in the same line.
    const nested = [
      "deniedDomains",
      "strictAllowlist",
      "allowManagedDomainsOnly",
      "allowUnixSockets",
      "allowAllUnixSockets",
      "allowLocalBinding",
      "allowMachLookup",
      "httpProxyPort",
      "socksProxyPort",
      "tlsTerminate",
      "denyWrite",
      "denyRead",
      "allowRead",
      "allowManagedReadPathsOnly",
      "disabled",
      "envVars",
      "args",
    ];
    expect(missing("SandboxSettings", sandboxFields, nested)).toEqual([]);
    for (const name of ["name", "status", "serverInfo", "error", "tools"])
      expect(serverFields).toContain(name);
    const inText = (mark: string): string =>
      /:\s*([\s\S]*?)\.\n/.exec(referenceText.slice(referenceText.indexOf(`\`${mark}\`:`)))?.[1] ?? "";
    expect(namesIn(inText("TerminalReason")).filter((name) => !terminalReasons.includes(name))).toEqual([]);
    expect(
      namesIn(inText("SDKAssistantMessageError")).filter((name) => !errorClasses.includes(name)),
    ).toEqual([]);
    for (const name of ["inputTokens", "thinkingTokens", "webSearchRequests", "costBasis"])
      expect(usageFields).toContain(name);
  });

  test("every tool is built in, comes with servers, or is listed; its inputs are taken", () => {
    const rows = table("### 1h.");
    const theirs = rows.flatMap(([names = ""]) =>
      names
        .replace(/\([^)]*\)/g, "")
        .split(/[/,]/)
        .map((name) => name.trim())
        .filter((name) => /^[A-Z]\w+$/.test(name)),
    );
    // `CronCreate/Delete/List` is one family.
    const whole = theirs.filter((name) => !["Delete", "List"].includes(name));
    const others = [
      "StructuredOutput",
      "ListMcpResourcesTool",
      "ReadMcpResourceTool",
      "ReadMcpResourceDirTool",
    ];
    expect(strays(whole, [...BUILTIN_TOOL_NAMES, ...others], notDone("Tools"))).toEqual(none);
    const tools = new Map(builtInTools().map((tool) => [tool.name, tool]));
    for (const [names = "", input = ""] of rows) {
      const tool = tools.get(names.trim());
      if (!tool) continue;
      const fields = Object.keys((tool.spec.input["properties"] ?? {}) as object);
      expect(
        inputsIn(input).filter((field) => !fields.includes(field)),
        names,
      ).toEqual([]);
    }
  });
});

/** Inputs that a tool need not have here, each with a reason in the tool itself. */
const unneeded = ["dangerouslyDisableSandbox", "allow_large", "answers", "annotations", "allowedPrompts"];

function inputsIn(cell: string): string[] {
  if (cell.includes(" / ")) return [];
  const flat = cell.replace(/\([^)]*\)/g, "").replace(/\[\{.*?\}\]|× .*$|\{.*?\}/g, "");
  return flat
    .split(/[, ]+/)
    .map((part) => part.replace(/[?¦:].*$/, "").replaceAll("*", ""))
    .filter((part) => /^-?[A-Za-z_]\w*$/.test(part) && !unneeded.includes(part) && !words.has(part));
}
const words = new Set(["via", "updatedInput", "metadata", "open", "object", "or", "worktree", "remote"]);

/** `system / hook_started` → `system/hook_started`; a result is one type, whatever its end. */
function namesOfMessage(cell: string): string[] {
  const [type = "", subtypes] = cell.replace(/\(.*\)/, "").split(" / ");
  if (type.trim() !== "system") return [type.trim()];
  return namesIn(subtypes ?? "").map((subtype) => `system/${subtype}`);
}

/** Whether anything in the SDK, or in what drives it, makes such a message. */
function isSent(name: string): boolean {
  const [type = "", subtype] = name.split("/");
  const mark = subtype === undefined ? `type: "${type}"` : `subtype: "${subtype}"`;
  return sources.some((text) => text.includes(mark));
}
const folder = path.join(root, "keel/src/sdk");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .filter((name) => !/^(messages|control|process)\//.test(name))
  .map((name) => readFileSync(path.join(folder, name), "utf8"));
