/**
 * Runs several test files in this process, one after the other: TIMEOUT_MS RESULTS FILE... "node --test --test-isolation=none" does the same, but it loads
 * what is to be loaded before the tests (untracked-promises.ts) only after it has begun to follow every promise.
 */
import './untracked-promises.ts'
import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { run } from 'node:test'
import quietReporter from './quiet-reporter.ts'
import resultReporter from './result-reporter.ts'

const [timeoutMs, results = '', ...files] = process.argv.slice(2)
const events = run({ files: files.map((file) => resolve(file)), isolation: 'none', timeout: Number(timeoutMs) })
events.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1
})
events.compose(quietReporter).pipe(process.stdout)
events.compose(resultReporter).pipe(createWriteStream(results))
