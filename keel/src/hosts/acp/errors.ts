/** A fault as the protocol's error: its code by what can be done about it, its message a sentence. Pure. */
import { RequestError } from "@agentclientprotocol/sdk";
import { Fault, type FaultData, toFault } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";

const internalError = -32603;

const codes: Partial<Record<FaultCode, number>> = {
  usage: -32602,
  mode_refused: -32602,
  session_invalid_id: -32002,
  session_unknown: -32002,
  no_model: -32000,
  key_refused: -32000,
};

export function errorOf(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const found = toFault(thrown);
  return faultError(found, found instanceof Fault ? found.hint : undefined);
}

export function faultError(
  { code, message }: Pick<FaultData, "code" | "message">,
  hint?: string,
): RequestError {
  return new RequestError(codes[code] ?? internalError, oneSentence(message), {
    code,
    ...(hint === undefined ? {} : { hint }),
  });
}

const oneSentence = (message: string): string => message.replace(/\s*\n\s*/g, " ").slice(0, 500);
