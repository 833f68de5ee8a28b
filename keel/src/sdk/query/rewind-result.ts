/** What became of files that were to be put back. */
export type RewindFilesResult = {
  canRewind: boolean;
  filesChanged?: string[];
  insertions?: number;
  deletions?: number;
  skippedLinks?: number;
};
