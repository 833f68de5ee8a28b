/** What users and projects bring along for the model to use: skills, each a text with instructions. */

export type SkillInfo = { readonly name: string; readonly description: string };

export interface Library {
  skills(): Promise<readonly SkillInfo[]>;
  /** The whole text of a skill with its arguments in their places, or a sentence why there is none. */
  readSkill(
    wish: { readonly name: string; readonly args: string },
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string }>;
}
