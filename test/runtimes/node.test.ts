/** What the Node object shows of a runtime, and devices of a claim, which need an API server. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { ResourceClaim } from '../../src/model/resources/resource-claim.ts'
import { SECOND_HANDLER } from '../e2e/lab/second-handler.ts'
import { StandaloneNode } from '../e2e/support/standalone-node.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { FakeDraDriver } from '../fakes/fake-dra-driver.ts'
import { FakePlugin } from '../fakes/fake-plugin.ts'
import { notApplicable } from './outcomes.ts'

const DRIVER = 'gpu.example'
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims'

describe('the node of this runtime', () => {
  let node: StandaloneNode
  let version = ''

  before(async () => {
    node = await StandaloneNode.start()
    const { status } = await node.node()
    version = (status?.nodeInfo?.containerRuntimeVersion ?? '').replace('containerd://', '')
  })
  after(() => node[Symbol.asyncDispose]())

  test('shows its handlers and what they can do', async (t) => {
    const { status } = await node.node()
    const handlers = status?.runtimeHandlers ?? []
    if (handlers.length === 0) return notApplicable(t, 'the runtime reports no handlers')
    const names = handlers.map(({ name = '' }) => name)
    assert.deepEqual([...names].sort(), ['', 'runc', SECOND_HANDLER])
    for (const { features } of handlers)
      assert.deepEqual([typeof features?.userNamespaces, features?.recursiveReadOnlyMounts], ['boolean', true])
    assert.equal(status?.features?.supplementalGroupsPolicy, true)
  })

  test('a device of a claim comes by its CDI name', async (t) => {
    if (/^v?1\.[0-6]\./.test(version)) return notApplicable(t, 'containerd has CDI from 1.7 on')
    const { folder } = node.lab
    await writeFile(
      `${folder}/cdi.json`,
      JSON.stringify({
        cdiVersion: '0.5.0',
        kind: 'vendor.example/device',
        devices: [{ name: 'gpu', containerEdits: { env: ['CDI=claimed'] } }],
      }),
    )
    await node.lab.runInside(['mkdir', '-p', '/run/cdi'])
    await node.lab.runInside(['cp', `${folder}/cdi.json`, '/run/cdi/vendor.json'])
    using driver = await FakeDraDriver.start(`${folder}/driver.sock`)
    const registry = `${node.state}/kubelet/plugins_registry`
    await node.waitFor('the folder for plugins', async () => existsSync(registry))
    using plugin = await FakePlugin.start(`${registry}/gpu.sock`, {
      type: 'DRAPlugin',
      name: DRIVER,
      endpoint: driver.path,
      supportedVersions: ['v1.DRAPlugin'],
    })
    await node.waitFor('the registration', async () => plugin.reported.at(-1)?.pluginRegistered === true)
    const spec = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example' } }] } }
    const claim = await node.create<ResourceClaim>(CLAIMS, {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name: 'gpu', namespace: 'default' },
      spec,
    })
    const container = testContainer('main', scripts.obedient, { resources: { claims: [{ name: 'gpu' }] } })
    const pod = testPod('claimed', {
      containers: [container],
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
    })
    await node.apply(pod)
    const { metadata } = await node.podIs('claimed', 'created', () => true)
    const results = [{ request: 'gpu', driver: DRIVER, pool: 'pool', device: 'device-0' }]
    const reservedFor = [{ resource: 'pods', name: 'claimed', uid: metadata.uid }]
    await node.replace(`${CLAIMS}/gpu/status`, {
      ...claim,
      status: { allocation: { devices: { results } }, reservedFor },
    })
    const ready = await node.ready('claimed')
    assert.equal(await node.runIn(ready, 'sh', '-c', 'echo $CDI'), 'claimed\n')
    assert.deepEqual(driver.asked, ['prepare gpu'])
  })
})
