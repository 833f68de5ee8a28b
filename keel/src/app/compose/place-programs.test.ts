import { describe, expect, test } from "vitest";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import { placePrograms } from "./place-programs.ts";
import { withoutOwnPath } from "./settings.ts";

const base = "/home/ada/.keel";

function placed(value: unknown, path: readonly string[] = ["hooks", "PreToolUse"]): unknown {
  const entry: JudgedEntry = {
    path,
    value,
    source: "user",
    file: `${base}/settings.json`,
    rank: 0,
    adds: true,
    state: { kind: "counts" },
  };
  return placePrograms([entry], "/srv/clone")[0]?.value;
}

const hook = (command: string, more: object = {}) => ({ hooks: [{ type: "command", command, ...more }] });

describe("a relative program of a person's settings", () => {
  test.each([
    ["./check.sh", `'${base}/check.sh'`],
    ["bin/check --all", `'${base}/bin/check' --all`],
    ["FOO=1 exec ../check.sh", "FOO=1 exec '/home/ada/check.sh'"],
    ["sh check.sh ./x", `sh '${base}/check.sh' ./x`],
    ["node --import ./pre.mjs ./check.mjs", `node --import '${base}/pre.mjs' '${base}/check.mjs'`],
    ["true && ./a.sh | ./b.sh", `true && '${base}/a.sh' | '${base}/b.sh'`],
    ["if ./a.sh; then echo $(./b.sh); fi", `if '${base}/a.sh'; then echo $('${base}/b.sh'); fi`],
    [". ./env.sh", `. '${base}/env.sh'`],
  ])("is meant from their folder: %s", (written, meant) => {
    expect(placed(hook(written))).toEqual(hook(meant));
  });

  test.each([
    "/usr/bin/check ./x",
    "~/bin/check",
    '"$HOME"/check.sh',
    '"$KEEL_PROJECT_DIR"/check.sh',
    "git diff ./src",
    "prettier --check src/a.ts",
    "cd /opt/hooks && ./check.sh",
    "node -e 'x/y'",
  ])("is left alone where it says itself what it means: %s", (written) => {
    expect(placed(hook(written))).toEqual(hook(written));
  });

  test("does not run where nobody can tell what it is", () => {
    expect(JSON.stringify(placed(hook("./check.sh $(( ")))).toContain("write its whole path");
  });

  test("is found with arguments, in servers and in checkers", () => {
    expect(placed(hook("./run", { args: ["./data"] }))).toEqual(hook(`${base}/run`, { args: ["./data"] }));
    expect(placed({ command: "node", args: ["server.js", "--port", "1"] }, ["mcpServers", "x"])).toEqual({
      command: "node",
      args: [`${base}/server.js`, "--port", "1"],
    });
    expect(placed({ type: "http", url: "http://x" }, ["mcpServers", "x"])).toEqual({
      type: "http",
      url: "http://x",
    });
    expect(placed({ files: "*.ts", check: "./lint {file}" }, ["diagnostics"])).toEqual({
      files: "*.ts",
      check: `'${base}/lint' {file}`,
    });
  });
});

test("the path of what settings start has no folder of the workspace", () => {
  const env = { PATH: "/srv/clone/bin:.::/usr/bin:node_modules/.bin:/bin" };
  expect(withoutOwnPath(env, ["/srv/clone"])["PATH"]).toBe("/usr/bin:/bin");
});
