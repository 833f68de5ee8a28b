/** Leaves out what is undefined: on a wire a field is there or not. */
export function present<T extends Record<string, unknown>>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  // The same names and values, without those that were undefined.
  return Object.fromEntries(known) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
