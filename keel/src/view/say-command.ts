/** What the policy makes of a command, word by word and in sentences: the same on every screen. */
import { visible } from "../kernel/text.ts";
import type { InquiryAnswer } from "../protocol/inquiry.ts";

type ReadCommand = InquiryAnswer<"explain">["commands"][number];
type ReadWord = ReadCommand["words"][number];

const roles: Readonly<Record<ReadWord["role"], string>> = {
  program: "the program",
  option: "an option",
  reads: "a file that it reads",
  writes: "where it writes",
  word: "a plain word",
  pattern: "a pattern: the files that are there decide",
  open: "only the run knows what this is",
};

/** What a word is, and what of it matters. */
export function sayWord({ role, outside, secret }: ReadWord): string {
  return [
    roles[role],
    ...(outside ? ["outside of the workspace"] : []),
    ...(secret ? ["a name that secrets are kept under"] : []),
  ].join(", ");
}

/** Whether a word is what somebody should look at first. */
export const isGrave = ({ role, outside, secret }: ReadWord): boolean =>
  role === "open" || role === "writes" || outside === true || secret === true;

/** What one simple command does, as far as its text tells: the gravest first. */
export function sayCommand(command: ReadCommand): string[] {
  const { readOnly, because, network, destructive, writesOutside, runs, hides, pipedFrom } = command;
  const names = (some: readonly string[]): string => some.map(visible).join(", ");
  return [
    ...(destructive ? ["It can destroy what cannot be brought back."] : []),
    ...(writesOutside ? ["It can write outside of the workspace."] : []),
    ...(network ? ["It can reach the network."] : []),
    ...(hides ? ["It runs code that the text does not show."] : []),
    ...(runs.length > 0 ? [`It starts ${names(runs)}.`] : []),
    ...(pipedFrom.length > 0 ? [`It gets what ${names(pipedFrom)} says.`] : []),
    readOnly ? "It only reads." : `It is not known to only read: ${visible(because ?? "")}.`,
  ];
}
