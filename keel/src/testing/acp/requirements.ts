/**
 * What version 1 of the Agent Client Protocol asks of an agent, as a table: the ids are those of its official test kit,
 * so that findings can be compared; the sentences are ours. `needs` names what the agent must have announced.
 */

/** `must`: the protocol demands it. `if-announced`: of whoever announces it. `should`: advice. `told`: only recorded. */
export type AcpTier = "must" | "if-announced" | "should" | "told";

export type RequirementRow = { readonly tier: AcpTier; readonly says: string };

export const acpRequirements = {
  "ACP-TRANSPORT-001": { tier: "must", says: "Each line on standard output is one JSON-RPC 2.0 message" },
  "ACP-TRANSPORT-002": { tier: "must", says: "Standard output is UTF-8" },
  "ACP-JSONRPC-001": { tier: "must", says: "A response has the id of its request, a number or a text" },
  "ACP-JSONRPC-002": {
    tier: "must",
    says: "A response has either a result or an error with code and message",
  },
  "ACP-JSONRPC-003": { tier: "must", says: "A notification is not answered" },
  "ACP-JSONRPC-004": { tier: "should", says: "An unknown method is answered with -32601" },
  "ACP-JSONRPC-005": { tier: "should", says: "The connection goes on after a bad request" },
  "ACP-INIT-001": {
    tier: "must",
    says: "initialize gives a result of the schema with a whole version number",
  },
  "ACP-INIT-002": { tier: "must", says: "Asked for version 1, the agent speaks version 1" },
  "ACP-INIT-003": { tier: "must", says: "An unknown version is not echoed, and answered with one it speaks" },
  "ACP-INIT-004": { tier: "should", says: "The agent says its name and version" },
  "ACP-SCHEMA-001": { tier: "must", says: "All messages of a plain exchange are of the schema" },
  "ACP-SCHEMA-002": { tier: "should", says: "No message has fields of its own beside _meta" },
  "ACP-SESSION-001": { tier: "must", says: "session/new gives an id" },
  "ACP-SESSION-002": { tier: "must", says: "Two sessions have two ids" },
  "ACP-PROMPT-001": { tier: "must", says: "A prompt of text ends with a stop reason that is defined" },
  "ACP-PROMPT-002": { tier: "must", says: "Updates of a turn are of the schema and name its session" },
  "ACP-PROMPT-003": { tier: "should", says: "A prompt may hold a link" },
  "ACP-CANCEL-001": { tier: "must", says: "A cancelled prompt ends with cancelled, and not with an error" },
  "ACP-CANCEL-002": { tier: "must", says: "No update comes after the response of a cancelled prompt" },
  "ACP-LOAD-001": { tier: "if-announced", says: "session/load gives a result of the schema" },
  "ACP-LOAD-002": { tier: "if-announced", says: "All of a replay comes before the response of session/load" },
  "ACP-LOAD-003": { tier: "should", says: "The result of session/load is an object" },
  "ACP-RESUME-001": { tier: "if-announced", says: "session/resume gives a result of the schema" },
  "ACP-RESUME-002": { tier: "if-announced", says: "session/resume tells nothing of what was said" },
  "ACP-LIST-001": { tier: "if-announced", says: "session/list gives a list" },
  "ACP-LIST-002": {
    tier: "if-announced",
    says: "session/list of a folder without sessions is an empty list",
  },
  "ACP-DELETE-001": { tier: "if-announced", says: "session/delete of a session that was begun succeeds" },
  "ACP-DELETE-002": { tier: "should", says: "session/delete of a session that there is not succeeds" },
  "ACP-CLOSE-001": { tier: "if-announced", says: "session/close of an idle session succeeds" },
  "ACP-CLOSE-002": { tier: "if-announced", says: "session/close during a prompt ends it with cancelled" },
  "ACP-ADDDIRS-001": { tier: "if-announced", says: "A session may have further folders" },
  "ACP-MODES-001": { tier: "if-announced", says: "The current mode is one of those on offer" },
  "ACP-MODES-002": {
    tier: "if-announced",
    says: "Another mode can be set, and an update of it names currentModeId",
  },
  "ACP-CONFIG-001": { tier: "if-announced", says: "The value of each option is one of its values" },
  "ACP-CONFIG-002": {
    tier: "if-announced",
    says: "Setting an option answers with all options, the new value among them",
  },
  "ACP-CONFIG-003": { tier: "must", says: "No option is yes-or-no unless the editor announced that" },
  "ACP-PROMPTCAP-001": { tier: "if-announced", says: "A prompt may hold a picture" },
  "ACP-PROMPTCAP-002": { tier: "if-announced", says: "A prompt may hold sound" },
  "ACP-PROMPTCAP-003": { tier: "if-announced", says: "A prompt may hold an embedded resource" },
  "ACP-AUTH-001": { tier: "should", says: "Each way to log in has an id of its own" },
  "ACP-AUTH-002": {
    tier: "must",
    says: "No way to log in needs a terminal that the editor did not announce",
  },
  "ACP-AUTH-003": { tier: "if-announced", says: "After authenticate, session/new does not ask for it again" },
  "ACP-AUTH-004": { tier: "if-announced", says: "logout succeeds" },
  "ACP-AUTH-005": { tier: "should", says: "Without a way to log in, session/new asks for none" },
  "ACP-CLIENTCAP-001": { tier: "must", says: "No file is asked of an editor that announced none" },
  "ACP-CLIENTCAP-002": { tier: "must", says: "No terminal is asked of an editor that announced none" },
  "ACP-CLIENTCAP-003": { tier: "must", says: "No form is asked of an editor that announced none" },
  "ACP-EXT-001": { tier: "must", says: "A request of somebody's own method is answered" },
  "ACP-META-001": { tier: "should", says: "A prompt may carry _meta" },
  "ACP-ERROR-001": { tier: "should", says: "The message of an error is one line that is not empty" },
  "ACP-SHUTDOWN-001": { tier: "should", says: "The agent ends by itself when its input does" },
  "ACP-STDERR-001": { tier: "told", says: "How much it writes to standard error" },
  "ACP-INFO-PARSE-001": { tier: "told", says: "What it makes of a line that is no JSON" },
  "ACP-INFO-INVALIDREQ-001": { tier: "told", says: "What it makes of JSON that is no message" },
  "ACP-INFO-UNKNOWNSESSION-001": {
    tier: "told",
    says: "What it makes of a prompt to a session that there is not",
  },
} as const satisfies Readonly<Record<string, RequirementRow>>;

export type AcpRequirementId = keyof typeof acpRequirements;
