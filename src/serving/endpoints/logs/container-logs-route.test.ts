import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { FakeContainerLog } from '../../../../test/fakes/fake-container-log.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { serveUpgradableRoutes } from '../../../../test/fakes/serve-upgradable-routes.ts'
import { systemClock } from '../../../base/async/clock.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import { ContainerState as RuntimeState, ContainerStatusResponse } from '../../../protocols/cri/generated/runtime-v1.ts'
import { openLogDirectory } from '../../../system/directories/logs/log-directory.ts'
import type { ContainerState, PodStatus } from '../../../model/generated/core-v1.ts'
import { createContainerLogsRoute } from './container-logs-route.ts'

/** A container of the status, by its state now and before. */
function containerStatus(name: string, state: ContainerState, lastState: ContainerState = {}, id = '') {
  const containerID = id === '' ? undefined : `containerd://${id}`
  return { name, image: '', imageID: '', ready: false, restartCount: 0, state, lastState, containerID }
}

const running: ContainerState = { running: {} }
const ended = (id: string): ContainerState => ({
  terminated: { exitCode: 0, ...(id === '' ? {} : { containerID: `containerd://${id}` }) },
})
const waiting = (reason: string): ContainerState => ({ waiting: { reason } })

async function createWorld(t: TestContext, options: { splitStreams?: boolean } = {}) {
  const root = makeTemporaryFolder()
  const logs = new Map(['c1', 'c0'].map((id) => [id, new FakeContainerLog(join(root, 'shop_web_u-1', id, '0.log'))]))
  for (const [id, log] of logs) {
    t.after(() => log[Symbol.dispose]())
    log.print(`I am ${id}`)
    log.print('and complain', 'stderr')
  }
  const world = {
    status: {
      containerStatuses: [
        containerStatus('main', running, ended('c0'), 'c1'),
        containerStatus('ended', ended('c0'), {}, 'c0'),
        containerStatus('not-started', ended(''), ended('c0')),
        containerStatus('lost', ended('')),
        containerStatus('crashing', waiting('CrashLoopBackOff'), ended('c0')),
        containerStatus('pulling', waiting('ImagePullBackOff')),
        containerStatus('creating', waiting('ContainerCreating')),
        containerStatus('unclear', {}),
        containerStatus('gone', running, {}, 'c9'),
      ],
    } as PodStatus,
    state: RuntimeState.CONTAINER_RUNNING as RuntimeState,
  }
  const names = ['main', 'ended', 'not-started', 'lost', 'crashing', 'pulling', 'creating', 'unclear', 'gone', 'unseen']
  const pod = createPod({ spec: { containers: names.map((name) => createContainer({ name })) } })
  const route = createContainerLogsRoute({
    views: () => [{ pod, status: world.status }],
    calls: {
      async containerStatus({ containerId = '' }) {
        const log = logs.get(containerId)
        if (log === undefined) throw new CriCallError('containerStatus', 'NotFound', `no container ${containerId}`)
        return ContainerStatusResponse.fromPartial({
          status: { id: containerId, logPath: log.path, state: world.state },
        })
      },
    },
    openDirectory: openLogDirectory,
    podLogsDirectory: root,
    splitStreams: options.splitStreams ?? false,
    clock: systemClock,
    log: silentLogger,
  })
  const { port } = await serveUpgradableRoutes(t, [route])
  const open = async (path: string): Promise<IncomingMessage> => {
    const request = get({ port, path: `/containerLogs/${path}`, agent: false })
    t.after(() => request.destroy())
    return ((await once(request, 'response')) as [IncomingMessage])[0]
  }
  const read = async (path: string): Promise<[number | undefined, string]> => {
    const response = await open(path)
    return [response.statusCode, await text(response)]
  }
  return { logs, world, open, read }
}

const undecodable = [400, '{"message": "Unable to decode query."}'] as const
const invalid = [422, '{"message": "Invalid request."}'] as const
const oldLog = 'I am c0\nand complain\n'

const rows: readonly (readonly [path: string, expected: readonly [status: number, body: string]])[] = [
  ['shop/web/main', [200, 'I am c1\nand complain\n']],
  ['shop/web/main?tailLines=1', [200, 'and complain\n']],
  ['shop/web/main?tail=1', [200, 'and complain\n']],
  ['shop/web/main?tail=all&tailLines=1', [200, 'I am c1\nand complain\n']],
  ['shop/web/main?limitBytes=4&container=x&insecureSkipTLSVerifyBackend=true', [200, 'I am']],
  ['shop/web/main?tailLines=1&timestamps', [200, '2026-01-01T00:00:01.500000000Z and complain\n']],
  ['shop/web/main?tailLines=1&timestamps=False', [200, 'and complain\n']],
  ['shop/web/main?sinceTime=2026-01-01T00:00:01Z', [200, 'and complain\n']],
  ['shop/web/main?sinceTime=', [200, 'I am c1\nand complain\n']],
  ['shop/web/main?sinceSeconds=5', [200, '']],
  ['shop/web/main?stream=All', [200, 'I am c1\nand complain\n']],
  ['shop/web/main?previous=1', [200, oldLog]],
  ['shop/web/ended', [200, oldLog]],
  ['shop/web/not-started', [200, oldLog]],
  ['shop/web/crashing', [200, oldLog]],
  ['shop/web/main?tailLines=x', undecodable],
  ['shop/web/main?tailLines=', undecodable],
  ['shop/web/main?limitBytes=9223372036854775808', undecodable],
  ['shop/web/main?sinceTime=yesterday', undecodable],
  ['shop/web/main?tailLines=-1', invalid],
  ['shop/web/main?limitBytes=0', invalid],
  ['shop/web/main?sinceSeconds=0', invalid],
  ['shop/web/main?sinceSeconds=1&sinceTime=2026-01-01T00:00:01Z', invalid],
  ['shop/other/main', [404, 'pod "other" does not exist']],
  ['bank/web/main', [404, 'pod "web" does not exist']],
  ['shop/web/other', [404, 'container "other" not found in pod "web"']],
  [
    'shop/web/main?stream=Stderr',
    [400, 'Cannot return the log stream "Stderr": the feature gate PodLogsQuerySplitStreams is off'],
  ],
  ['shop/web/ended?previous=true', [400, 'previous terminated container "ended" in pod "web" not found']],
  ['shop/web/lost', [400, 'container "lost" in pod "web" is terminated']],
  ['shop/web/pulling', [400, 'container "pulling" in pod "web" is waiting to start: trying and failing to pull image']],
  ['shop/web/creating', [400, 'container "creating" in pod "web" is waiting to start: ContainerCreating']],
  ['shop/web/unclear', [400, 'container "unclear" in pod "web" is waiting to start - no logs yet']],
  ['shop/web/unseen', [400, 'container "unseen" in pod "web" is not available']],
  ['shop/web/gone', [400, 'Cannot call "containerStatus": NotFound: no container c9']],
]

describe('/containerLogs', () => {
  test('answers as Kubernetes does', async (t) => {
    const { read } = await createWorld(t)
    const answers = await Promise.all(rows.map(async ([path]) => [path, await read(path)]))
    assert.deepEqual(answers, rows)
  })

  test('splits streams where the gate is on', async (t) => {
    const { read } = await createWorld(t, { splitStreams: true })
    assert.deepEqual(await read('shop/web/main?stream=Stderr'), [200, 'and complain\n'])
    assert.deepEqual(await read('shop/web/main?stream=Stdout&tailLines=1'), invalid)
    assert.deepEqual(await read('shop/web/main?stream=Both'), invalid)
  })

  test('answers at once that it follows, sends what is printed, and ends with the container', async (t) => {
    const { logs, world, open } = await createWorld(t)
    const response = await open('shop/web/main?follow=true&tailLines=1')
    assert.deepEqual([response.statusCode, response.headers['transfer-encoding']], [200, 'chunked'])
    // It has begun to read when there is something, and what is printed then is news.
    assert.equal(String((await once(response, 'data'))[0]), 'and complain\n')
    logs.get('c1')?.print('news')
    assert.equal(String((await once(response, 'data'))[0]), 'news\n')
    world.status = { containerStatuses: [containerStatus('main', ended('c1'), {}, 'c1')] }
    world.state = RuntimeState.CONTAINER_EXITED
    assert.equal(await text(response), '')
  })

  test('reads no further than a client that does not', async (t) => {
    const { logs, open } = await createWorld(t)
    const log = logs.get('c1')
    const line = 'x'.repeat(10_000)
    const count = 3000
    for (let at = 0; at < count; at += 1) log?.print(line)
    const response = await open('shop/web/main?follow=true')
    response.pause()
    const before = process.memoryUsage().arrayBuffers
    log?.print('last')
    // Nothing that could be waited for happens when nothing is read.
    await new Promise((resolve) => setTimeout(resolve, 100))
    const heldBytes = process.memoryUsage().arrayBuffers - before
    assert.ok(heldBytes < 10_000_000, `${heldBytes} bytes are held of 30 MB`)
    const expectedBytes = `I am c1\nand complain\n${`${line}\n`.repeat(count)}last\n`.length
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= expectedBytes) break
    }
    assert.equal(String(Buffer.concat(chunks)), `I am c1\nand complain\n${`${line}\n`.repeat(count)}last\n`)
  })
})
