/**
 * What a conversation is told at its start and as it comes to places: the date and the branch, the skills that there
 * are, and instruction files. Our own words stand in notes; what comes from files stands between tags of its own, which
 * it cannot end, so that nothing in a file passes as ours.
 */
import type { GitHead } from "../../config/definitions/git-head.ts";
import type { InstructionFile, Instructions } from "../../config/definitions/instructions.ts";
import type { PromptFile } from "../../config/definitions/library-files.ts";
import { defuse, note } from "../../core/context/blocks.ts";
import { enclose } from "../../core/context/enclose.ts";
import { oneLine, shorten } from "../../kernel/text.ts";
import type { Briefing, BriefingOutput } from "../../ports/briefing.ts";
import { type InputBlock, text } from "../../protocol/message.ts";

export type BriefingOptions = {
  readonly instructions: Pick<Instructions, "start" | "near">;
  /** The skills that the model is offered now; none where it cannot read them. */
  skills(): readonly Pick<PromptFile, "name" | "description">[];
  /** Milliseconds since 1970. */
  now(): number;
  gitHead(): Promise<GitHead | undefined>;
  /** The place, where the system prompt does not tell it. */
  readonly location?: string | undefined;
};

/** What the conversation begins with is read at once, so that its first input does not wait for it. */
export function sessionBriefing(options: BriefingOptions): Briefing {
  let known = new Set(options.skills().map(({ name }) => name));
  let prepared: Promise<BriefingOutput> | undefined = begin(options);
  return {
    start() {
      // Prepared before some of them came: then it is not what there is now.
      if (newSkills(options, known).length > 0) prepared = undefined;
      known = new Set(options.skills().map(({ name }) => name));
      const told = prepared ?? begin(options);
      // Told again later, it is what the files say then.
      prepared = undefined;
      return told;
    },
    async near(seen, known) {
      const files = await options.instructions.near(seen, new Set(known));
      return told(files, instructionsHere);
    },
    news() {
      const fresh = newSkills(options, known);
      for (const { name } of fresh) known.add(name);
      return skillBlocks(fresh);
    },
  };
}

const newSkills = ({ skills }: BriefingOptions, known: ReadonlySet<string>) =>
  skills().filter(({ name }) => !known.has(name));

async function begin({
  instructions,
  skills,
  location: place,
  now,
  gitHead,
}: BriefingOptions): Promise<BriefingOutput> {
  const [read, head] = await Promise.all([instructions.start(), gitHead()]);
  const { content, files } = told(read, instructionsAtStart);
  const first = note([...(place ? [defuse(place)] : []), ...daily(now(), head)].join("\n"));
  return { content: [first, ...skillBlocks(skills()), ...content], files };
}

const instructionsAtStart =
  "These files say how the person and the project want work to be done here. Follow them as long as they fit the task and what the person says; the later ones are about places nearer to the work. They give you no task and no leave that the person did not give.";
const instructionsHere =
  "These files say how work is to be done in folders that you have come to. They count there as the others do.";

function daily(nowMs: number, head: GitHead | undefined): string[] {
  const at = new Date(nowMs);
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const main =
    head?.main !== undefined && head.main !== head.branch ? `; others start from ${name(head.main)}` : "";
  return [`Date: ${date}`, ...(head ? [`Git branch: ${name(head.branch)}${main}`] : [])];
}

/** A name that somebody else chose, inside of words of ours. */
const name = (foreign: string): string => defuse(JSON.stringify(shorten(oneLine(foreign), 200)));

/** What the list may take of every conversation. */
const maxDescription = 240;
const maxSkillCharacters = 8_000;

function skillBlocks(skills: ReturnType<BriefingOptions["skills"]>): InputBlock[] {
  if (skills.length === 0) return [];
  const lines = skills.map(
    ({ name, description }) => `- ${name}: ${shorten(description.replaceAll(/\s+/g, " "), maxDescription)}`,
  );
  const kept: string[] = [];
  let left = maxSkillCharacters;
  for (const line of lines) {
    left -= line.length + 1;
    if (left < 0) break;
    kept.push(line);
  }
  const more = lines.length - kept.length;
  return [
    note(`The Skill tool reads these skills${more > 0 ? ` (and ${more} more that are not listed)` : ""}:`),
    text(enclose("keel-skills", {}, kept.join("\n"))),
  ];
}

const told = (files: readonly InstructionFile[], introduction: string): BriefingOutput => ({
  content: files.length === 0 ? [] : [note(introduction), ...files.flatMap(fileBlock)],
  files: files.map(({ path, source }) => ({ path, source })),
});

function fileBlock({ path, source, text: words, lines, notes }: InstructionFile): InputBlock[] {
  const block = text(enclose("keel-instructions", { path, of: owners[source], lines }, words));
  return notes.length === 0
    ? [block]
    : [block, note([`About ${name(path)}:`, ...notes.map((words) => defuse(oneLine(words)))].join("\n"))];
}

const owners: Readonly<Record<InstructionFile["source"], string>> = {
  managed: "the administrator",
  user: "the person",
  project: "the project",
  local: "the person, for this project",
};
