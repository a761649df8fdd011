import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../base/async/clock.ts'
import { createUnit, runInstall, runUninstall } from './install.ts'
import { NodeError } from './node/node-error.ts'

const signal = new AbortController().signal

function setUp(t: { after(work: () => void): void }) {
  const root = makeTemporaryFolder()
  const [units, running, bin] = [`${root}/units`, `${root}/running`, `${root}/bin`]
  mkdirSync(bin)
  writeFileSync(
    `${bin}/systemctl`,
    `#!/bin/sh\necho "$*" >> ${root}/calls\ncase "$*" in *fail*) echo no >&2; exit 1;; esac\n`,
  )
  chmodSync(`${bin}/systemctl`, 0o755)
  const path = process.env['PATH']
  process.env['PATH'] = `${bin}:${path}`
  t.after(() => void (process.env['PATH'] = path))
  const said: string[] = []
  const deps = {
    clock: systemClock,
    say: (line: string) => void said.push(line),
    ownKubelet: [],
    ownCommand: '/opt/deckhand/bin/deckhand',
    pid: 1,
    programPath: '',
    userId: 0,
    systemd: { units, running },
  }
  return { deps, said, running, unit: `${units}/deckhand.service`, calls: () => readFileSync(`${root}/calls`, 'utf8') }
}

describe('install and uninstall', () => {
  test('write, start, stop and remove a unit', async (t) => {
    const { deps, unit, running, calls, said } = setUp(t)
    mkdirSync(running)
    await runInstall(deps, ['--apply=/srv/my apps', '--port=1'], signal)
    assert.match(
      readFileSync(unit, 'utf8'),
      /^ExecStart=\/opt\/deckhand\/bin\/deckhand up "--apply=\/srv\/my apps" --port=1$/m,
    )
    await runUninstall(deps, signal)
    await runUninstall(deps, signal)
    assert.equal(existsSync(unit), false)
    assert.equal(
      calls(),
      'daemon-reload\nenable --now deckhand.service\ndisable --now deckhand.service\ndaemon-reload\n',
    )
    assert.equal(said.at(-1), 'The service is not installed.')
  })

  test('need root and systemd', async (t) => {
    const { deps, unit } = setUp(t)
    await assert.rejects(runInstall(deps, [], signal), NodeError)
    await assert.rejects(runInstall({ ...deps, userId: 1000 }, [], signal), /needs root/)
    assert.equal(existsSync(unit), false)
  })

  test('a unit takes every argument as it is', () => {
    assert.match(
      createUnit(['/bin/x', '50%', 'a"b', '$HOME', '\\']),
      /^ExecStart=\/bin\/x "50%%" "a\\"b" "\$\$HOME" "\\\\"$/m,
    )
  })
})
