import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../base/async/clock.ts'
import type { RuntimeAnswer } from './node/node-deps.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { SWITCHABLE_PARTS } from './node/switchable-parts.ts'
import { runStatus } from './status.ts'

const ENDPOINT = 'unix:///var/run/docker.sock'

/** What "status" says of the runtime of a node whose agent does not run. */
async function runtimeLine(answer: RuntimeAnswer): Promise<string | undefined> {
  return (await linesOf(answer)).find((line) => line.startsWith('runtime'))
}

async function linesOf(answer: RuntimeAnswer, fields: object = {}): Promise<readonly string[]> {
  const state = makeTemporaryFolder()
  const ports = { kubernetes: 1, agent: 2, healthz: 3 }
  const record = {
    nodeName: 'n',
    cgroupRoot: '/deckhand-none',
    manifests: `${state}/manifests`,
    runtime: ENDPOINT,
    ports,
    ...fields,
  }
  await writeFile(computeNodeLayout(state).record, JSON.stringify(record))
  const lines: string[] = []
  const deps = {
    clock: systemClock,
    say: (line: string) => void lines.push(line),
    ownKubelet: [],
    pid: 1,
    programPath: '',
    userId: 0,
    openClient: () => assert.fail('there is no API'),
    askRuntime: async (endpoint: string) => {
      assert.equal(endpoint, ENDPOINT)
      return answer
    },
  }
  assert.equal(await runStatus(deps, state, new AbortController().signal), 3)
  return lines
}

describe('runStatus()', () => {
  test('says whether the runtime of the user answers, and what it is', async () => {
    assert.equal(await runtimeLine('docker'), `runtime    Docker at ${ENDPOINT}`)
    assert.equal(await runtimeLine('other'), `runtime    ${ENDPOINT}`)
  })

  test('says that it is away', async () => {
    const consequence = 'so no pod can be started or stopped'
    assert.equal(await runtimeLine('nothing'), `runtime    ${ENDPOINT} is away: nothing listens there, ${consequence}`)
    assert.equal(await runtimeLine('silent'), `runtime    ${ENDPOINT} does not answer, ${consequence}`)
  })
})

test('status says of each part that it is switched off', async () => {
  for (const part of Object.keys(SWITCHABLE_PARTS)) {
    const lines = await linesOf('docker', { without: [part] })
    const said = lines.filter((line) => line.includes('--without'))
    assert.equal(said.length, 1, said.join('\n'))
    assert.match(
      said[0] ?? '',
      new RegExp(`switched off \\(--without ${part}\\)$|^left out {3}${part} \\(--without\\)$`),
    )
  }
})

test('status says which parts are switched off, and why policies are not taken', async () => {
  const about = (lines: readonly string[]) =>
    lines.filter((line) => /^(services|names|policies|ingress|left out) /.test(line))
  const all = about(await linesOf('docker'))
  assert.match(all[0] ?? '', /^services {3}addresses in 10\.\d+\.0\.0\/16, not forwarded: "deckhand up" does not run$/)
  assert.equal(all[1], 'names      not answered: "deckhand up" does not run')
  assert.match(all[2] ?? '', /^policies {3}not taken: the network of the pods belongs to another runtime \(unix:/)
  assert.equal(all[3], 'ingress    not served: no port was named for it')
  const served = about(await linesOf('docker', { ingressPorts: { http: 80, https: 443 } }))
  assert.equal(served[3], 'ingress    not served: "deckhand up" does not run')
  assert.deepEqual(
    about(await linesOf('docker', { without: ['services', 'dns', 'policies', 'ingress', 'jobs', 'scheduler'] })),
    [
      'services   switched off (--without services)',
      'names      switched off (--without dns)',
      'policies   switched off (--without policies)',
      'ingress    switched off (--without ingress)',
      'left out   jobs, scheduler (--without)',
    ],
  )
})
