import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { computeNodeLayout } from '../node-layout.ts'
import { createPortReporter, readPortProblems } from './ingress-problems.ts'

test('ports that cannot be listened on are said, also to other commands, until they can', async () => {
  const layout = computeNodeLayout(makeTemporaryFolder())
  const lines: string[] = []
  const report = createPortReporter({ say: (line) => void lines.push(line) }, layout)
  assert.equal(await readPortProblems(layout), undefined)
  const problem = { protocol: 'https', port: 443, why: 'it is taken by another program' } as const
  await report({ open: { http: 80, https: undefined }, problems: [problem] })
  assert.deepEqual(await readPortProblems(layout), [problem])
  await report({ open: { http: 80, https: 443 }, problems: [] })
  assert.deepEqual(await readPortProblems(layout), [])
  assert.deepEqual(lines, [
    'warning: Ingresses: HTTPS on port 443 is not served: it is taken by another program',
    'Ingresses: HTTPS on port 443 is served now',
  ])
  await writeFile(layout.ingressProblems, '{"half')
  assert.equal(await readPortProblems(layout), undefined)
})
