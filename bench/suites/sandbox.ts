/** Commands inside the sandbox, beside a bare bubblewrap (or, where there is none, a bare unshare) with the same mounts. */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";
import { systemPath, systemProgram } from "../../keel/src/workspace/processes/system-programs.ts";
import { confinedGuard } from "../../keel/src/workspace/sandbox/confined-guard.ts";
import { confinementOf } from "../../keel/src/workspace/sandbox/confinement.ts";
import { type MountStep, planMounts } from "../../keel/src/workspace/sandbox/mount-plan.ts";
import { LocalSandbox } from "../../keel/src/workspace/sandbox/sandbox.ts";
import type { Entrant } from "../measure.ts";
import type { Suite } from "./suite.ts";

const many = 8;

export const sandboxSuite: Suite = async ({ folder, counts }) => {
  const root = realpathSync(await folder());
  const env = { PATH: process.env["PATH"] ?? "", HOME: root };
  const guard = openProcessGuard({ env });
  const sandbox = new LocalSandbox({ env, guard });
  const confinement = confinementOf({
    roots: [root],
    home: root,
    own: [],
    lent: [],
    named: [],
    allowWrite: [],
    denyWrite: [],
    allowRead: [],
    denyRead: [],
    denies: () => false,
    egress: undefined,
    unixSockets: [],
    nested: "refused",
  });
  const inside = nodeShell({ env, guard, inside: confinedGuard(guard, () => sandbox.open(confinement)) });
  const outside = nodeShell({ env, guard });
  const { steps } = planMounts(confinement, { exchange: root, made: new Map(), sockets: [] });
  const bare = await bareProgram(steps, root);
  const once = async (shell: typeof inside, text = "true"): Promise<number> => {
    const begun = performance.now();
    const run = await shell.start({ text, cwd: root, timeoutMs: 60_000, maxBytes: 1_000 });
    const { exitCode, output } = await run.over;
    if (exitCode !== 0) throw new Error(`It ended with ${exitCode}: ${output}`);
    return performance.now() - begun;
  };
  // The place is made once, as in a session.
  await once(inside);
  await once(outside);
  const repeated = async (one: () => Promise<number>): Promise<number[]> => {
    const samples: number[] = [];
    for (let at = 0; at < counts.toolRepeats; at++) samples.push(await one());
    return samples;
  };
  const entrant = (name: string, one: () => Promise<number>): Entrant => ({
    name,
    run: async () => ({ ms: await repeated(one) }),
  });
  const atOnce = async (): Promise<number> => {
    const begun = performance.now();
    await Promise.all(Array.from({ length: many }, () => once(inside)));
    return performance.now() - begun;
  };
  return {
    contests: [
      {
        name: "one command inside",
        floor: entrant(bare.name, bare.run),
        keel: entrant("keel", () => once(inside)),
        peers: [entrant("keel, outside", () => once(outside))],
        figures: [
          { key: "ms", name: "start to end", unit: "ms", goal: { kind: "ratio", most: 1.5 } },
          { key: "ms", name: "start to end, at most", unit: "ms", goal: { kind: "value", most: 60 } },
        ],
      },
      {
        name: "eight commands inside at once",
        floor: entrant("one of them", () => once(inside)),
        keel: entrant("keel", atOnce),
        figures: [
          { key: "ms", name: "until the last has ended", unit: "ms", goal: { kind: "ratio", most: 2 } },
        ],
      },
    ],
    async close() {
      await sandbox.close();
      await guard.close();
    },
  };
};

/** The same mounts in every run, as a program that has no place to come back to must make them. */
async function bareProgram(steps: readonly MountStep[], root: string) {
  const bwrap = systemProgram("bwrap");
  const hasBwrap = bwrap.startsWith("/");
  const words = hasBwrap
    ? [
        "--unshare-all",
        ...steps.flatMap(bwrapWords),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--chdir",
        root,
        "true",
      ]
    : [
        "-c",
        unshareWords,
        "sh",
        ...steps.flatMap((step) => (step.do === "bind" ? [step.at, step.flags[0] ?? "ro"] : [])),
      ];
  const file = hasBwrap ? bwrap : systemProgram("unshare");
  const args = hasBwrap
    ? words
    : ["--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "sh", ...words];
  const run = async (): Promise<number> => {
    const begun = performance.now();
    const child = spawn(file, args, {
      env: { PATH: systemPath },
      cwd: "/",
      stdio: ["ignore", "ignore", "inherit"],
    });
    const code = await new Promise((resolve) => child.once("exit", resolve));
    if (code !== 0) throw new Error(`${file} ended with ${code}.`);
    return performance.now() - begun;
  };
  return { name: hasBwrap ? "bare bwrap" : "bare unshare", run };
}

const unshareWords = 'while [ $# -gt 0 ]; do mount -o "rbind,$2" "$1" "$1"; shift 2; done; exec true';

function bwrapWords(step: MountStep): string[] {
  switch (step.do) {
    case "bind":
      return [step.flags.includes("ro") ? "--ro-bind" : "--bind", step.from, step.at];
    case "empty":
      return ["--tmpfs", step.at];
    case "link":
      return ["--symlink", step.to, step.at];
    case "folder":
      return ["--dir", step.at];
    case "cover":
      return ["--ro-bind", "/dev/null", step.at];
    case "scratch":
      return ["--tmpfs", step.at];
    case "file":
    case "flags":
      return [];
  }
}
