/** The editor at the other end, as those see it who ask it something or tell it something. */
import type { Clock } from "../../ports/clock.ts";
import type { RpcAnswer } from "../../transport/json-rpc.ts";
import type { EditorAbilities } from "./capabilities.ts";

export type EditorWire = {
  /** Once the signal fires nobody waits any more, and the editor is told. */
  request(method: string, params: object, signal?: AbortSignal): Promise<RpcAnswer>;
  notify(method: string, params: object): void;
  /** Fires when the editor is gone. */
  readonly gone: AbortSignal;
  readonly can: EditorAbilities;
};

/** An editor that does not answer must not hold up a tool. */
const maxMs = 5_000;

/** For what an editor can say at once; one that is late has said no. */
export async function askSoon(
  wire: EditorWire,
  clock: Clock,
  [method, params]: readonly [method: string, params: object],
): Promise<RpcAnswer> {
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(maxMs, done.signal).then(() => late.abort());
  const answer = await wire.request(method, params, late.signal);
  done.abort();
  return answer;
}
