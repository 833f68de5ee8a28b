/** Makes one plain file name of any text: no directory, no leading dot, nothing that a terminal reads as more. */
export function plainName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/\.{2,}|^\./g, "_");
  return plain.slice(0, MAX_CHARACTERS) || "output";
}

const MAX_CHARACTERS = 100;
