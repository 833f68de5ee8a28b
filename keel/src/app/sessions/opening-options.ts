/** What a session of a server is opened with, from what was kept of it or asked for. */
import path from "node:path";
import * as z from "zod/mini";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import type { SessionPeers } from "../../ports/agents.ts";
import { fewVariables } from "../groups/few-variables.ts";
import { mustFit, openOptionsOf } from "../options.ts";
import { optionsFromPlain, plainOptionFields, readServers } from "../plain-options.ts";
import type { Opening } from "./openings.ts";

/** Throws `usage` for what is no option, and for a folder that is not named whole. */
export function optionsOfOpening(
  { cwd, options, env }: Opening,
  server: { readonly version: string; readonly env: EnvironmentVariables; readonly peers: SessionPeers },
) {
  const parsed = z.strictObject(plainOptionFields()).safeParse(options);
  if (!parsed.success) throw fault("usage", { reason: sayIssue("open", parsed.error.issues[0]) });
  if (!path.isAbsolute(cwd)) throw fault("usage", { reason: "open: cwd must be an absolute path" });
  const given = optionsFromPlain(parsed.data);
  mustFit(given);
  return openOptionsOf(
    { permissionMode: "default", ...given },
    {
      ...server,
      ...(env === "few" ? { env: fewVariables(server.env) } : {}),
      cwd,
      unfinished: "continue",
      asks: "answered",
      // A group speaks with nobody but its own.
      ...(env === "few" ? {} : { letters: "asked" as const }),
      // As at the command line: whoever attaches may want to take a turn back.
      checkpoints: "on",
      mcpServers: given.mcpServers && readServers(given.mcpServers),
    },
  );
}

export const sayIssue = (
  what: string,
  issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined,
): string => `${what}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`.slice(0, 300);
