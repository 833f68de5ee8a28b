/** `keel audit`: who decided what, from the audit log of the home. Nothing is asked, nothing runs. */
import { type AuditEntry, auditedKinds } from "../../../app/audit/audit-entries.ts";
import { readAudit } from "../../../app/audit/audit-file.ts";
import { oneOf, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { toLine } from "../../../kernel/json.ts";
import { oneLine, shorten, visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";

const dayMs = 24 * 60 * 60_000;
/** What a person reads; programs get all that there is. */
const usualLines = 100;
const maxReason = 120;

type AuditValues = {
  json: boolean;
  session: string | undefined;
  tool: string | undefined;
  outcome: string | undefined;
  what: string | undefined;
  days: string | undefined;
  limit: string | undefined;
};

export const showAudit: CommandRun<AuditValues> = async ({ values }, { env, cwd, out, err }) => {
  const { json, session, tool, outcome } = values;
  const what = oneOf("what", values.what, auditedKinds);
  const days = wholeNumber("days", values.days, 1);
  const limit = wholeNumber("limit", values.limit, 1) ?? (json ? Number.POSITIVE_INFINITY : usualLines);
  const since = days === undefined ? "" : new Date(Date.now() - days * dayMs).toISOString();
  const isWanted = (entry: AuditEntry): boolean =>
    entry.at >= since &&
    (session === undefined || (entry.session?.startsWith(session) ?? false)) &&
    (tool === undefined || entry.tool === tool) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (what === undefined || entry.what === what);
  await using home = openHome({ env, cwd });
  const found: AuditEntry[] = [];
  for await (const entry of readAudit(home.path)) {
    if (!isWanted(entry)) continue;
    found.push(entry);
    if (found.length > limit) found.shift();
  }
  for (const entry of found) out.line(json ? toLine(entry) : sayEntry(entry));
  if (found.length === 0 && !json)
    err.line("The audit log has nothing of that. `keel config set audit.enabled true` begins one.");
};

function sayEntry({
  at,
  session = "",
  agent,
  what,
  tool,
  outcome,
  by,
  who,
  rule,
  reason,
  changed,
}: AuditEntry) {
  const words = [
    at.slice(0, 19).replace("T", " "),
    session.slice(0, 8).padEnd(8),
    what.padEnd(16),
    tool,
    outcome,
    by === undefined ? undefined : `by ${by}${who === undefined ? "" : ` (${who})`}`,
    agent === undefined ? undefined : `in agent ${agent}`,
    rule === undefined ? undefined : `rule ${rule}`,
    changed === undefined ? undefined : JSON.stringify(changed),
    reason === undefined ? undefined : shorten(reason, maxReason),
  ];
  return visible(oneLine(words.filter((word) => word !== undefined).join("  ")));
}
