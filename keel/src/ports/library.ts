/** What users and projects bring along for the model to use: skills, each a text with instructions. */

export type SkillInfo = { readonly name: string; readonly description: string };

export type SkillRead =
  | {
      readonly ok: true;
      readonly text: string;
      /** Rules for what runs without a question while it is followed. */
      readonly allow?: readonly string[] | undefined;
      /** It is work for an agent of its own, of this kind. */
      readonly fork?: { readonly agent: string | undefined; readonly model: string | undefined } | undefined;
    }
  | { readonly ok: false; readonly why: string };

export interface Library {
  skills(): Promise<readonly SkillInfo[]>;
  /** The whole text of a skill with its arguments in their places, or a sentence why there is none. */
  readSkill(
    request: { readonly name: string; readonly args: string },
    signal: AbortSignal,
  ): Promise<SkillRead>;
}
