/** The tools: search in a large tree beside plain ripgrep, files beside bare file calls, commands beside a bare spawn. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { findSearchProgram } from "../../keel/src/workspace/search/search-program.ts";
import type { Contest, Entrant, Samples } from "../measure.ts";
import { makeTree, type Tree } from "../workloads/tree.ts";
import { type Bench, megabytes, type Suite } from "./suite.ts";

export const toolsSuite: Suite = async (bench) => {
  const rg = (await findSearchProgram(process.env))?.file;
  if (rg === undefined) throw new Error("The search program is not installed.");
  const stage: Stage = {
    ...bench,
    rg,
    path: [path.dirname(rg), process.env["PATH"] ?? ""].join(path.delimiter),
    tree: makeTree(await bench.folder(), bench.counts.treeFiles),
    files: await makeFiles(bench),
  };
  return {
    contests: [
      globContest(stage),
      grepContest(stage, "files_with_matches"),
      grepContest(stage, "content"),
      readContest(stage),
      editContest(stage),
      bashContest(stage),
    ],
    close: async () => undefined,
  };
};

type Stage = Bench & {
  readonly rg: string;
  readonly path: string;
  readonly tree: Tree;
  readonly files: { readonly folder: string; readonly long: string; readonly edited: string };
};

async function makeFiles({ folder, counts }: Bench): Promise<Stage["files"]> {
  const place = await folder();
  await mkdir(path.join(place, "src"));
  const [long, edited] = [path.join(place, "src/long.txt"), path.join(place, "src/edited.txt")];
  const line = "a line of some sixty characters, as programs and texts have it\n";
  const text = (bytes: number): string => line.repeat(Math.ceil(bytes / line.length));
  await writeFile(long, text(counts.readBytes));
  const half = text(counts.editBytes / 2);
  await writeFile(edited, `${half}the one place\n${half}`);
  return { folder: place, long, edited };
}

/** Every sample of a program, under the key `ms`. */
const program = (
  { programs }: Bench,
  { name, run, options }: { name: string; run: string; options: object },
): Entrant => ({
  name,
  run: async (): Promise<Samples> => ({ ms: (await programs.run<{ ms: number[] }>(run, options)).result.ms }),
});

const keel = (
  stage: Stage,
  options: { tool: string; input: object; cwd: string; restore?: string },
): Entrant =>
  program(stage, {
    name: "keel",
    run: "programs/tools",
    options: { ...options, path: stage.path, times: stage.counts.toolRepeats },
  });

const ripgrep = (stage: Stage, name: string, words: readonly string[]): Entrant =>
  program(stage, {
    name,
    run: "floors/command",
    options: { file: stage.rg, words, cwd: stage.tree.folder, times: stage.counts.toolRepeats },
  });

function globContest(stage: Stage): Contest {
  const { tree } = stage;
  const list = ["--no-config", "--hidden", "--files", "--glob=**/*.ts"];
  return {
    name: "Glob",
    floor: ripgrep(stage, "rg --files --glob", [...list, "./"]),
    keel: keel(stage, { tool: "Glob", input: { pattern: "**/*.ts" }, cwd: tree.folder }),
    peers: [ripgrep(stage, "rg --files --glob --sortr=modified", [...list, "--sortr=modified", "./"])],
    figures: [{ key: "ms", name: `Glob **/*.ts in ${files(tree)}, the newest first`, unit: "ms" }],
  };
}

function grepContest(stage: Stage, mode: "content" | "files_with_matches"): Contest {
  const { tree } = stage;
  const words = [
    mode === "content" ? "--line-number" : "--files-with-matches",
    `--regexp=${tree.word}`,
    "./",
  ];
  return {
    name: `Grep, ${mode}`,
    floor: ripgrep(stage, `rg ${words[0]}`, ["--no-config", "--hidden", ...words]),
    keel: keel(stage, { tool: "Grep", input: { pattern: tree.word, output_mode: mode }, cwd: tree.folder }),
    figures: [{ key: "ms", name: `Grep for a rare word in ${files(tree)}: ${mode}`, unit: "ms" }],
  };
}

function readContest(stage: Stage): Contest {
  const { folder, long } = stage.files;
  const times = stage.counts.toolRepeats;
  return {
    name: "Read",
    floor: program(stage, { name: "readFile", run: "floors/files", options: { file: long, times } }),
    keel: keel(stage, { tool: "Read", input: { file_path: long }, cwd: folder }),
    figures: [{ key: "ms", name: `Read of a file of ${size(stage.counts.readBytes)}`, unit: "ms" }],
  };
}

function editContest(stage: Stage): Contest {
  const { folder, edited } = stage.files;
  const replace = { from: "the one place", to: "the changed place" };
  const options = { file: edited, times: stage.counts.toolRepeats, replace };
  const input = { file_path: edited, old_string: replace.from, new_string: replace.to };
  return {
    name: "Edit",
    floor: program(stage, { name: "read, replace, write, sync, rename", run: "floors/files", options }),
    keel: keel(stage, { tool: "Edit", input, cwd: folder, restore: edited }),
    figures: [{ key: "ms", name: `Edit of a file of ${size(stage.counts.editBytes)}, on disk`, unit: "ms" }],
  };
}

function bashContest(stage: Stage): Contest {
  const { folder } = stage.files;
  const options = { file: "bash", words: ["-c", "echo done"], cwd: folder, times: stage.counts.toolRepeats };
  return {
    name: "Bash",
    floor: program(stage, { name: "spawn of bash -c", run: "floors/command", options }),
    keel: program(stage, {
      name: "keel",
      run: "programs/command",
      options: { command: "echo done", cwd: folder, path: stage.path, times: options.times },
    }),
    figures: [{ key: "ms", name: "a command through the guarded shell: echo done", unit: "ms" }],
  };
}

const files = ({ files: count }: Tree): string => `${count.toLocaleString("en")} files`;
const size = (bytes: number): string => `${Math.round(megabytes(bytes) * 10) / 10} MB`;
