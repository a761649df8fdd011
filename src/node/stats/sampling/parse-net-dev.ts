/** What went through one network interface since it is there. */
export interface InterfaceCounters {
  readonly name: string
  readonly rxBytes: number
  readonly rxPackets: number
  readonly rxErrors: number
  readonly rxDropped: number
  readonly txBytes: number
  readonly txPackets: number
  readonly txErrors: number
  readonly txDropped: number
}

// The other ends of pods' interfaces, and what never leaves the machine. Parity: cAdvisor's isIgnoredDevice.
const IGNORED = /^(lo$|veth|docker|nerdctl)/

/** Parses /proc/<pid>/net/dev: the interfaces that are reachable from outside. */
export function parseNetDev(text: string): readonly InterfaceCounters[] {
  return text.split('\n').flatMap((line) => {
    const colon = line.lastIndexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim()
    if (name === '' || IGNORED.test(name)) return []
    const values = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/)
      .map(Number)
    const at = (index: number) => values[index] ?? 0
    return [
      {
        name,
        rxBytes: at(0),
        rxPackets: at(1),
        rxErrors: at(2),
        rxDropped: at(3),
        txBytes: at(8),
        txPackets: at(9),
        txErrors: at(10),
        txDropped: at(11),
      },
    ]
  })
}
