/** The families of tools by name, for rules and logs that name a tool: written by `npm run reference` from their definitions. */
import type { ToolFamily } from "./tool.ts";

// biome-ignore format: as it is made
const families: Readonly<Record<string, ToolFamily>> = {"Agent":"agents","AskUserQuestion":"person","Bash":"shell","Edit":"edits","EnterPlanMode":"person","ExitPlanMode":"person","Glob":"reads","Grep":"reads","LS":"reads","MultiEdit":"edits","NotebookEdit":"edits","NotebookRead":"reads","Read":"reads","Task":"agents","WebFetch":"web","WebSearch":"web","Write":"edits"};

export const familyOf = (tool: string): ToolFamily | undefined =>
  Object.hasOwn(families, tool) ? families[tool] : undefined;
