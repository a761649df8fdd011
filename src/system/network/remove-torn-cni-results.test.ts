import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { until } from '../../../test/fakes/until.ts'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { removeTornCniResults } from './remove-torn-cni-results.ts'

const never = new AbortController().signal

test('removeTornCniResults() removes what is and stays empty, and nothing else', async () => {
  const folder = makeTemporaryFolder()
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('pods-whole-eth0', '{}')
  write('pods-torn-eth0', '')
  write('pods-being-written-eth0', '')
  mkdirSync(join(folder, 'folder'))
  const clock = new FakeClock()
  const done = removeTornCniResults({ clock, log: silentLogger }, never, folder)
  await until(() => clock.sleeping === 1)
  write('pods-being-written-eth0', '{}')
  write('pods-new-eth0', '')
  await clock.advance(1000)
  await done
  assert.deepEqual(readdirSync(folder).toSorted(), [
    'folder',
    'pods-being-written-eth0',
    'pods-new-eth0',
    'pods-whole-eth0',
  ])
})

test('removeTornCniResults() does not wait where nothing is empty or no folder is there', async () => {
  const folder = makeTemporaryFolder()
  writeFileSync(join(folder, 'pods-whole-eth0'), '{}')
  const deps = { clock: new FakeClock(), log: silentLogger }
  await removeTornCniResults(deps, never, folder)
  await removeTornCniResults(deps, never, join(folder, 'none'))
  assert.deepEqual(readdirSync(folder), ['pods-whole-eth0'])
})
