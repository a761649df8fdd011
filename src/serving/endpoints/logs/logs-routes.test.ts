import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { serveRoutes, reported } from '../../../../test/fakes/serve-routes.ts'
import { systemClock } from '../../../base/async/clock.ts'
import { createHostJournal } from '../../../system/machine/host-journal.ts'
import { createNodeLogs } from '../../../system/directories/logs/node-logs.ts'
import { createLogsRoutes } from './logs-routes.ts'

// Stands for journalctl: knows one unit, and says what it was asked.
const JOURNAL = `case "$1" in --field) echo kubelet.service;; *) echo "$@";; esac`

async function setUp(t: TestContext, { withQuery = true } = {}) {
  const outside = makeTemporaryFolder()
  const root = join(outside, 'log')
  mkdirSync(join(root, 'pods', 'a b'), { recursive: true })
  writeFileSync(join(outside, 'secret'), 'secret')
  writeFileSync(join(root, 'syslog'), 'line\n')
  writeFileSync(join(root, 'empty.log'), '')
  writeFileSync(join(root, '<b>"&.txt'), 'x')
  writeFileSync(join(root, 'chrony.log'), 'time\n')
  symlinkSync('../secret', join(root, 'out'))
  symlinkSync('..', join(root, 'up'))
  symlinkSync('syslog', join(root, 'in'))
  symlinkSync('loop', join(root, 'loop'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const program = ['sh', '-c', JOURNAL, 'sh']
  const journal = withQuery ? createHostJournal({ clock: systemClock, program }) : undefined
  const ask = await serveRoutes(t, createLogsRoutes({ logs: createNodeLogs(root), journal }))
  return { ask, report: (path: string) => reported(ask(path)) }
}

describe('createLogsRoutes()', () => {
  test('shows files, and nothing that is not one or not among them', async (t) => {
    const { ask, report } = await setUp(t)
    const absent = [404, '404 page not found\n']
    const rows: readonly (readonly [string, readonly unknown[]])[] = [
      ['/logs/syslog', [200, 'line\n']],
      ['/logs/in', [200, 'line\n']],
      ['/logs/empty.log', [200, '']],
      ['/logs/absent', absent],
      ['/logs/syslog/more', absent],
      ['/logs/out', absent],
      ['/logs/up/secret', absent],
      ['/logs/up', absent],
      ['/logs/loop', absent],
      ['/logs/pipe', absent],
      ['/logs/..%2fsecret', absent],
      [`/logs/${'a'.repeat(300)}`, absent],
    ]
    for (const [path, answer] of rows) assert.deepEqual(await report(path), answer, path)
    const { headers } = await ask('/logs/syslog')
    assert.deepEqual(
      [headers.get('content-type'), headers.get('x-content-type-options')],
      ['text/plain; charset=utf-8', 'nosniff'],
    )
  })

  test('lists folders with links that work with and without a slash at the end', async (t) => {
    const { report } = await setUp(t)
    const [status, body] = await report('/logs/')
    assert.equal(status, 200)
    assert.match(body, /<a href=".\/%3Cb%3E%22%26.txt">&lt;b&gt;&#34;&amp;.txt<\/a>/)
    assert.match(body, /<a href=".\/pods\/">pods\/<\/a>/)
    assert.match((await report('/logs'))[1], /<a href=".\/logs\/pods\/">/)
    assert.match((await report('/logs/pods'))[1], /<a href=".\/pods\/a%20b\/">a b\/<\/a>/)
  })

  test('asks the journal for services, and takes files of those that it does not know', async (t) => {
    const { report } = await setUp(t)
    assert.deepEqual(await report('/logs/?query=kubelet&tailLines=2'), [
      200,
      '--utc --no-pager --output=short-precise --pager-end --lines=2 --unit=kubelet\n',
    ])
    assert.deepEqual(await report('/logs/?query=chrony&query=kubelet'), [
      200,
      '--utc --no-pager --output=short-precise --unit=kubelet\ntime\n',
    ])
    assert.deepEqual(await report('/logs/?query=nothing'), [200, 'no log of nothing is here\n'])
    assert.match((await report('/logs/?query=chrony&tailLines=1'))[1], /expected no options/)
    assert.deepEqual(await report('/logs/?query=/syslog'), [200, 'line\n'])
    assert.equal((await report('/logs/?query=../secret'))[0], 406)
    assert.equal((await report('/logs/?query=/out'))[0], 406)
    assert.equal((await report('/logs/syslog?query=kubelet'))[0], 406)
    assert.equal((await report('/logs/?query=a&boot=x'))[0], 400)
  })

  test('packs the answer for those who ask for just that', async (t) => {
    const { ask } = await setUp(t)
    const response = await ask('/logs/?query=/syslog', { headers: { 'accept-encoding': 'gzip' } })
    assert.deepEqual([response.headers.get('content-encoding'), await response.text()], ['gzip', 'line\n'])
  })

  test('answers no question where that is switched off', async (t) => {
    const { report } = await setUp(t, { withQuery: false })
    assert.deepEqual(await report('/logs/syslog?query=kubelet'), [200, 'line\n'])
  })
})
