import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const METRICS = 'http://127.0.0.1:10255/metrics'
const FLUSH_MS = 1000
// Timers may be late, never early by more than their own rounding.
const ROUNDING_MS = 50

describe('an agent with other feature gates than usual, on a real runtime', () => {
  let node: TestNode
  let folder: string
  let standardOutput: string
  before(async () => {
    folder = await mkdtemp(`${tmpdir()}/deckhand-streams-`)
    standardOutput = `${folder}/stdout`
    node = await TestNode.start({
      // The lab writes both streams to one file.
      through: ['sh', '-c', 'exec "$@" > "$0"', standardOutput],
      config: {
        featureGates: {
          CRIListStreaming: true,
          LoggingAlphaOptions: true,
          NativeHistograms: true,
          PLEGOnDemandRelist: false,
          PodAndContainerStatsFromCRI: true,
          PodLevelResourceManagers: true,
          PodReadyToStartContainersCondition: false,
          RuntimeClassInImageCriApi: true,
        },
        logging: { options: { text: { splitStream: true, infoBufferSize: '64Ki' } }, flushFrequency: `${FLUSH_MS}ms` },
      },
    })
  })
  after(async () => {
    await node[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  test('runs a pod, and restarts its container', async () => {
    await node.lab.manifests.write('web', testPod('web', { containers: [testContainer('main', scripts.obedient)] }))
    const pod = await node.ready('web')
    assert.ok(!pod.status?.conditions?.some(({ type }) => type === 'PodReadyToStartContainers'))
    const [container] = await node.running('web')
    await node.killProcess(container?.id ?? '')
    await node.podIs('web', 'restarted', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1)
  })

  test('says at the start what has no effect, and shows what holds', async () => {
    const said = await node.waitFor('the log', async () => {
      const log = (await node.agent.log()).join('\n')
      return log.includes('node registered') || log.includes('NativeHistograms') ? log : undefined
    })
    assert.match(said, /^W.*Feature gate NativeHistograms=true has no effect: /m)
    const { body } = await node.lab.network.get(METRICS)
    const enabled = (name: string) =>
      new RegExp(`^kubernetes_feature_enabled\\{name="${name}",stage="\\w*"\\} (\\d)$`, 'm').exec(body)?.[1]
    assert.deepEqual(
      ['NativeHistograms', 'PodLevelResourceManagers', 'EventedPLEG', 'CRIListStreaming', 'PLEGOnDemandRelist'].map(
        enabled,
      ),
      ['0', '1', '1', '1', '0'],
    )
    assert.match(body, /^kubelet_metrics_provider\{provider="cri"\} 1$/m)
  })

  test('reports what the pod uses, from the runtime or from its cgroups', async () => {
    const body = await node.waitFor('the usage of the pod', async () => {
      const reply = await node.lab.network.get('http://127.0.0.1:10255/metrics/resource')
      return reply.body.includes('container="main"') ? reply.body : undefined
    })
    assert.match(body, /^pod_memory_working_set_bytes\{.*pod="web-.*\} [1-9]/m)
  })

  test('writes info to stdout, held back for the flush frequency, and warnings and errors to stderr', async () => {
    const before = (await stat(standardOutput)).size
    const writes = new Set<number>()
    for (const end = performance.now() + 4 * FLUSH_MS; performance.now() < end; await sleep(10)) {
      const { mtimeMs } = await stat(standardOutput)
      if (!writes.has(mtimeMs)) await node.lab.manifests.write(`more-${writes.size}`, testPod(`more-${writes.size}`))
      writes.add(mtimeMs)
    }
    const times = [...writes]
    const gaps = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)))
    assert.ok((await stat(standardOutput)).size > before && gaps.length > 1, `nothing was written: ${gaps.join()}`)
    assert.deepEqual(
      gaps.filter((ms) => ms < FLUSH_MS - ROUNDING_MS),
      [],
      'ms between two writes',
    )

    await node.agent.kill()
    const info = (await readFile(standardOutput, 'utf8')).trimEnd().split('\n')
    const rest = await node.agent.log()
    assert.match(info.at(-1) ?? '', /leaving, pods keep running/, 'what was held back is written at the end')
    assert.deepEqual([...new Set(info.map((line) => line.charAt(0)))], ['I'])
    assert.ok(rest.length > 0 && rest.every((line) => !/^I\d{4} /.test(line)), rest.join('\n'))
  })
})
