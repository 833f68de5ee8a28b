import { beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { Grammar } from "../ports/shell.ts";
import type { PathFacts } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";
import { analyse } from "../shell/meaning/analyse.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { judgeCommand } from "./judge-command.ts";
import { optionsFor, suggestRule } from "./suggest.ts";

const context = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], isTrusted: true };
let grammar: Grammar;
beforeAll(() => {
  grammar = openGrammar();
});

async function forCommand(command: string) {
  const analysis = analyse(command, context, await grammar.parse(command));
  const claims: Claim[] = [{ action: "execute", target: command }];
  return suggestRule({
    tool: "Bash",
    claims,
    commands: new Map([
      [command, judgeCommand({ text: command, analysis, world: context, paths: new Map() })],
    ]),
    world: context,
  });
}

function forPath(tool: string, action: "read" | "write", path: string) {
  const root = path.startsWith("/srv/project/") ? "/srv/project" : undefined;
  const facts: PathFacts = { path, exists: true, kind: "file", root, links: false };
  return suggestRule({
    tool,
    claims: [{ action, target: path }],
    world: context,
    paths: new Map([[path, facts]]),
  });
}

describe("the kind of a command", () => {
  test.each([
    ["npm run build", "Bash(npm run build:*)"],
    ["npm run build -- --watch", "Bash(npm run build:*)"],
    ["git push origin main", "Bash(git push:*)"],
    ["cargo test -p core", "Bash(cargo test:*)"],
    ["poetry run pytest -x", "Bash(poetry run pytest:*)"],
    ["cat a.txt | npm run lint", "Bash(npm run lint:*)"],
    ["touch a.txt", "Bash(touch:*)"],
    // What destroys or runs anything is allowed word by word.
    ["rm -rf build", "Bash(rm -rf build)"],
    ["bash build.sh", "Bash(bash build.sh)"],
    ["python3 -c 'print(1)'", "Bash(python3 -c 'print(1)')"],
    ["npm test && npm run build", "Bash(npm test && npm run build)"],
  ])("%j: %s", async (command, rule) => {
    expect((await forCommand(command))?.rule).toBe(rule);
  });

  test.each([
    ["output that goes to a file", "npm run build > out.txt"],
    ["a value that only the run knows", "touch $x"],
    ["what is not understood", "npm run 'build"],
    ["a star, which means something in a rule", "rm -f *.o"],
  ])("there is none for %s", async (_what, command) => {
    expect(await forCommand(command)).toBeUndefined();
  });

  test("is shown with what else it lets through, and with what it does not", async () => {
    const { preview = "" } = (await forCommand("git push origin main")) ?? {};
    expect(preview).toContain('starts with the words "git push"');
    expect(preview).toContain("git push --force");
    expect(preview).toContain("but not what starts other programs");
  });
});

describe("the kind of a change", () => {
  test.each([
    ["Edit", "write", "/srv/project/src/app/a.ts", "Edit(./src/app/**)"],
    ["Write", "write", "/srv/project/src/a.ts", "Edit(./src/**)"],
    ["Write", "write", "/srv/project/a.ts", "Edit(./*)"],
    ["Edit", "write", "/etc/hosts", "Edit(//etc/hosts)"],
    ["Read", "read", "/etc/hosts", "Read(//etc/hosts)"],
    ["Grep", "read", "/opt/lib/x", "Read(//opt/lib/x)"],
  ] as const)("%s that would %s %s: %s", (tool, action, path, rule) => {
    expect(forPath(tool, action, path)?.rule).toBe(rule);
  });

  test("there is none for a name that would mean more in a rule", () => {
    expect(forPath("Edit", "write", "/srv/project/src/[id]/a.ts")).toBeUndefined();
  });
});

test("other calls are allowed by their domain or by their tool", () => {
  const page = suggestRule({
    tool: "WebFetch",
    claims: [{ action: "fetch", target: "https://docs.example.org/a?b" }],
  });
  expect(page?.rule).toBe("WebFetch(domain:docs.example.org)");
  expect(suggestRule({ tool: "mcp__a__b", claims: [{ action: "use", target: "mcp__a__b" }] })?.rule).toBe(
    "mcp__a__b",
  );
});

test("a question offers once, always for this kind, no, and no with words; what is asked every time only the others", () => {
  verifies("S4.20");
  const asked = { tool: "Tool", claims: [] };
  expect(optionsFor(asked, "session").map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
    "once allow",
    "always allow",
    "no deny",
    "say deny",
  ]);
  expect(optionsFor(asked, "once").map(({ id }) => id)).toEqual(["once", "no", "say"]);
});
