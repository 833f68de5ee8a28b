/** What a session keeps beside its log: named things of a store, which need not be files. */

/** `output`: of a call or a task, too long for the model or still being written. `plan`: written in plan mode. */
export type ArtifactKind = "output" | "plan";

/** A name that a store cannot have is changed into one that it can, always into the same. */
export type ArtifactName = { readonly session: string; readonly kind: ArtifactKind; readonly name: string };

export type KeptArtifact = {
  /** As it was wanted, or the next free one like it. */
  readonly name: string;
  /** Where it is said to stand: a file, or the store's own way to name it. */
  readonly path: string;
  readonly bytes: number;
};

/** For whoever can only work with a file, such as a command that writes its output. */
export type ArtifactFile = {
  readonly path: string;
  /** Makes its folder, for nobody else to read. */
  ready(): Promise<void>;
};

/** All of them throw `session_unknown` and `session_invalid_id`, and `log_unwritable` where nothing can be kept. */
export interface Artifacts {
  /** Safe when it resolves, and never over another one. */
  put(wanted: ArtifactName, text: string): Promise<KeptArtifact>;
  /** Adds to one that is there, or begins it. */
  append(known: ArtifactName, text: string): Promise<void>;
  /** Undefined for one that is not there. */
  get(known: ArtifactName): Promise<string | undefined>;
  /** The names, sorted. */
  list(of: Omit<ArtifactName, "name">): Promise<string[]>;
  /** Undefined where the store has no files. */
  file(known: ArtifactName): ArtifactFile | undefined;
}
