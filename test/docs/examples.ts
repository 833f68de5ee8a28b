// What kind of example a fenced block is, by the words behind its fence, and who runs it.
// A block of no kind fails test/guide-examples.test.ts: an example that nobody runs is a promise that nobody keeps.
import { type Fence, guideDocuments, guideFences } from "./fences.ts";
import { inlineCode } from "./markdown.ts";

/** Each kind of example with the test that runs it. */
export const runBy = {
  /** A region of a file; the files themselves are run by test/e2e/examples.test.ts. */
  quoted: "test/sdk/guide.test.ts",
  /** A region that stands on what is around it there, and is no program of its own. */
  part: "test/sdk/guide.test.ts",
  /** A file of a project, a home or a plugin, on a page that also shows what happens with it. */
  file: "test/guide-examples.test.ts",
  /** What is said, and what the model is sent then. */
  session: "test/guide-examples.test.ts",
  settings: "test/e2e/guide-files.test.ts",
  rules: "test/e2e/guide-files.test.ts",
  servers: "test/e2e/guide-files.test.ts",
  peer: "test/e2e/guide-files.test.ts",
  /** Lines for the standard input of the command that the fence names. */
  piped: "test/e2e/guide-files.test.ts",
  /** What a program says to Keel and Keel to it. */
  wire: "test/e2e/guide-files.test.ts",
  commands: "test/e2e/guide-commands.test.ts",
  /** A file that lines of a shell on its page name. */
  named: "test/e2e/guide-commands.test.ts",
  /** A command and what it prints. */
  console: "test/e2e/guide-console.test.ts",
  /** A tool of a person's own, as it stands in the examples. */
  tool: "test/own-tools.test.ts",
  /** For a public host or a container: parts of the files that the test reads. */
  ci: "test/e2e/action.test.ts",
  /** A step of the tutorial, whatever it is. */
  tutorial: "test/e2e/tutorial.test.ts",
  /** The program of a plugin, as it stands in the examples. */
  extension: "test/extensions.test.ts",
  program: "test/e2e/guide-programs.test.ts",
  host: "test/e2e/runner-hosts.test.ts",
  /** What an editor is told, to find Keel. */
  editor: "test/e2e/acp.test.ts",
  /** What Keel says, made by the code that says it. */
  output: "test/guide-outputs.test.ts",
} as const;

export type Example = keyof typeof runBy;

const pagesOfWords = ["instructions", "commands", "skills", "plugins"].map((name) => `docs/guide/${name}.md`);

export function exampleOf({ page, kind, label }: Fence): Example | undefined {
  if (page === "docs/guide/tutorial.md") return "tutorial";
  if (label.startsWith("from ")) return kind === "ts" ? "quoted" : undefined;
  if (label.startsWith("part of ")) return kind === "ts" ? "part" : undefined;
  if (label.startsWith("examples/tools/")) return kind === "js" ? "tool" : undefined;
  if (label.startsWith("examples/plugins/")) return kind === "js" ? "extension" : undefined;
  if (label.startsWith("| keel ")) return kind === "json" ? "piped" : undefined;
  if (pagesOfWords.includes(page) && label !== "") {
    if (label === "session") return "session";
    return label.includes(".") ? "file" : undefined;
  }
  switch (`${kind} ${label}`.trim()) {
    case "json ~/.keel/settings.json":
    case "jsonc ~/.keel/settings.json":
      return "settings";
    case "jsonc rules.jsonc":
    case "text .keel/permissions.test":
      return "rules";
    case "json cases/rename.json":
    case "markdown translate.md":
      return "named";
    case "json .mcp.json":
      return "servers";
    case "json bench/peers/program.json":
      return "peer";
    case "text container":
    case "yaml action":
      return "ci";
    case "text wire":
      return "wire";
    case "sh":
      return "commands";
    case "console":
      return "console";
    case "ts":
      return "program";
    case "python":
    case "go":
      return "host";
    case "json editor":
    case "lua editor":
    case "elisp editor":
      return "editor";
    case "text output":
      return "output";
    default:
      return undefined;
  }
}

export const examplesOf = (wanted: Example): Fence[] =>
  guideFences().filter((fence) => exampleOf(fence) === wanted);

/** Settings inside of a sentence, each as a file of its own: `"web": { … }`. */
export const settingsInProse = (): Pick<Fence, "page" | "line" | "text">[] =>
  guideDocuments().flatMap(({ file, text: page }) =>
    inlineCode(page)
      .filter(({ text }) => /^"\w+": \{.*\}$/.test(text))
      .map(({ text, line }) => ({ page: file, line, text: `{ ${text} }` })),
  );

/** The guide writes `…` for a key of the reader's own; no key has such a character. */
export const withKey = (text: string): string => text.replaceAll(/(_KEY(?:=|":"))…/g, "$1scripted");
