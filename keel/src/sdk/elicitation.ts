/** What a server asks the person, and what the program answers in their place. */

export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: "form" | "url";
  url?: string;
  elicitationId?: string;
  /** JSON Schema of what is wanted. */
  requestedSchema?: Record<string, unknown>;
};

export type ElicitResult = {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
};

/** Null: it was answered by another way. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId?: string },
) => Promise<ElicitResult | null>;
