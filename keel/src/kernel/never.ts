/** Closes an exhaustive switch: adding a member to the union makes every such switch fail to compile. */
export function never(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
