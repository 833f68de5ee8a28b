/** Absolute paths, by their text alone: nobody looks at a disk. */

/** Whether one of the roots holds it or is it, by whole names: `/a/bc` is not inside `/a/b`. */
export function isInside(path: string, roots: readonly string[]): boolean {
  const plain = normalise(path);
  return roots
    .map(normalise)
    .some((root) => plain === root || plain.startsWith(root === "/" ? root : `${root}/`));
}

/** Without `.`, `..` and double slashes, by the text alone. */
export function normalise(path: string): string {
  if (isNormal(path)) return path;
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}

/** Most paths are: then there is nothing to take apart. */
const isNormal = (path: string): boolean => path.startsWith("/") && !/\/(?:$|\/|\.\.?(?:\/|$))/.test(path);

/** A folder as the name of another, as programs of the official interface make it. */
export const projectKeyOf = (cwd: string): string => cwd.replace(/[^A-Za-z0-9]/g, "-");
