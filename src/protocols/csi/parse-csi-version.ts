/** The version of a driver, number by number. */
export type CsiVersion = readonly number[]

const VERSION = /^\s*v?(0|[1-9]\d*)((?:\.\d+)+)/
const MAJOR = 1

/** The highest version that both sides know: any 1.x of those that the driver offers. */
export function parseCsiVersion(driver: string, offered: readonly string[]): CsiVersion {
  const known = offered
    .flatMap((text) => {
      const [, major, rest] = VERSION.exec(text) ?? []
      return major === undefined ? [] : [`${major}${rest}`.split('.').map(Number)]
    })
    .filter(([major = 0]) => major <= MAJOR)
    .toSorted(compareCsiVersions)
  const highest = known.at(-1)
  if (highest?.[0] === MAJOR) return highest
  const list = offered.length === 0 ? 'none' : offered.join(', ')
  throw new Error(`Cannot register CSI driver "${driver}": it offers the versions ${list}, expected one that is 1.x`)
}

/** Below 0 when the first is lower; missing numbers count as 0. */
export function compareCsiVersions(a: CsiVersion, b: CsiVersion): number {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
