/** How a team stands, in words that are the same on every screen. What members wrote is made harmless here. */
import { visible } from "../kernel/text.ts";
import type { TeamMemberEntry, TeamReport, TeamWait } from "../protocol/team.ts";

/** Whom and what somebody waits for. */
export function sayWait({ for: what, of, about = "" }: TeamWait): string {
  const whom = of === undefined ? undefined : visible(of);
  switch (what) {
    case "task":
      return whom === undefined
        ? `waits for somebody to take ${visible(about)}`
        : `waits for ${whom}: ${visible(about)}`;
    case "answer":
      return `waits for ${whom ?? "you"}: ${visible(about)}`;
    case "plan":
      return `waits for a word of ${whom ?? "you"} on its plan`;
    case "report":
      return `waits for the report of ${whom ?? "somebody"}`;
  }
}

export const memberStates = {
  working: "at work",
  asking: "asks",
  resting: "rests",
  failed: "failed",
  left: "left",
} as const satisfies Record<TeamMemberEntry["state"], string>;

/** What a member does and what it has of the list. */
export const sayDoing = ({ state, tasks }: Pick<TeamMemberEntry, "state" | "tasks">): string =>
  [
    memberStates[state],
    ...(tasks.length > 0 ? [`has ${tasks.map((id) => `#${visible(id)}`).join(", ")}`] : []),
  ].join(" · ");

/** Whom it waits for; empty where that is nobody. */
export function sayWhom({ waits }: Pick<TeamMemberEntry, "waits">): string {
  const whom = new Set(waits.map(({ for: what, of }) => (of === undefined ? nobody[what] : visible(of))));
  return whom.size === 0 ? "" : `waits for ${[...whom].join(", ")}`;
}

/** Both in one line. */
export const sayMember = (member: TeamMemberEntry): string =>
  [sayDoing(member), sayWhom(member)].filter((part) => part !== "").join(" · ");

const nobody: Readonly<Record<TeamWait["for"], string>> = {
  task: "somebody",
  answer: "you",
  plan: "you",
  report: "somebody",
};

/** Those that a member wrote or was told. */
export const messagesOf = ({ messages }: TeamReport, name: string): TeamReport["messages"] =>
  messages.filter(({ from, to }) => from === name || to === name);
