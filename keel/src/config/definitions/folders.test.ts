import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { pathsOf } from "../settings/paths.ts";
import { offersOf } from "../settings/project-offer.ts";
import { loadSettings } from "../settings/settings.ts";
import { changeTrust, withRoot } from "../settings/trust.ts";
import { configFolders, type FoldersOptions, isTrustedFile } from "./folders.ts";

/** A machine with a home, an administrator's folder and a repository in which somebody works below the root. */
function world(folders: readonly string[], cwd = "project/inner") {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-folders-")));
  for (const folder of ["project/.git", "project/inner", "home", "etc", ...folders])
    mkdirSync(path.join(base, folder), { recursive: true });
  const place = path.join(base, cwd);
  const managed = path.join(base, "etc", "managed-settings.json");
  writeFileSync(managed, "{}");
  const paths = pathsOf({
    env: { HOME: base, KEEL_HOME: path.join(base, "home"), KEEL_MANAGED_SETTINGS: managed },
    cwd: place,
  });
  const root = path.join(base, "project");
  return {
    base,
    root,
    list: async (request: Partial<FoldersOptions> = {}) => {
      const { trust } = await loadSettings({ paths, cwd: place, chosen: request.chosen });
      return configFolders({ kind: "skills", paths, trust, ...request });
    },
    trust: async () => {
      const { trust, entries } = await loadSettings({ paths, cwd: place });
      const shown = (await offersOf(trust, entries)).map(({ mark }) => mark);
      await changeTrust({ file: paths.trust, lock: (work) => work() }, (book) =>
        withRoot(book, root, { at: 1, shown }),
      );
    },
  };
}

const everywhere = [
  "etc/skills",
  "project/inner/.keel/skills",
  "project/inner/.claude/skills",
  "project/.claude/skills",
  "home/skills",
  ".claude/skills",
  "tools/skills",
];

test("folders are listed by strength: administrator, project from the nearest up, user, plugins; ours before the second source", async () => {
  verifies("S4.68");
  const { base, list } = world(everywhere);
  const found = await list({ plugins: [{ name: "tools", path: path.join(base, "tools") }] });
  expect(
    found.map(({ path: place, source, compatible, trusted, plugin }) =>
      [path.relative(base, place), source, compatible && "compatible", trusted && "trusted", plugin]
        .filter(Boolean)
        .join(" "),
    ),
  ).toEqual([
    "etc/skills managed trusted",
    "project/inner/.keel/skills project",
    "project/inner/.claude/skills project compatible",
    "project/.claude/skills project compatible",
    "home/skills user trusted",
    ".claude/skills user compatible trusted",
    "tools/skills plugin trusted tools",
  ]);
});

test("what is not there, or of another kind, is not listed", async () => {
  const { list } = world(["home/skills", "project/.keel/commands"]);
  expect((await list()).map(({ source }) => source)).toEqual(["user"]);
  expect((await list({ kind: "commands" })).map(({ source }) => source)).toEqual(["project"]);
  expect(await list({ kind: "output-styles" })).toEqual([]);
});

test("only the sources that were chosen are listed, and the administrator's always", async () => {
  const { list } = world(everywhere);
  const sourcesOf = async (chosen: FoldersOptions["chosen"]) => [
    ...new Set((await list({ chosen })).map(({ source }) => source)),
  ];
  expect(await sourcesOf([])).toEqual(["managed"]);
  expect(await sourcesOf(["user"])).toEqual(["managed", "user"]);
  expect(await sourcesOf(["project"])).toEqual(["managed", "project"]);
});

test("a file of a project is trusted as it was when somebody saw it", async () => {
  verifies("S4.36");
  const { root, list, trust } = world(["project/.keel/skills/a"]);
  const file = path.join(root, ".keel/skills/a/SKILL.md");
  writeFileSync(file, "as shown");
  const answer = async (text: string, chosen?: FoldersOptions["chosen"]): Promise<boolean | undefined> => {
    const [folder] = await list({ chosen });
    return folder && isTrustedFile(folder, file, text);
  };

  expect(await answer("as shown")).toBe(false);
  await trust();
  expect(await answer("as shown")).toBe(true);
  expect(await answer("changed since")).toBe(false);
  // Who names the source trusts it for this session, whatever it says.
  expect(await answer("changed since", ["project"])).toBe(true);
});

test("a project's folder that is a link is not followed", async () => {
  const { base, root, list } = world(["elsewhere/skills", "project/.keel"]);
  symlinkSync(path.join(base, "elsewhere"), path.join(root, ".claude"));
  symlinkSync(path.join(base, "elsewhere/skills"), path.join(root, ".keel/skills"));
  expect(await list()).toEqual([]);
});

test("who works in the home folder has one set of files, their own", async () => {
  const { list } = world([".claude/skills"], ".");
  expect((await list()).map(({ source, trusted }) => ({ source, trusted }))).toEqual([
    { source: "user", trusted: true },
  ]);
});
