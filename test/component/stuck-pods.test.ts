import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EventCorrelator } from '../../src/protocols/kube-api/events/event-correlator.ts'
import { EventFactory } from '../../src/protocols/kube-api/events/event-factory.ts'
import { ApiReturn } from '../../src/protocols/kube-api/list-watch/api-return.ts'
import { CgroupError } from '../../src/model/resources/cgroup-error.ts'
import { startAgent } from './create-agent.ts'
import type { AgentOptions, World } from './create-agent.ts'
import { specWith } from './create-claim-cluster.ts'
import { createWantedContainer, createWantedPod, createWorld } from './create-world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const volumes = [{ name: 'data', emptyDir: {} }]
const volumeMounts = [{ name: 'data', mountPath: '/data' }]

interface Row {
  readonly spec?: Parameters<typeof createWantedPod>[1]
  readonly break?: (world: World) => void
  readonly crashes?: true
  /** How the API answers who reads its claim; its pod is one of the API then. */
  readonly claim?: NonNullable<AgentOptions['dynamicResources']>['readClaim']
  readonly expected: readonly string[]
}

/** Why a pod is stuck for hours: what its users still read at the end. */
const rows: Readonly<Record<string, Row>> = {
  'the network is not there': {
    break: ({ cri }) => cri.setNetworkReady(false),
    expected: ['NetworkNotReady'],
  },
  'a volume fails': {
    spec: { volumes, containers: [createWantedContainer({ volumeMounts })] },
    break: ({ volumeNode }) => void volumeNode.behaviours.set('data', 'fails'),
    expected: ['FailedMount'],
  },
  'a volume hangs': {
    spec: { volumes, containers: [createWantedContainer({ volumeMounts })] },
    break: ({ volumeNode }) => void volumeNode.behaviours.set('data', 'hangs'),
    expected: ['FailedMount'],
  },
  'its container crashes': { crashes: true, expected: ['BackOff'] },
  'its image cannot be pulled': {
    spec: { containers: [createWantedContainer({ image: 'registry.test/none:1' })] },
    break: ({ cri }) => cri.script.fail('pullImage', 'Unknown', 'not found'),
    expected: ['Failed', 'BackOff'],
  },
  'a volume that is a device fails': {
    spec: { volumes, containers: [createWantedContainer({ volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] })] },
    break: ({ volumeNode }) => void volumeNode.behaviours.set('data', 'fails'),
    expected: ['FailedMapVolume'],
  },
  'its cgroup cannot be made': {
    break: ({ cgroups }) => void (cgroups.ensureFailure = new CgroupError('no space left on device')),
    expected: ['FailedCreatePodContainer'],
  },
  'its claim cannot be read': {
    spec: specWith({ resourceClaimName: 'gpu' }),
    claim: () => Promise.reject(new Error('the server is currently unable to handle the request')),
    expected: ['FailedPrepareDynamicResources'],
  },
  'its claim has no devices yet': {
    spec: specWith({ resourceClaimName: 'gpu' }),
    claim: async ({ namespace, name }) => ({ metadata: { namespace, name, uid: 'c-1' }, spec: { devices: {} } }),
    expected: ['FailedPrepareDynamicResources'],
  },
  'its sandbox fails': {
    break: ({ cri }) => cri.script.fail('runPodSandbox', 'Unknown', 'no addresses left'),
    expected: ['FailedCreatePodSandBox'],
  },
  'the name of its sandbox stays reserved': {
    break: ({ cri }) => cri.script.fail('runPodSandbox', 'Unknown', 'name "pod_shop_u-1_0" is reserved for "s-0"'),
    expected: ['FailedCreatePodSandBox'],
  },
  'its container cannot be made': {
    break: ({ cri }) => cri.script.fail('createContainer', 'Unknown', 'no such thing'),
    expected: ['Failed'],
  },
  'it runs with fewer search domains than it asks for': {
    spec: { dnsConfig: { nameservers: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'] } },
    expected: ['DNSConfigForming'],
  },
}

describe('a pod that is stuck for longer than the API keeps an event', () => {
  for (const [name, { spec = {}, break: breakIt, crashes, claim, expected }] of Object.entries(rows))
    test(`because ${name} still says so, in few writes`, async () => {
      await using world = await createWorld(
        crashes === undefined ? {} : { programOf: () => ({ exitsAfterMs: 10, exitCode: 1 }) },
      )
      breakIt?.(world)
      const source = claim === undefined ? 'file' : 'api'
      await using agent = await startAgent(world, { sources: [source], ...(claim && withClaims(claim)) })
      agent.setPods([createWantedPod('u-1', spec)], source)
      const { clock } = world
      const factory = new EventFactory({ nodeName: 'node-1', clock, newUid: () => 'a-uid' })
      const correlator = new EventCorrelator({ factory, clock })
      // What the API has, by name: it forgets an event an hour after its last write.
      const api = new Map<string, { readonly reason: string; readonly at: number }>()
      let writes = 0
      let read = 0
      for (let passed = 0; passed < 90 * MINUTE_MS; passed += MINUTE_MS) {
        await agent.pass(MINUTE_MS, MINUTE_MS / 2)
        for (const { uid, fieldPath, ...event } of agent.events.slice(read)) {
          const involvedObject = { kind: 'Pod', name: 'pod', namespace: 'shop', uid, apiVersion: 'v1', fieldPath }
          const result = correlator.correlate(factory.create({ ...event, involvedObject }))
          if (result.kind === 'drop') continue
          writes += 1
          api.set(result.event.metadata.name, { reason: result.event.reason, at: clock.now() })
        }
        read = agent.events.length
      }
      const known = new Set(
        [...api.values()].filter(({ at }) => clock.now() - at < HOUR_MS).map(({ reason }) => reason),
      )
      for (const reason of expected) assert.ok(known.has(reason), `${reason} is not among ${[...known].join()}`)
      assert.ok(writes < 100, `${writes} writes`)
      assert.ok(agent.events.length < 2000, `${agent.events.length} events`)
    })
})

function withClaims(readClaim: NonNullable<Row['claim']>): Pick<AgentOptions, 'dynamicResources'> {
  return { dynamicResources: { readClaim, deleteSlices: async () => {}, pauses: new ApiReturn().pauses() } }
}
