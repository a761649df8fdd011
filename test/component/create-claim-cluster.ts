import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { PodSpec } from '../../src/model/generated/core-v1.ts'
import { createDynamicResourcesApi } from '../../src/pods/objects/dynamic-resources-api.ts'
import { FakeDraDriver } from '../fakes/fake-dra-driver.ts'
import type { FakeDraDriverOptions } from '../fakes/fake-dra-driver.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import type { AgentOptions, World } from './create-agent.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import { ApiReturn } from '../../src/protocols/kube-api/list-watch/api-return.ts'

export const DRIVER = 'gpu.example'
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims'
const SLICES = '/apis/resource.k8s.io/v1/resourceslices'

/** A spec whose one container has the devices of a claim. */
export function specWith(claim: { readonly resourceClaimName?: string; readonly resourceClaimTemplateName?: string }) {
  return {
    resourceClaims: [{ name: 'gpu', ...claim }],
    containers: [
      {
        name: 'main',
        image: 'registry.test/app:1',
        imagePullPolicy: 'IfNotPresent',
        resources: { claims: [{ name: 'gpu' }] },
      },
    ],
  } satisfies Partial<PodSpec>
}

/** The real API with claims, a driver on the node, and what an agent leaves on the disk. */
export async function createClaimCluster(t: TestContext, world: World) {
  const cluster = await createCluster(t, world)
  const root = makeTemporaryFolder()
  mkdirSync(join(root, 'plugins_registry'))
  const endpoint = join(root, 'driver.sock')
  const files = { state: new FakeStateFile('dra_manager_state'), health: new FakeStateFile('dra_health_state') }
  for (const file of Object.values(files)) world.otherFiles.set(file.path, file)
  const counted: string[] = []
  const metrics = {
    draOperation: ({ name, failed }) => void counted.push(`${name} ${failed ? 'failed' : 'ok'}`),
    draCall: ({ driver, code }) => void counted.push(`${driver} ${code}`),
  } satisfies AgentOptions['metrics']
  const nodeEvents: string[] = []
  const dynamicResources = createDynamicResourcesApi({
    client: cluster.client,
    nodeName: 'node-1',
    isRegistered: () => true,
    apiReturn: new ApiReturn(),
  })
  const must = async (method: string, path: string, body: object) => {
    const answer = await cluster.ask(method, path, { body })
    if (answer.status >= 300) throw new Error(`Cannot ${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body as { readonly metadata: { readonly uid: string } }
  }
  return {
    cluster,
    files,
    counted,
    nodeEvents,
    /** The socket at which the driver serves. */
    endpoint,
    /** The root directory of an agent that finds plugins. */
    root,
    driver: async (options: FakeDraDriverOptions = {}): Promise<FakeDraDriver> => {
      const driver = await FakeDraDriver.start(endpoint, options)
      t.after(() => driver[Symbol.dispose]())
      return driver
    },
    /** An agent of the cluster; its drivers are registered by the test, unless it runs the loop that finds them. */
    join: async (options: AgentOptions = {}) => {
      const given = { dynamicResources, metrics, nodeEvents, ...options }
      const agent = await joinCluster(world, cluster, given)
      agent.setPods([])
      return { agent, dra: agent.dra }
    },
    /** Creates a claim, and allocates its devices to its pods as the scheduler does. */
    claim: async (name: string, metadata: object = {}) => {
      const requests = [{ name: 'one', exactly: { deviceClassName: 'gpu' } }]
      await must('POST', CLAIMS, { metadata: { name, ...metadata }, spec: { devices: { requests } } })
    },
    allocate: async (name: string, ...podUids: readonly string[]) => {
      const claim = await must('GET', `${CLAIMS}/${name}`, {})
      const results = [{ request: 'one', driver: DRIVER, pool: 'pool', device: 'device-0' }]
      const reservedFor = podUids.map((uid) => ({ resource: 'pods', name: uid, uid }))
      const status = { allocation: { devices: { results } }, reservedFor }
      await must('PUT', `${CLAIMS}/${name}/status`, { ...claim, status })
    },
    publish: async (name: string, nodeName: string, driver = DRIVER) => {
      const pool = { name: 'pool', generation: 1, resourceSliceCount: 1 }
      await must('POST', SLICES, { metadata: { name }, spec: { driver, nodeName, pool, devices: [] } })
    },
    slices: async (): Promise<readonly string[]> => {
      const { body } = await cluster.ask('GET', SLICES)
      return (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
    },
  }
}
