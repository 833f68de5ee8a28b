/** The built-in commands that a screen shows as a choice: where there is no screen they say what to do instead. */
import { shorten } from "../../../kernel/text.ts";
import type { CommandContext, LocalCommand } from "./command.ts";

const screen = (
  name: string,
  description: string,
  run: LocalCommand["run"],
  more: Partial<LocalCommand> = {},
): LocalCommand => ({ name, description, argumentHint: "", kind: "screen", run, ...more });

export const screenCommands: readonly LocalCommand[] = [
  screen("resume", "Goes on with another session of this folder.", async (_, context) =>
    [
      "`keel -p --resume ID PROMPT` goes on with a session. The newest of this folder:",
      ...(await saySessions(context)),
    ].join("\n"),
  ),
  screen("fork", "Goes on in a copy of this session.", async (_, { id }) =>
    [
      "A copy begins where this session is now and leaves it as it is:",
      `keel -p --resume ${id} --fork PROMPT`,
    ].join("\n"),
  ),
  screen("rewind", "Puts files back as they were before a message.", async (_, { id }) =>
    ["The points to which files can be put back, and what would change:", `keel sessions rewind ${id}`].join(
      "\n",
    ),
  ),
  screen("export", "Writes the session down as Markdown or HTML.", async (_, { id }) =>
    [`keel sessions export ${id} --format md`, `keel sessions export ${id} --format html`].join("\n"),
  ),
  screen(
    "config",
    "Lists the settings in force, and where they come from.",
    async (_, { settingsLocation: place }) => {
      const { listSettings } = await import("../../maintenance/configure.ts");
      const { rows } = await listSettings(place);
      return [
        ...rows
          .filter(({ state }) => state === "counts")
          .map(
            ({ name, value, source }) => `${name} = ${shorten(JSON.stringify(value) ?? "", 120)} (${source})`,
          ),
        "`keel config set NAME VALUE` changes one.",
      ].join("\n");
    },
  ),
];

async function saySessions({ sessions, id }: CommandContext): Promise<string[]> {
  const others = (await sessions()).filter((session) => session.id !== id);
  if (others.length === 0) return ["There is no other one."];
  return others.map(
    ({ id: other, changedAt, title, firstInput }) =>
      `${other}  ${dayOf(changedAt)}  ${shorten((title ?? firstInput ?? "").replaceAll(/\s+/g, " "), 60)}`,
  );
}

function dayOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "unknown time" : time.toISOString().slice(0, 16).replace("T", " ");
}
