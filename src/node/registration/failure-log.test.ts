import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from '../../base/telemetry/logger.ts'
import { FailureLog } from './failure-log.ts'

test('FailureLog reports each kind of failure once, and its end', () => {
  const lines: string[] = []
  const say = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const log: Logger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    child: () => log,
  }
  const failures = new FailureLog(log, 'do it')
  failures.worked()
  for (const text of ['a', 'a', 'b', 'b']) failures.failed(new Error(text))
  failures.worked()
  failures.worked()
  failures.failed('b')
  const failed = 'warn cannot do it, will try again'
  assert.deepEqual(lines, [failed, failed, 'info can do it again', failed])
})
