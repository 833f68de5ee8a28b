/** A fault as the protocol's error: its code by what can be done about it, its message a sentence. Pure. */
import { Fault, type FaultData, toFault } from "../../kernel/fault.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import { type RpcError, type RpcReply, rpcCodes } from "../../transport/json-rpc.ts";

const notFound = -32_002;
const loginNeeded = -32_000;

const codes: Partial<Record<FaultCode, number>> = {
  usage: rpcCodes.invalidParams,
  mode_refused: rpcCodes.invalidParams,
  session_invalid_id: notFound,
  session_unknown: notFound,
  no_model: loginNeeded,
  key_refused: loginNeeded,
};

/** Every failure is one of the protocol's errors. */
export async function replyOf(work: () => Promise<RpcReply>): Promise<RpcReply> {
  try {
    return await work();
  } catch (thrown) {
    const found = toFault(thrown);
    return { error: errorOf(found, found instanceof Fault ? found.hint : undefined) };
  }
}

export const errorOf = ({ code, message }: Pick<FaultData, "code" | "message">, hint?: string): RpcError => ({
  code: codes[code] ?? rpcCodes.internalError,
  message: oneSentence(message),
  data: { code, ...(hint === undefined ? {} : { hint }) },
});

const oneSentence = (message: string): string => message.replace(/\s*\n\s*/g, " ").slice(0, 500);
