/** Does something with each of them, so many at a time; the first failure ends it. */
export async function forEachOf<T>(
  all: readonly T[],
  atOnce: number,
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  const left = all.entries()
  const worker = async () => {
    for (const [index, one] of left) await work(one, index)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker))
}
