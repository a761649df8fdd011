import { readFileSync } from 'node:fs'

/** When the machine started, in milliseconds since the epoch; undefined when the kernel does not say. */
export function readBootTime(): number | undefined {
  const [, seconds] = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
