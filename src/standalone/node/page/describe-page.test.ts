import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { computeNodeLayout } from '../node-layout.ts'
import { describePage } from './describe-page.ts'
import { writePageAccess } from './page-access.ts'

test('how to get to the page is said where it is served, with a link for a person alone', async (t) => {
  const state = mkdtempSync(join(tmpdir(), 'deckhand-page-'))
  t.after(() => rmSync(state, { recursive: true }))
  const layout = computeNodeLayout(state)
  const clock = new FakeClock()
  assert.equal(await describePage({ isTerminal: true, clock }, layout), undefined)
  await writePageAccess(layout, { port: 6080, key: 'secret' })
  const command = `bin/deckhand page --state ${state}`
  assert.equal(await describePage({ isTerminal: false, clock }, layout), `${command} prints a link for a browser`)
  const [link, ...rest] = ((await describePage({ isTerminal: true, clock }, layout)) ?? '').split(' ')
  assert.match(link ?? '', /^http:\/\/127\.0\.0\.1:6080\/sign-in\?token=admin\./)
  assert.equal(rest.join(' '), `(once; a new link: ${command})`)
})
