/** Programs that run containers, each with its own words: docker, podman, and Apple's `container`. */
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { asList, asObject, isObject, parseJson } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";

export type RuntimeKind = "docker" | "podman" | "container";

export type ContainerMount = { readonly source: string; readonly target: string; readonly readonly: boolean };

export type ContainerWish = {
  readonly name: string;
  /** By which the containers of this home are known. */
  readonly label: string;
  readonly image: string;
  readonly mounts: readonly ContainerMount[];
  /** What it sees, by name; what has no value here comes from `env`, so that no list of processes shows it. */
  readonly set: Readonly<Record<string, string>>;
  readonly pass: readonly string[];
  readonly cwd: string;
  readonly command: readonly string[];
};

export type RunningContainer = ChildProcessByStdio<Writable, Readable, Readable>;

type RuntimeEnvironment = Readonly<Record<string, string>>;

const kinds: readonly RuntimeKind[] = ["docker", "podman", "container"];
const answerMs = 20_000;
const stopSeconds = 15;
const labelName = "keel.home";

export class ContainerRuntime {
  readonly kind: RuntimeKind;
  readonly #file: string;
  readonly #env: RuntimeEnvironment;

  private constructor(kind: RuntimeKind, file: string, env: RuntimeEnvironment) {
    this.kind = kind;
    this.#file = file;
    this.#env = env;
  }

  /** The one that is named, by its name or its path, or the first that answers. Throws `usage` where there is none. */
  static async find(named: string | undefined, env: RuntimeEnvironment): Promise<ContainerRuntime> {
    const wanted = named === undefined ? kinds : [named];
    for (const file of wanted) {
      const kind = kinds.find((known) => known === path.basename(file)) ?? "docker";
      const runtime = new ContainerRuntime(kind, file, env);
      if (
        await runtime.#ask(["--version"]).then(
          () => true,
          () => false,
        )
      )
        return runtime;
    }
    throw fault("usage", { reason: `Nothing that runs containers answers: ${wanted.join(", ")}.` });
  }

  run(wish: ContainerWish): RunningContainer {
    return spawn(this.#file, wordsOfRun(this.kind, wish), {
      env: this.#env,
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Those with this label that run. Throws what the program says. */
  async running(label: string): Promise<string[]> {
    const words = this.kind === "container" ? ["ls", "--format", "json"] : ["ps", "--format", "json"];
    return containersIn(this.kind, await this.#ask(words), label);
  }

  /** Asks it to end, and ends it where it does not. */
  async stop(name: string): Promise<void> {
    const time = this.kind === "container" ? "--time" : "-t";
    try {
      await this.#ask(["stop", time, String(stopSeconds), name], (stopSeconds + 10) * 1_000);
    } catch {
      await this.#ask(["kill", name]);
    }
  }

  #ask(words: readonly string[], timeout = answerMs): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { env: this.#env, timeout, maxBuffer: 16 * 1024 * 1024 };
      execFile(this.#file, words, options, (failed, stdout, stderr) => {
        if (failed) reject(fault("usage", { reason: shorten(stderr.trim() || reasonOf(failed), 300) }));
        else resolve(stdout);
      });
    });
  }
}

export function wordsOfRun(kind: RuntimeKind, wish: ContainerWish): string[] {
  const { name, label, image, mounts, set, pass, cwd, command } = wish;
  const mount = ({ source, target, readonly }: ContainerMount): string[] =>
    kind === "container"
      ? ["--mount", `type=bind,source=${source},target=${target}${readonly ? ",readonly" : ""}`]
      : ["-v", `${source}:${target}${readonly ? ":ro" : ""}`];
  return [
    "run",
    "-i",
    "--rm",
    "--name",
    name,
    "--label",
    `${labelName}=${label}`,
    ...mounts.flatMap(mount),
    ...Object.entries(set).flatMap(([variable, value]) => ["-e", `${variable}=${value}`]),
    ...pass.flatMap((variable) => ["-e", variable]),
    "-w",
    cwd,
    image,
    ...command,
  ];
}

/** docker tells a line of JSON for each; podman a list; Apple's a list of another form, with what does not run too. */
export function containersIn(kind: RuntimeKind, told: string, label: string): string[] {
  const rows =
    kind === "docker"
      ? told
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map(parseJson)
      : asList(parseJson(told));
  return rows.filter(isObject).flatMap((row) => {
    const inner = asObject(row["configuration"]);
    const [names, state, labels] =
      kind === "container"
        ? [inner["id"], row["status"], inner["labels"]]
        : [row["Names"], row["State"], row["Labels"]];
    const name = Array.isArray(names) ? names[0] : names;
    const isOurs = isObject(labels)
      ? labels[labelName] === label
      : String(labels ?? "")
          .split(",")
          .includes(`${labelName}=${label}`);
    return typeof name === "string" && state === "running" && isOurs ? [name] : [];
  });
}
