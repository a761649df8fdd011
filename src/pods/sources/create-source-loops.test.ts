import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { until } from '../../../test/component/create-agent.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { loadFields } from '../../../test/fakes/load-settings.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { PodConfigMux } from './pod-config-mux.ts'
import { createInMemoryManifests } from '../../simulation/machine/in-memory-state.ts'
import { RefusedManifests } from './refused-manifests.ts'
import { createSourceLoops, sourceNames } from './create-source-loops.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

const MANIFEST = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'main', image: 'x' }] },
})

describe('sourceNames()', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, []],
    [{ staticPodPath: '/manifests' }, ['file']],
    [{ staticPodURL: 'http://127.0.0.1/pods' }, ['http']],
    [{ staticPodPath: '/manifests', staticPodURL: 'http://127.0.0.1/pods' }, ['file', 'http']],
  ]
  for (const [fields, expected] of cases) {
    test(`of ${JSON.stringify(fields)}`, async () => {
      const settings = await loadFields(fields)
      assert.deepEqual(sourceNames(settings), [...expected, 'api'])
      assert.deepEqual(sourceNames({ ...settings, withoutApi: true }), expected)
    })
  }
})

async function run(fields: object) {
  const settings = { ...(await loadFields(fields)), withoutApi: true }
  const clock = new FakeClock(Date.now())
  const updates: string[] = []
  const lines: string[] = []
  const say = (message: string) => void lines.push(message)
  const log: Logger = { error: say, warn: say, info: say, debug: say, child: () => log }
  let seen = 0
  const mux = new PodConfigMux({
    onAllSeen: () => void (seen += 1),
    sources: sourceNames(settings),
    clock,
    onEvent: () => {},
    deliver: ({ operation, source, pods }) =>
      void updates.push([operation, source, ...pods.map(({ metadata }) => metadata.name)].join(' ')),
  })
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  for (const loop of createSourceLoops({
    settings,
    host: { lastGoodManifests: createInMemoryManifests },
    hasObjects: false,
    refused: new RefusedManifests(),
    runApi: undefined,
    mux,
    clock,
    random: () => 0,
    log,
    onRefused: () => {},
  }))
    group.run(loop.name, loop.run)
  const running = group.join()
  running.catch(() => {})
  return {
    clock,
    updates,
    lines,
    seen: () => seen,
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error('leave'))
      await running
    },
  }
}

describe('createSourceLoops()', () => {
  test('has seen all at once when there is none, and says that this is odd', async () => {
    await using sources = await run({})
    await until(() => sources.seen() === 1, 'all seen')
    assert.deepEqual(sources.lines, [
      'no source of pods is configured: set staticPodPath, staticPodURL or --etcd-servers',
    ])
  })

  test('has seen all only when each source has reported what it has, and says so once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'source-loops-'))
    writeFileSync(join(folder, 'web.json'), MANIFEST)
    let answer = 500
    const server = createServer((_, response) => {
      response.writeHead(answer, { 'content-type': 'application/json' }).end(MANIFEST.replace('web', 'remote'))
    })
    server.listen(0, '127.0.0.1')
    await until(() => server.listening, 'the server')
    const { port } = server.address() as AddressInfo
    try {
      await using sources = await run({
        staticPodPath: folder,
        staticPodURL: `http://127.0.0.1:${port}/pods`,
        httpCheckFrequency: '1s',
      })
      await until(() => sources.updates.length === 1, 'the pod of the file')
      assert.deepEqual(sources.updates, ['ADD file web-node-1'])
      assert.equal(sources.seen(), 0)
      answer = 200
      const giveUpAt = performance.now() + 5000
      while (sources.seen() === 0 && performance.now() < giveUpAt) await sources.clock.advance(100)
      assert.deepEqual(sources.updates, ['ADD file web-node-1', 'ADD http remote-node-1'])
      await sources.clock.advance(5000)
      assert.equal(sources.seen(), 1)
    } finally {
      server.close()
      server.closeAllConnections()
      rmSync(folder, { recursive: true })
    }
  })
})
