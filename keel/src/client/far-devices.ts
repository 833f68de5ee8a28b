/** Who may come in to a server, for those who may say so. */
import type { AnswerTo, DeviceEntry, OperationQuestion, Pairing } from "../protocol/operation.ts";
import type { ServerLink } from "./link.ts";

export type FarDevices = {
  list(): Promise<readonly DeviceEntry[]>;
  /** It is let in no more, and what it has open is cut. Throws `device_unknown`. */
  remove(device: string): Promise<void>;
  /** A code for another device, and where it is typed. */
  pair(question?: OperationQuestion<"pair">): Promise<AnswerTo<"pair">>;
  /** How far a pairing is; with the state that is known, once it is further, or after a while. */
  pairing(id: string, known?: Pairing["state"]): Promise<Pairing>;
  /** After a person has compared the digits. */
  answer(id: string, verdict: "allow" | "deny"): Promise<void>;
  /** By which one browser comes in, once. */
  link(): Promise<string>;
};

export const farDevices = (link: ServerLink): FarDevices => ({
  list: () => link.call("devices", {}),
  remove: async (device) => void (await link.call("removeDevice", { device })),
  pair: (question = {}) => link.call("pair", question),
  pairing: (pairing, known) => link.call("pairing", { pairing, known }),
  link: async () => (await link.call("link", {})).link,
  answer: async (pairing, verdict) => void (await link.call("answerPairing", { pairing, verdict })),
});
