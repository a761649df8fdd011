/** Numbers of CPUs, as the kernel counts them. */
export type CpuSet = ReadonlySet<number>

// No machine has more; without a bound "0-999999999" would fill the memory.
const LARGEST_CPU = 65_535

/** The kernel's list form of a set of CPUs ("0-3,8") to their numbers, sorted, each once. */
export function parseCpuSet(text: string): readonly number[] {
  if (text === '') return []
  const cpus = new Set<number>()
  for (const part of text.split(',')) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim())
    const first = Number(match?.[1])
    const last = Number(match?.[2] ?? match?.[1])
    if (match === null || last < first || last > LARGEST_CPU) {
      throw new Error(`Cannot read CPU list ${JSON.stringify(text)}: expected numbers and ranges such as "0-3,8"`)
    }
    for (let cpu = first; cpu <= last; cpu += 1) cpus.add(cpu)
  }
  return [...cpus].sort((a, b) => a - b)
}

/** The same form from numbers: "0-3,8", ranges as short as they can be, also of two. */
export function formatCpuSet(cpus: Iterable<number>): string {
  const ranges: { first: number; last: number }[] = []
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range !== undefined && cpu <= range.last + 1) range.last = cpu
    else ranges.push({ first: cpu, last: cpu })
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}
