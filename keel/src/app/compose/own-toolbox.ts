/** The tools of the program that opened a session: they can be others tomorrow than they are today. */

import type { Toolbox } from "../../ports/tool.ts";
import type { OwnTool } from "./own-tools.ts";

export type OwnToolbox = Toolbox & { set(tools: readonly OwnTool[]): void };

/** `isOffered`: what rules deny outright is not there at all. */
export function ownToolbox(given: readonly OwnTool[], isOffered: (tool: OwnTool) => boolean): OwnToolbox {
  const known = new Set<string>();
  let current: readonly OwnTool[] = [];
  const set = (tools: readonly OwnTool[]): void => {
    // The program is here and its tools are few: they join the prompt, nobody has to look for them.
    current = tools.filter(isOffered).map((tool) => ({ ...tool, late: "joins" as const }));
    for (const { name } of current) known.add(name);
  };
  set(given);
  return {
    tools: () => current,
    knows: (name) => known.has(name),
    ready: async () => undefined,
    set,
  };
}

/** Several boxes as one. What servers outside of the process offer is another box. */
export function joinBoxes(boxes: readonly Toolbox[]): Toolbox {
  let parts: readonly ReturnType<Toolbox["tools"]>[] = [];
  let joined: ReturnType<Toolbox["tools"]> = [];
  return {
    tools() {
      const now = boxes.map((box) => box.tools());
      // The same array while nothing has changed.
      if (now.length !== parts.length || now.some((tools, index) => tools !== parts[index])) {
        parts = now;
        joined = now.flat();
      }
      return joined;
    },
    knows: (name) => boxes.some((box) => box.knows(name)),
    ready: async (signal) => void (await Promise.all(boxes.map((box) => box.ready(signal)))),
  };
}
