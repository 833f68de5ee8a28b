/** `keel sessions list`: the sessions of this folder, or of all, newest first. */
import { openHome } from "../../../app/home.ts";
import type { StoredSession } from "../../../app/sessions/sessions.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { shorten, visible } from "../../../kernel/text.ts";
import { isoTime } from "../../../view/say.ts";
import type { Context } from "../context.ts";

const maxCharacters = 60;

export async function listSessions(
  { values }: { values: { json: boolean; all: boolean } },
  context: Context,
): Promise<number> {
  const { env, cwd, out, err } = context;
  const sessions = await openHome({ env, cwd }).sessions.list(values.all ? {} : { cwd });
  if (values.json) out.line(toLine(sessions));
  else if (sessions.length > 0)
    out.line(sessions.map((session) => row(session, values.all ? "all" : "one")).join("\n"));
  else
    err.line(
      values.all
        ? "There are no sessions yet."
        : "There are no sessions of this folder yet; --all looks everywhere.",
    );
  return exitCodes.ended;
}

function row(
  { id, changedAt, title, firstInput, cwd, forkedFrom }: StoredSession,
  folders: "one" | "all",
): string {
  const words = visible(shorten((title ?? firstInput ?? "").replaceAll("\n", " "), maxCharacters));
  const when = (isoTime(changedAt) ?? "").slice(0, 16).replace("T", " ");
  const origin = forkedFrom ? `  (from ${forkedFrom.session.slice(0, 8)})` : "";
  return [id, when, ...(folders === "all" ? [visible(cwd)] : []), `${words}${origin}`].join("  ").trimEnd();
}
