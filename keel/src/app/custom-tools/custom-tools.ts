/**
 * A person's own tools: files of JavaScript in folders, each with a tool or several. They are asked about like tools of an
 * MCP server, under the name of one. A folder is looked at once more when something in it changes.
 */
import { type FSWatcher, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { type ConfigFolder, isTrustedFile } from "../../config/definitions/folders.ts";
import { readPlainText } from "../../config/settings/plain-text.ts";
import type { Session } from "../../engine/session.ts";
import { within } from "../../kernel/deadline.ts";
import { toFault } from "../../kernel/fault.ts";
import { prefixOf } from "../../mcp/names.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Toolbox } from "../../ports/tool.ts";
import { type OwnTool, ownToolbox } from "../compose/own-tools.ts";
import { describedTool } from "./described-tool.ts";
import { describeTools, type ToolPrograms } from "./tool-program.ts";

export const customToolsServer = "custom-tools";

export type CustomTools = {
  readonly toolbox: Toolbox;
  /** Tells who listens which files are left out, each once. */
  follow(session: Pick<Session, "id" | "onEvent" | "relay">): void;
  close(): void;
};

export type CustomToolsOptions = {
  /** The strongest first: of two tools with one name the first counts. */
  readonly folders: readonly ConfigFolder[];
  readonly programs: ToolPrograms;
  readonly clock: Clock;
  isOffered(tool: OwnTool): boolean;
};

/** A file that is being read must say what it holds within this time; a request waits no longer for all of them. */
const describeMs = 10_000;
/** Changes that come together are looked at together. */
const settleMs = 100;
const maxFiles = 200;
const maxDepth = 6;

type FoundFile = { readonly file: string; readonly stamp: string };
type Described = {
  readonly stamp: string;
  readonly tools: readonly OwnTool[];
  readonly problems: readonly string[];
};

export function customTools({ folders, programs, clock, isOffered }: CustomToolsOptions): CustomTools {
  const box = ownToolbox([], isOffered);
  const over = new AbortController();
  const known = new Map<string, Described>();
  const told = new Set<string>();
  const untold: string[] = [];
  let waiting = false;

  const problem = (words: string): void => {
    if (told.has(words)) return;
    told.add(words);
    untold.push(words);
  };
  const describe = async ({ file, stamp }: FoundFile): Promise<Described> => {
    const before = known.get(file);
    if (before?.stamp === stamp) return before;
    const described = { stamp, ...(await toolsIn(file, { programs, clock, signal: over.signal })) };
    known.set(file, described);
    return described;
  };
  const look = async (): Promise<void> => {
    const files: FoundFile[] = [];
    for (const folder of folders) files.push(...(await filesIn(folder, problem)));
    const tools = new Map<string, OwnTool>();
    for (const { tools: its, problems } of await Promise.all(files.map(describe))) {
      for (const words of problems) problem(words);
      for (const tool of its) {
        if (tools.has(tool.name)) problem(`A second tool of yours is called ${tool.name}: it is left out.`);
        else tools.set(tool.name, tool);
      }
    }
    // The same array while nothing has changed: requests stay as they are.
    const now = [...tools.values()];
    const isSame = now.length === last.length && now.every((tool, index) => tool === last[index]);
    if (isSame || over.signal.aborted) return;
    last = now;
    box.set(now);
  };
  let last: readonly OwnTool[] = [];
  let looking = look().catch(() => undefined);
  const soon = (): void => {
    if (waiting) return;
    waiting = true;
    void clock.sleep(settleMs, over.signal).then(() => {
      waiting = false;
      if (!over.signal.aborted) looking = looking.then(look).catch(() => undefined);
    });
  };
  const watchers = folders.flatMap((folder) => watched(folder.path, soon));

  return {
    toolbox: {
      ...box,
      knows: (name) => box.knows(name) || name.startsWith(prefixOf(customToolsServer)),
      ready: async (signal) => void (await within({ clock, ms: describeMs, signal }, () => looking)),
    },
    follow(session) {
      session.onEvent((event) => {
        // By then somebody listens, and the folders were looked at.
        if (event.type !== "model.started" || event.origin) return;
        const notice = { type: "notice.raised", level: "warning", code: "custom_tools" } as const;
        for (const words of untold.splice(0))
          session.relay({ ...notice, text: words, at: clock.now(), session: session.id });
      });
    },
    close() {
      over.abort();
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watched(folder: string, heard: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, heard);
    // A folder that goes takes its watcher along, and its tools with the last look.
    watcher.on("error", () => watcher.close());
    return [watcher];
  } catch {
    return []; // No more watchers on this machine, or the folder has gone.
  }
}

/** Files of tools in a folder. Of a project all that stands below counts as it was shown, or nothing does. */
async function filesIn(folder: ConfigFolder, problem: (words: string) => void): Promise<FoundFile[]> {
  const isProjects = folder.source === "project";
  if (isProjects) {
    const why = await whyUntrusted(folder, folder.path, maxDepth);
    if (why !== undefined) {
      problem(`No tool of ${folder.path} is loaded: ${why}. \`keel trust\` shows what there is.`);
      return [];
    }
  }
  const entries = await readdir(folder.path, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter(
      (entry) => /\.m?js$/.test(entry.name) && (entry.isFile() || (entry.isSymbolicLink() && !isProjects)),
    )
    .map(({ name }) => name)
    .sort();
  if (names.length > maxFiles)
    problem(`${folder.path} has more than ${maxFiles} files: the rest is left out.`);
  const found = await Promise.all(
    names.slice(0, maxFiles).map(async (name): Promise<FoundFile[]> => {
      const file = path.join(folder.path, name);
      const facts = await stat(file).catch(() => undefined);
      return facts?.isFile() ? [{ file, stamp: `${facts.ino} ${facts.size} ${facts.mtimeMs}` }] : [];
    }),
  );
  return found.flat();
}

async function whyUntrusted(folder: ConfigFolder, place: string, left: number): Promise<string | undefined> {
  if (!folder.trusted) return "the project is not trusted";
  if (left === 0) return `${place} is too deep`;
  for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
    const file = path.join(place, entry.name);
    if (entry.isDirectory()) {
      const why = await whyUntrusted(folder, file, left - 1);
      if (why !== undefined) return why;
      continue;
    }
    const read = await readPlainText(file, { links: "refuse" });
    if (read.kind !== "text" || !isTrustedFile(folder, file, read.text))
      return `${file} is new or has changed since the project was trusted`;
  }
  return undefined;
}

type Describing = { readonly programs: ToolPrograms; readonly clock: Clock; readonly signal: AbortSignal };

async function toolsIn(
  file: string,
  { programs, clock, signal }: Describing,
): Promise<Omit<Described, "stamp">> {
  const leftOut = (why: string) => ({ tools: [], problems: [`${file} is left out: ${why}`] });
  try {
    const read = await readPlainText(file, { links: "follow" });
    // A script of something else that stands there is not run to find out what it is.
    if (read.kind !== "text" || !/\bexports?\b/.test(read.text) || !/\bdescription\b/.test(read.text))
      return leftOut("it exports no tool with a description.");
    const timed = await within({ clock, ms: describeMs, signal }, (own) =>
      describeTools(file, programs, own),
    );
    if (timed.kind !== "done") return leftOut(`it did not say what it holds within ${describeMs / 1_000} s.`);
    const parts = timed.value.map((described) =>
      describedTool(described, {
        file,
        programs,
        server: customToolsServer,
        from: `A tool of the user's own, from ${path.basename(file)}.`,
      }),
    );
    return {
      tools: parts.filter((part) => typeof part !== "string"),
      problems: parts.flatMap((part) => (typeof part === "string" ? leftOut(part).problems : [])),
    };
  } catch (thrown) {
    return leftOut(toFault(thrown).message);
  }
}
