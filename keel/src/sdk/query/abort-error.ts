/** Thrown by the iterator when the program's own controller was aborted. */
export class AbortError extends Error {}
