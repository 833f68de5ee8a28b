export async function exportSession(): Promise<number> {
  return 0;
}
