/** `keel help`: what people want to do, with the commands for it; of one topic, or of one command its own help. */

import { usage } from "../../../app/flags/arguments.ts";
import { oneLine } from "../../../kernel/text.ts";
import type { CliCommand, CommandRun } from "../command.ts";
import { helpFor, helpForGroup } from "../help.ts";

type Topic = {
  /** What somebody wants. */
  readonly says: string;
  /** The commands that help, or whole groups of them; a line that is typed otherwise stands in `also`. */
  readonly commands: readonly string[];
  readonly also?: readonly (readonly [line: string, says: string])[];
  /** The pages of the guide, which lie in the repository. */
  readonly pages: readonly string[];
};

export const topics: Readonly<Record<string, Topic>> = {
  start: {
    says: "begin without a key, and then with one",
    commands: ["rehearse", "doctor", "auth", "models"],
    pages: ["tutorial", "models"],
  },
  scripts: {
    says: "ask from a script or in CI",
    commands: ["run", "model-server"],
    also: [
      ['keel -p "…"', "Asks once and prints the answer; --output-format json for programs"],
      ["keel -p --continue", "Goes on with the newest session of this folder"],
    ],
    pages: ["headless", "goals", "platforms"],
  },
  permissions: {
    says: "say what it may do, and test that",
    commands: ["permissions", "trust", "audit"],
    pages: ["permissions", "policy", "trust", "sandbox", "auto-mode"],
  },
  sessions: {
    says: "find, read, keep and take up sessions",
    commands: ["sessions", "import"],
    pages: ["sessions", "rewind"],
  },
  time: {
    says: "understand what happened, and what would have happened",
    commands: ["replay", "bisect", "what-if", "blame", "trace", "eval"],
    pages: ["time"],
  },
  away: {
    says: "have it work while you are away, or from elsewhere",
    commands: ["serve", "attach", "schedule", "groups", "bridge", "ssh", "teleport"],
    pages: ["serve", "schedules", "groups", "bridge", "other-machines"],
  },
  screens: {
    says: "work in a browser or in an editor",
    commands: ["console", "acp"],
    pages: ["terminal", "console", "editors"],
  },
  tools: {
    says: "give it tools, commands and panels",
    commands: ["mcp", "plugin"],
    pages: ["own-tools", "mcp", "plugins", "extensions"],
  },
  cost: {
    says: "see and bound what it costs",
    commands: ["usage", "models"],
    pages: ["cost-and-cache", "context", "limits"],
  },
  settings: {
    says: "set it up",
    commands: ["config", "auth", "memory"],
    pages: ["settings", "instructions", "memory"],
  },
  programs: {
    says: "put it into a program",
    commands: ["runner", "desktop"],
    pages: ["sdk", "runner", "executable", "migrating"],
  },
};

/** The table is given: it loads this file, and this file does not load it. */
export const helpOn =
  (commands: readonly CliCommand[]): CommandRun =>
  async ({ positionals }, { out }) => {
    const wanted = positionals.join(" ");
    const topic = Object.hasOwn(topics, wanted) ? topics[wanted] : undefined;
    const command = commands.find(({ name }) => name !== "" && name === wanted);
    if (wanted === "") out.write(overview());
    else if (topic) out.write(sayTopic(topic, commands));
    else if (command) out.write(await helpFor(command, commands));
    else if (commands.some(({ name }) => name.startsWith(`${wanted} `)))
      out.write(helpForGroup(wanted, commands));
    else
      throw usage(
        `There is no help on ${JSON.stringify(oneLine(wanted).slice(0, 60))}: \`keel help\` lists what there is.`,
      );
  };

function overview(): string {
  const rows = Object.entries(topics).map(([name, { says }]) => [`keel help ${name}`, says] as const);
  return `What do you want to do?\n\n${columns(rows)}\n\n\`keel help COMMAND\` shows the options of one, \`keel --help\` all commands.\n`;
}

function sayTopic(
  { says, commands: wanted, also = [], pages }: Topic,
  commands: readonly CliCommand[],
): string {
  const found = commands.filter(({ name }) =>
    wanted.some((one) => name === one || name.startsWith(`${one} `)),
  );
  const rows = [...also, ...found.map((one) => [`keel ${one.name}`, one.says] as const)];
  return `To ${says}:\n\n${columns(rows)}\n\nIn the guide: ${pages.map((page) => `docs/guide/${page}.md`).join(", ")}\n`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
