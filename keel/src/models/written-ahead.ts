import type { ModelRequest } from "../ports/model.ts";

/** Something that is made of a request, and may be made before it is needed: the newest one is kept until it is taken. */

export function writtenAhead<T>(make: (request: ModelRequest) => T): {
  prepare(request: ModelRequest): void;
  take(request: ModelRequest): T;
} {
  let ready: { readonly request: ModelRequest; readonly made: T } | undefined;
  return {
    prepare(request) {
      try {
        ready = { request, made: make(request) };
      } catch {
        // Whoever takes it hears of it.
        ready = undefined;
      }
    },
    take(request) {
      const before = ready;
      ready = undefined;
      return before?.request === request ? before.made : make(request);
    },
  };
}
