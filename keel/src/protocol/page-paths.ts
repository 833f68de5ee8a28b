/** The addresses of the browser app's own views: each is answered with the one page, which reads it. */
export const pagePaths: readonly string[] = [
  "/",
  "/asks",
  "/pair",
  "/devices",
  "/settings",
  "/settings/{on}",
  "/dev/gallery",
  "/dev/gallery/{shelf}",
  "/settings/{page}",
  "/asks",
  "/sessions/{session}",
  "/workspaces/{workspace}",
  "/workspaces/{workspace}/{worker}",
  "/dev/gallery",
  "/dev/gallery/{shelf}",
];
