export async function showSession(): Promise<number> {
  return 0;
}
