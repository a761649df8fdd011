import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Opens a container's log as a runtime does: the file is there afterwards. */
export function openLog(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, '')
}

/** Appends one full line in CRI's log format. */
export function appendLog(path: string, stream: 'stdout' | 'stderr', nowMs: number, text: string): void {
  appendFileSync(path, `${new Date(nowMs).toISOString().replace('Z', '000000Z')} ${stream} F ${text}\n`)
}
