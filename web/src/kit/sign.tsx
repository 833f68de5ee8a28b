/** What something does right now, as a sign with a name: half full runs, full asks, a hook is done. */
import type { WorkerActivity } from "keel/protocol";
import type { ReactElement } from "react";

export type SignKind = "active" | "asking" | "failed" | "done" | "idle" | "waiting" | "denied";

const drawings: Readonly<Record<SignKind, ReactElement>> = {
  active: (
    <>
      <circle cx="8" cy="8" r="4.25" fill="none" stroke="currentcolor" strokeWidth="1.5" />
      <path d="M8 3.75a4.25 4.25 0 0 1 0 8.500z" fill="currentcolor" />
    </>
  ),
  asking: <circle cx="8" cy="8" r="4.75" fill="currentcolor" />,
  failed: <path d="M4.8 4.800l6.4 6.400M11.2 4.800l-6.4 6.4" stroke="currentcolor" strokeWidth="1.75" />,
  done: <path d="M3.8 8.4 6.7 11.3 12.2 4.9" fill="none" stroke="currentcolor" strokeWidth="1.75" />,
  idle: <path d="M5 8h6" stroke="currentcolor" strokeWidth="1.75" />,
  waiting: <circle cx="8" cy="8" r="4.25" fill="none" stroke="currentcolor" strokeWidth="1.5" />,
  denied: (
    <>
      <circle cx="8" cy="8" r="4.75" fill="none" stroke="currentcolor" strokeWidth="1.5" />
      <path d="M4.8 11.2 11.2 4.8" stroke="currentcolor" strokeWidth="1.5" />
    </>
  ),
};

/** `says` is left out where words beside it say the same. */
export const Sign = ({ kind, says }: { readonly kind: SignKind; readonly says?: string }): ReactElement => (
  <span
    className={`sign is-${kind}`}
    {...(says === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": says })}
  >
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {drawings[kind]}
    </svg>
  </span>
);

export const activitySigns = {
  active: "active",
  asking: "asking",
  failed: "failed",
  idle: "done",
  ended: "idle",
  unknown: "idle",
} as const satisfies Record<WorkerActivity, SignKind>;
