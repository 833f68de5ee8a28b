/** Programs that a person has put there themselves: tools from folders, and what plugins bring. Loaded where there are some. */
import type { ConfigFolder } from "../../config/definitions/folders.ts";
import type { Plugin } from "../../config/definitions/plugins.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Toolbox } from "../../ports/tool.ts";
import type { CustomTools } from "../custom-tools/custom-tools.ts";
import type { Extensions } from "../extensions/extensions.ts";
import { latePrograms } from "./late-ports.ts";
import type { OwnTool } from "./own-tools.ts";

export type OwnPrograms = Pick<CustomTools, "follow" | "close"> & {
  readonly toolboxes: readonly Toolbox[];
  readonly extensions: Extensions | undefined;
};

type ProgramGround = Parameters<typeof latePrograms>[0];

export async function ownPrograms({
  folders,
  plugins,
  env,
  guards,
  cwd,
  ids,
  takesTools,
  ...more
}: {
  readonly folders: readonly ConfigFolder[];
  readonly plugins: readonly Plugin[];
  readonly env: ProgramGround["env"];
  readonly guards: { readonly tools: ProgramGround["guard"]; readonly extensions: ProgramGround["guard"] };
  readonly cwd: string;
  readonly ids: Ids;
  /** Whether the model may have tools that are not Keel's own. */
  readonly takesTools: boolean;
  readonly clock: Clock;
  isOffered(tool: OwnTool): boolean;
}): Promise<OwnPrograms> {
  const programs = (guard: ProgramGround["guard"]) => ({
    run: latePrograms({ env, guard }),
    cwd,
    newMark: () => ids.uuid(),
  });
  const custom =
    takesTools && folders.length > 0
      ? (await import("../custom-tools/custom-tools.ts")).customTools({
          ...more,
          folders,
          programs: programs(guards.tools),
        })
      : undefined;
  const extensions = plugins.some(({ extension }) => extension !== undefined)
    ? (await import("../extensions/extensions.ts")).extensions({
        ...more,
        plugins,
        programs: programs(guards.extensions),
      })
    : undefined;
  return {
    extensions,
    toolboxes: [custom?.toolbox, takesTools ? extensions?.toolbox : undefined].filter(
      (box) => box !== undefined,
    ),
    follow(session) {
      custom?.follow(session);
      extensions?.follow(session);
    },
    close() {
      custom?.close();
      extensions?.close();
    },
  };
}
