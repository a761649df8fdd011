import { readdirSync, readFileSync } from 'node:fs'

// What limits and counters show for no limit at all.
const NO_LIMIT = 2 ** 64

/** What the kernel knows of this process. */
export function readOwnUsage(): {
  readonly virtualBytes: number
  readonly virtualMaxBytes: number
  /** Of the network that the agent is in: the kernel does not count it by process. */
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly openFiles: number
  readonly maxFiles: number
} {
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const [, softLimit = '0'] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  const [, kilobytes = '0'] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
  const [, addressSpace = 'unlimited'] = /^Max address space\s+(\S+)/m.exec(limits) ?? []
  const { InOctets = 0, OutOctets = 0 } = readIpCounters(readFileSync('/proc/self/net/netstat', 'latin1'))
  return {
    virtualMaxBytes: addressSpace === 'unlimited' ? NO_LIMIT : Number(addressSpace),
    receivedBytes: InOctets,
    sentBytes: OutOctets,
    virtualBytes: Number(kilobytes) * 1024,
    // One of them is the directory that is being read.
    openFiles: readdirSync('/proc/self/fd').length - 1,
    maxFiles: Number(softLimit),
  }
}

/** A line of names and a line of values, in this order. */
function readIpCounters(netstat: string): Readonly<Record<string, number | undefined>> {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '))
  return Object.fromEntries(names.map((name, index) => [name, Number(values[index])]))
}
