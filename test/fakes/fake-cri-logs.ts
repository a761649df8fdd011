import { appendFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RuntimeLogs } from '../../src/simulation/runtime/runtime-logs.ts'

/** Logs in files, in CRI's format, as a runtime writes them. */
export const fileLogs: RuntimeLogs = {
  open(path) {
    if (existsSync(path)) return
    mkdirSync(dirname(path), { recursive: true })
    appendFileSync(path, '')
  },
  append(path, stream, nowMs, text) {
    appendFileSync(path, `${new Date(nowMs).toISOString().replace('Z', '000000Z')} ${stream} F ${text}\n`)
  },
}
