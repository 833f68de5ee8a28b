/** Where something has changed that may have had the focus. What then looks for it is loaded with the first change. */
export const keepFocus = (): void =>
  void import("./look-for-focus.ts").then(
    ({ lookForFocus }) => lookForFocus(),
    // A server that is out of reach is told elsewhere.
    () => undefined,
  );
