/** Who decided what, from the events of a session: a pure table. Words that were said and inputs of calls are not in it. */
import { type Envelope, type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import { outcomeOf } from "../../protocol/outcome.ts";

/** One line of the audit log. Where it stands in the log of its session is `seq`: there is the whole of it. */
export type AuditEntry = {
  /** ISO 8601. */
  readonly at: string;
  readonly what: AuditedKind;
  readonly session?: string | undefined;
  readonly seq?: number | undefined;
  /** The agent in which it happened, if it is one's. */
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly tool?: string | undefined;
  readonly call?: string | undefined;
  readonly ask?: string | undefined;
  /** `allowed`, `denied`, `asked`, or what came of a call: `done`, `failed` … */
  readonly outcome?: string | undefined;
  /** A rule, the mode, a hook, the host, a person at a client … */
  readonly by?: string | undefined;
  /** At which client. */
  readonly who?: string | undefined;
  /** The rule that was made, or that decided. */
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
  readonly ms?: number | undefined;
  /** What was changed, by its name; values only where they are no secret. */
  readonly changed?: Readonly<Record<string, unknown>> | undefined;
};

export const auditedKinds = [
  "session.opened",
  "session.closed",
  "key.used",
  "key.changed",
  "settings.changed",
  "trust.changed",
  "ask.opened",
  "ask.closed",
  "call.started",
  "call.finished",
] as const;
export type AuditedKind = (typeof auditedKinds)[number];

type AuditedEvent = Omit<AuditEntry, "at" | "session" | "seq" | "agent" | "project">;

const handlers: EventHandlers<Envelope, [], AuditedEvent> = {
  "settings.changed": ({ patch, why }) => ({ what: "settings.changed", by: why, changed: patch }),
  "ask.opened": ({ ask: { id, tool, callId, kind, reason } }) => ({
    what: "ask.opened",
    ask: id,
    tool,
    call: callId,
    outcome: "asked",
    reason: reason ?? kind,
  }),
  "ask.closed": ({ askId, answer, by, who }) => ({
    what: "ask.closed",
    ask: askId,
    outcome: answer.verdict === "allow" ? "allowed" : "denied",
    by,
    who,
    rule: answer.rules?.join(", "),
    reason: answer.reason,
    changed: answer.option === undefined ? undefined : { option: answer.option },
  }),
  "tool.started": ({ tool, callId, by, facts }) => ({
    what: "call.started",
    tool,
    call: callId,
    outcome: "allowed",
    by,
    rule: facts?.rule?.text,
  }),
  "tool.finished": (event) => {
    const { tool, callId, ms } = event;
    const outcome = outcomeOf(event);
    const denial = outcome.kind === "denied" ? outcome.denial : undefined;
    return {
      what: "call.finished",
      tool,
      call: callId,
      outcome: outcome.kind,
      by: denial?.by,
      reason: denial?.reason,
      rule: denial ? event.facts?.rule?.text : undefined,
      ms,
    };
  },
  "session.closed": ({ reason }) => ({ what: "session.closed", reason }),
};

/** Undefined for an event that decides nothing. */
export function auditEntry(event: Envelope, project: string): AuditEntry | undefined {
  const said = isDurable(event) ? handle(handlers, event) : undefined;
  if (!said || !isDurable(event)) return undefined;
  const { at, session, seq, origin } = event;
  return { at: new Date(at).toISOString(), ...said, session, seq, project, agent: origin?.agentId };
}
