/** What a new agent in a folder can be: the kinds of agents and the models that a session there would have. */
import { type EnvironmentVariables, pathsOf } from "../../config/settings/paths.ts";
import type { AnswerTo } from "../../protocol/operation.ts";
import { readLibrary } from "../compose/library.ts";
import { catalogOf } from "../compose/model.ts";
import { kindsOfAgents } from "../compose/session-texts.ts";
import { readSettings } from "../compose/settings.ts";

/** By the same files and the same trust as a session that is opened there. */
export async function offersIn(where: {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly home: string;
}): Promise<Omit<AnswerTo<"choices">, "engines">> {
  const { trust, settings } = await readSettings(where);
  const library = await readLibrary({ paths: pathsOf(where), cwd: where.cwd, trust });
  return {
    agents: kindsOfAgents(library.agents)
      // One that goes on from a conversation needs one to go on from.
      .filter(({ inherits }) => inherits === undefined)
      .map(({ name, description }) => ({ name, description })),
    models: catalogOf(settings)
      .list()
      .map(({ id, name }) => ({ id, name })),
  };
}
