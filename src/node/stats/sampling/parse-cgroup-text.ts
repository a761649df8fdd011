import type { DiskSample, Pressure, PressureLine } from './cgroup-sample.ts'

// What the kernel writes for "no limit" on v1 is a little below 2^63.
const NO_LIMIT_FROM = 2 ** 62

/** One number; undefined when there is no file, or something else in it. */
export function parseNumber(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || undefined)
  return Number.isNaN(value) ? undefined : value
}

/** A limit; undefined when nothing is limited. */
export function parseLimit(text: string | undefined): number | undefined {
  const value = parseNumber(text)
  return value === undefined || value >= NO_LIMIT_FROM ? undefined : value
}

/** Lines such as "anon 4096"; what is not in the file counts as 0. Each name is searched for: of some forty lines a few are wanted, for each pod every ten seconds. */
export function parseFlat(text = ''): (name: string) => number {
  const lines = `\n${text}`
  return (name) => {
    const line = `\n${name} `
    const found = lines.indexOf(line)
    if (found === -1) return 0
    const end = lines.indexOf('\n', found + 1)
    return Number(lines.slice(found + line.length, end === -1 ? undefined : end))
  }
}

/** A file such as cpu.pressure; undefined on a kernel that does not count. */
export function parsePressure(text: string | undefined): Pressure | undefined {
  const lines = new Map((text ?? '').split('\n').map((line) => [line.split(' ', 1)[0], parsePressureLine(line)]))
  const some = lines.get('some')
  if (some === undefined) return undefined
  // Old kernels have no "full" for cpu.
  return { some, full: lines.get('full') ?? { avg10: 0, avg60: 0, avg300: 0, total: 0 } }
}

function parsePressureLine(line: string): PressureLine {
  const values = new Map(line.split(' ').map((part) => part.split('=') as [string, string | undefined]))
  const [avg10 = 0, avg60 = 0, avg300 = 0, total = 0] = ['avg10', 'avg60', 'avg300', 'total'].map((name) =>
    Number(values.get(name) ?? 0),
  )
  return { avg10, avg60, avg300, total }
}

/** Lines such as "8:0 rbytes=1 wbytes=2 rios=3 wios=4"; a disk that was never used has no numbers. */
export function parseIoStat(text: string | undefined): readonly DiskSample[] {
  return (text ?? '').split('\n').flatMap((line) => {
    const [device = '', ...parts] = line.trim().split(' ')
    if (parts.length === 0) return []
    const values = new Map(parts.map((part) => part.split('=') as [string, string | undefined]))
    const of = (name: string) => Number(values.get(name) ?? 0)
    const cost = (name: string) => of(`cost.${name}`)
    return [
      {
        device,
        bytes: { Read: of('rbytes'), Write: of('wbytes') },
        operations: { Read: of('rios'), Write: of('wios') },
        cost: values.has('cost.usage')
          ? { usage: cost('usage'), wait: cost('wait'), indebt: cost('indebt'), indelay: cost('indelay') }
          : undefined,
      },
    ]
  })
}

/** Lines such as "8:0 Read 4096" of bytes and of operations. */
export function parseBlkio(bytes: string | undefined, operations: string | undefined): readonly DiskSample[] {
  const [byBytes, byCount] = [parseBlkioLines(bytes), parseBlkioLines(operations)]
  return [...new Set([...byBytes.keys(), ...byCount.keys()])].map((device) => ({
    device,
    bytes: Object.fromEntries(byBytes.get(device) ?? []),
    operations: Object.fromEntries(byCount.get(device) ?? []),
    cost: undefined,
  }))
}

function parseBlkioLines(text: string | undefined): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const devices = new Map<string, Map<string, number>>()
  for (const line of (text ?? '').split('\n')) {
    const [device = '', operation = '', value] = line.split(' ')
    if (value === undefined) continue
    devices.getOrInsertComputed(device, () => new Map()).set(operation, Number(value))
  }
  return devices
}
