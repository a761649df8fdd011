import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../base/async/clock.ts'
import { runLogs } from './logs.ts'

test('runLogs() shows the last lines, follows what is added, also when the log is emptied', async (t) => {
  const state = makeTemporaryFolder()
  mkdirSync(`${state}/logs`)
  const file = `${state}/logs/api.log`
  writeFileSync(file, 'a\nb\nc\nd\n')
  const shown: string[] = []
  const deps = {
    clock: systemClock,
    say() {},
    write: (text: string) => void shown.push(text),
    ownKubelet: [],
    pid: 1,
    programPath: '',
    userId: 0,
  }
  const until = async (text: string) => {
    while (shown.join('') !== text) await sleep(5, undefined, { signal: t.signal })
  }
  const stop = new AbortController()
  await runLogs(deps, { state, part: 'api', follow: false, lines: 2 }, stop.signal)
  assert.equal(shown.join(''), 'c\nd\n')
  const following = runLogs(deps, { state, part: 'api', follow: true, lines: 0 }, stop.signal)
  await sleep(20)
  appendFileSync(file, 'e\n')
  await until('c\nd\ne\n')
  truncateSync(file)
  appendFileSync(file, 'f\n')
  await until('c\nd\ne\nf\n')
  stop.abort(new Error('enough'))
  await assert.rejects(following, /enough/)
  await assert.rejects(
    runLogs(deps, { state, part: 'agent', follow: false, lines: 2 }, stop.signal),
    /^NodeError: There is no log of agent: .*kubelet\.log$/,
  )
  await assert.rejects(
    runLogs(deps, { state, part: 'runtime', follow: false, lines: 2 }, stop.signal),
    /containerd\.log; a runtime that is not the own containerd, such as Docker, keeps its log itself$/,
  )
})
