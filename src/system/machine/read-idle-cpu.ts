import { readFileSync } from 'node:fs'

/** For how long CPUs of the machine had nothing to do since it started, all of them added up, in milliseconds. */
export function readIdleCpu(): number {
  const [, seconds] = readFileSync('/proc/uptime', 'utf8').split(' ')
  return Number(seconds) * 1000
}
