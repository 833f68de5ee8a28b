/** The SDK as programs see it: what an import costs, how soon a query asks, what a conversation holds that waits. */
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { Contest, Samples } from "../measure.ts";
import { type BenchServer, startBenchServer } from "../model-server.ts";
import { type Bench, kilobytes, megabytes, type Suite } from "./suite.ts";

const product = path.resolve(import.meta.dirname, "../../keel");
const entry = path.join(product, "dist/index.js");

/** Throws where nothing was built: the import and the package are measured as users get them. */
export const sdkSuite: Suite = async (bench) => {
  if (!existsSync(entry)) throw new Error("The suite sdk needs a build: npm run build.");
  const server = await startBenchServer(bench.programs.pathOf("programs/model-server"));
  return {
    contests: [importContest(bench), requestContest(bench), idleContest(bench, server), sizeContest()],
    close: server.close,
  };
};

function importContest({ counts, programs, folder }: Bench): Contest {
  const run = async (file: string): Promise<Samples> => {
    const ms: number[] = [];
    const cpu: number[] = [];
    for (let done = 0; done < counts.groundRepeats; done++) {
      const options = { entry: pathToFileURL(file).href };
      const { result } = await programs.run<{ ms: number; cpuMs: number }>("floors/import", options);
      ms.push(result.ms);
      cpu.push(result.cpuMs);
    }
    return { import: ms, cpu };
  };
  return {
    name: "import",
    floor: {
      name: "import of an empty module",
      run: async () => {
        const file = path.join(await folder(), "empty.mjs");
        await writeFile(file, "export {};\n");
        return run(file);
      },
    },
    keel: { name: "keel", run: () => run(entry) },
    figures: [
      {
        key: "import",
        name: 'import of "keel", beyond a bare start',
        unit: "ms",
        goal: { kind: "value", most: 40 },
      },
      { key: "cpu", name: "processor time of that", unit: "ms" },
    ],
  };
}

function requestContest({ counts, programs, folder }: Bench): Contest {
  const run = async (name: string): Promise<Samples> => {
    const options = { cwd: await folder(), home: await folder(), repeats: counts.toolRepeats * 4 };
    const { result } = await programs.run<{ firstMs: number; laterMs: number[] }>(name, options);
    return { first: [result.firstMs], later: result.laterMs };
  };
  return {
    name: "first request",
    floor: { name: "a bare node:http request", run: () => run("floors/first-request") },
    keel: { name: "keel", run: () => run("programs/sdk-first-request") },
    figures: [
      { key: "first", name: "from query() to its request at the server, first of a process", unit: "ms" },
      { key: "later", name: "from query() to its request at the server, after that", unit: "ms" },
    ],
  };
}

const messages = 20;
const messageBytes = 1024;

function idleContest({ counts, programs, folder }: Bench, server: BenchServer): Contest {
  const conversations = Math.max(3, Math.round(counts.sessions / 20));
  const run = async (name: string): Promise<Samples> => {
    // Replies of as many bytes as the prompts have.
    await server.follow({ toolTurns: 0, call: { name: "Read", input: {} }, deltas: 43 });
    const options = {
      url: server.url,
      cwd: await folder(),
      home: await folder(),
      conversations,
      messages,
      messageBytes,
    };
    const { result } = await programs.run<{ heldEach: number }>(name, options);
    return { held: [kilobytes(result.heldEach)] };
  };
  return {
    name: "idle conversation",
    floor: { name: "the same messages as plain objects", run: () => run("floors/messages") },
    keel: { name: "keel", run: () => run("programs/sdk-idle") },
    figures: [
      {
        key: "held",
        name: `memory of one more idle conversation, ${messages} messages of 1 KB`,
        unit: "KB",
        goal: { kind: "value", most: 300 },
      },
    ],
  };
}

/** What the package holds without its dependencies, which npm brings. */
function sizeContest(): Contest {
  return {
    name: "package",
    floor: {
      name: "its bundled code alone, each file through gzip",
      run: async () => {
        const files = globSync("dist/**/*.js", { cwd: product });
        const bytes = files.map((file) => gzipSync(readFileSync(path.join(product, file))).length);
        return { packed: [megabytes(bytes.reduce((sum, each) => sum + each, 0))] };
      },
    },
    keel: { name: "keel", run: async () => ({ packed: [megabytes(await packedBytes())] }) },
    figures: [{ key: "packed", name: "packed package", unit: "MB", goal: { kind: "value", most: 10 } }],
  };
}

async function packedBytes(): Promise<number> {
  const npm = process.env["npm_execpath"];
  const words = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [command, parameters] = npm ? [process.execPath, [npm, ...words]] : ["npm", words];
  const { stdout } = await promisify(execFile)(command, parameters, { cwd: product, maxBuffer: 2 ** 26 });
  const said: unknown = JSON.parse(stdout);
  const [packed] = Array.isArray(said) ? said : Object.values(said as object);
  const size: unknown = (packed as { size?: unknown } | undefined)?.size;
  if (typeof size !== "number") throw new Error("npm did not say how large the package is.");
  return size;
}
