import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const METRICS = 'http://127.0.0.1:10255/metrics'

describe('an agent with other feature gates than usual, on a real runtime', () => {
  let node: TestNode
  before(async () => {
    node = await TestNode.start({
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
        logging: { options: { text: { splitStream: true, infoBufferSize: '64Ki' } }, flushFrequency: '1s' },
      },
    })
  })
  after(() => node[Symbol.asyncDispose]())

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
})
