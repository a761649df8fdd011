import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { createSystemdNotifier, findNotifyFile, parseWatchdog } from './notify-systemd.ts'

describe('findNotifyFile()', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, number | undefined])[] = [
    ['the only one', { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify' }, 3],
    ['one of several', { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'a:notify:b' }, 4],
    ['none of that name', { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'other' }, undefined],
    ['names without files', { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'a:notify' }, undefined],
    ['those of another process', { LISTEN_PID: '8', LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify' }, undefined],
    ['nothing', {}, undefined],
  ]
  for (const [name, environment, expected] of rows)
    test(`of ${name}`, () => assert.equal(findNotifyFile(environment, 7), expected))
})

test('a process writes to the file that was opened for it, and starts no program', () => {
  const folder = makeTemporaryFolder()
  const file = join(folder, 'notify')
  const script = `
    import { createSystemdNotifier } from ${JSON.stringify(join(import.meta.dirname, 'notify-systemd.ts'))}
    const notify = createSystemdNotifier({ LISTEN_PID: String(process.pid), LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify' })
    await notify('READY=1')
    await notify('WATCHDOG=1')`
  const opened = openSync(file, 'w')
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe', opened],
  })
  closeSync(opened)
  assert.equal(status, 0, stderr)
  assert.equal(readFileSync(file, 'utf8'), 'READY=1WATCHDOG=1')
})

test('without an open file, or without systemd’s program, nothing fails', async (t) => {
  const path = process.env['PATH']
  t.after(() => void (process.env['PATH'] = path))
  process.env['PATH'] = '/nowhere'
  await createSystemdNotifier({})('READY=1')
})

describe('parseWatchdog()', () => {
  const rows: readonly (readonly [text: string | undefined, ms: number | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['30000000', 30_000],
    ['1000001', 1000.001],
  ]
  for (const [text, ms] of rows) {
    test(`takes ${text ?? 'nothing'} as ${ms ?? 'no watchdog'}`, () => {
      assert.equal(parseWatchdog({ WATCHDOG_USEC: text }), ms)
    })
  }

  for (const text of ['0', '1000000', '-1', '1.5', '30s', 'NaN']) {
    test(`refuses ${text}`, () => {
      assert.throws(() => parseWatchdog({ WATCHDOG_USEC: text }), /^Error: Cannot use WATCHDOG_USEC=/)
    })
  }
})
