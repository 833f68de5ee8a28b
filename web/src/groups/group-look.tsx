/** What the pages of groups share: how one stands. */
import type { AnswerTo } from "keel/protocol";
import type { ReactElement } from "react";
import { activitySigns, Sign } from "../kit/sign.tsx";
import { words } from "../words.ts";

export type GroupEntry = AnswerTo<"groups">["groups"][number];

const signs = {
  working: activitySigns.active,
  queued: activitySigns.idle,
  resting: activitySigns.idle,
} as const;

export const GroupSign = ({ state }: Pick<GroupEntry, "state">): ReactElement => (
  <Sign kind={signs[state]} says={words.groups.states[state]} />
);
