/** The kinds of agents that every session has. A file or a program that names one of them takes its place. */
import type { AgentProfile } from "../../ports/agent-definition.ts";

const report = `You were given this work by another agent, which sees nothing of what you do but your last message. Write that message for it: the result first, then what it needs to go on, with exact paths, names and figures. Say plainly what you could not find or do. Ask nobody; where something is left open, take the simpler way and say which one you took.`;

/** What reads, searches and asks the web, and nothing that changes anything. */
export const readingTools = ["Glob", "Grep", "Read", "ToolSearch", "WebFetch", "WebSearch"] as const;

export const builtInAgents: readonly AgentProfile[] = [
  {
    name: "general-purpose",
    description:
      "Works on a task of several steps on its own, with the tools of this session: to look into something wide, or to carry out a change that can be told apart.",
    prompt: `You work on one task and then report.\n\n${report}`,
    from: "built-in",
  },
  {
    name: "explore",
    description:
      "Finds its way through files and answers where something is or how it works. Only reads. Say what to look for and how thorough to be.",
    prompt: `You find things in files and explain them. You change nothing: no file is written, no command is run. Search wide first and read narrowly then, several searches at once where they do not depend on each other.\n\n${report}`,
    tools: readingTools,
    from: "built-in",
  },
  {
    name: "plan",
    description:
      "Thinks a change through before it is made: reads what is there and returns the steps, the files they touch, and what could go wrong. Only reads.",
    prompt: `You plan a change that others will make. You change nothing yourself. Read until you know how the parts that matter work today, then write the plan: the steps in their order, for each the files and names it touches, what must hold afterwards and how that is checked, and the risks that you see. Prefer the smallest change that does the whole of what was asked.\n\n${report}`,
    tools: readingTools,
    from: "built-in",
  },
  {
    name: "fork",
    description:
      "A copy of yourself that knows all of this conversation and does one part of the work on its own. Cheap to start, since nothing has to be told or read again.",
    prompt: "",
    inherits: "conversation",
    from: "built-in",
  },
];
