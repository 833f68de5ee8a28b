/** From the arguments of an SDK and its first words to the options of a session, in the SDK's own form. */

import { readUserFlags } from "../../app/flags/session-flags.ts";
import { present } from "../../kernel/json.ts";
import type { SessionOptions } from "../../protocol/options.ts";
import type { InitializeRequest } from "../../sdk/control/host-requests.ts";
import type { Options } from "../../sdk/options/options.ts";
import type { Context } from "../cli/context.ts";
import type { WireValues } from "./options.ts";

/** Throws a usage fault for a value that is none. What the other side answers itself is added by whoever calls. */
export async function sessionOptions(
  values: WireValues,
  said: InitializeRequest | undefined,
  { env, cwd, err }: Context,
): Promise<Options> {
  const flags = await readUserFlags("executable", values, cwd);
  const { appendSystemPrompt: append, permissionPromptToolName: asker, ...given } = flags;
  return present({
    ...given,
    // Kinds of agents and servers are looked at one by one where they are used; a wrong one is told and left out.
    agents: (said?.agents ?? given.agents) as Options["agents"],
    mcpServers: given.mcpServers as Options["mcpServers"],
    cwd,
    permissionPromptToolName: asker === "stdio" ? undefined : asker,
    enableFileCheckpointing: env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] === "true",
    skills: said?.skills ?? given.skills,
    title: said?.title ?? given.title,
    toolAliases: said?.toolAliases,
    forwardSubagentText: said?.forwardSubagentText,
    plugins: pluginsOf(given.plugins, said),
    outputFormat: said?.jsonSchema
      ? { type: "json_schema" as const, schema: said.jsonSchema }
      : given.outputFormat,
    systemPrompt: promptOf({ own: given.systemPrompt, append }, said),
    extraArgs: values["replay-user-messages"] ? { "replay-user-messages": null } : undefined,
    verbatimPrompts: values["disable-slash-commands"] ? true : undefined,
    stderr: (text: string) => void err.write(text),
  });
}

type FlagPrompt = { readonly own: SessionOptions["systemPrompt"]; readonly append: string | undefined };

/** An SDK whose program has no wish for the prompt sends an empty one. */
function promptOf(flags: FlagPrompt, said: InitializeRequest | undefined): Options["systemPrompt"] {
  const texts = (given: unknown): string[] =>
    [given].flat().filter((part) => typeof part === "string" && part !== "") as string[];
  const told = texts(said?.systemPrompt);
  const own = told.length > 0 ? told : texts(flags.own);
  const append = said?.appendSystemPrompt ?? flags.append;
  if (own.length > 0) return append === undefined ? own : [...own, append];
  const isPlaced = typeof flags.own === "object" && "excludeDynamicSections" in flags.own;
  const excludeDynamicSections = said?.excludeDynamicSections ?? (isPlaced || undefined);
  const more = present({ append, excludeDynamicSections });
  return Object.keys(more).length === 0 ? undefined : { type: "preset", preset: "claude_code", ...more };
}

function pluginsOf(given: Options["plugins"] = [], said: InitializeRequest | undefined): Options["plugins"] {
  const local = { type: "local" as const };
  const named = (said?.plugins ?? []).flatMap(({ path }) =>
    typeof path === "string" ? [{ ...local, path }] : [],
  );
  const all = [...given, ...named];
  return all.length > 0 ? all : undefined;
}
