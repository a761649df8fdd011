import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import {
  createObservedContainer,
  createObservedPod,
  createPodDeps,
  failing,
} from '../../../../test/component/create-pod-deps.ts'
import { noInjections } from '../../../../test/fakes/no-injections.ts'
import { NO_INJECTIONS } from '../../containers/container-injections.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { Turnstile } from '../../../base/async/turnstile.ts'
import { ContainerConfigError } from '../../containers/pod-config-error.ts'
import type { CallErrorCode } from '../../../protocols/grpc/grpc-call-error.ts'
import type { ContainerConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import { describeSandbox } from './create-sandbox.ts'
import type { PodDeps } from '../pod-worker.ts'
import { startContainer } from './start-container.ts'

const never = new AbortController().signal
const container = createContainer({ terminationMessagePath: '/dev/termination-log' })
const pod = createPod({ spec: { dnsPolicy: 'Default', containers: [container] } })

async function setUp(
  containers: readonly ObservedContainer[] = [],
  answers: Partial<PodDeps['calls']> = {},
  parts: Parameters<typeof createPodDeps>[0] = {},
) {
  const configs: ContainerConfig[] = []
  const createContainerCall = async ({ config }: { config?: unknown }) => {
    configs.push(config as ContainerConfig)
    return { containerId: 'c-new' }
  }
  const made = await createPodDeps(parts, { createContainer: createContainerCall, ...answers })
  const description = await describeSandbox(made.deps, pod, { attempt: 0, existing: undefined })
  const request = {
    pod,
    podContainer: { kind: 'regular' as const, container },
    image: { ref: 'sha256:1', uid: undefined, username: '' },
    sandbox: { ...description, id: 's-1', ips: ['10.0.0.1'] },
    observed: createObservedPod({ containers }),
    restartCountBefore: undefined,
    imageVolumes: new Map(),
  }
  return {
    ...made,
    configs,
    start: (signal = never) => startContainer(made.deps, request, { superseded: signal, shutdown: signal }),
  }
}

const withCdi: PodDeps['injections'] = {
  ...noInjections,
  containerInjections: async () => ({ ...NO_INJECTIONS, cdiDevices: ['example.com/gpu=a', 'example.com/gpu=b'] }),
}

describe('startContainer()', () => {
  for (const [name, fault, expected] of [
    [
      'ignores them',
      'containerd 1.6.20 has no CDI',
      [
        'Warning CDIDevicesIgnored The container runtime ignores the CDI devices example.com/gpu=a, example.com/gpu=b, the container runs without them: containerd 1.6.20 has no CDI',
      ],
    ],
    ['has them', undefined, []],
  ] as const) {
    test(`reports CDI devices that the runtime does not give: it ${name}`, async () => {
      const { start, events, lines } = await setUp([], {}, { injections: withCdi, cdiFault: async () => fault })
      await start()
      assert.deepEqual(events.slice(0, -2), expected)
      assert.equal(lines.filter((line) => line.includes('CDI')).length, expected.length)
    })
  }

  test('does not ask for CDI where a container has no such device, and starts one when it cannot ask', async () => {
    let questions = 0
    const cdiFault = async () => {
      questions += 1
      throw new Error('the runtime is away')
    }
    await (await setUp([], {}, { cdiFault })).start()
    assert.equal(questions, 0)
    const { start, events } = await setUp([], {}, { cdiFault, injections: withCdi })
    await start()
    assert.equal(events.length, 2)
  })

  test('makes the files, then the container, starts it, links its log and records events', async () => {
    const { start, journal, events, files } = await setUp()
    await start()
    assert.deepEqual(journal, ['createContainer s-1', 'startContainer c-new'])
    assert.deepEqual(events, ['Normal Created Container created', 'Normal Started Container started'])
    assert.deepEqual(
      [...files.files.keys()],
      [
        '/var/lib/kubelet/pods/u-1/etc-hosts',
        '/var/lib/kubelet/pods/u-1/containers/main/00000000',
        '/var/log/containers/web_shop_main-c-new.log',
      ],
    )
  })

  const numbers: readonly (readonly [string, readonly ObservedContainer[], number, readonly string[]])[] = [
    ['the first', [], 0, []],
    ['one after an exit', [createObservedContainer({ state: 'exited', restartCount: 4 })], 5, []],
    [
      'one in place of one that never started',
      [createObservedContainer({ state: 'created', restartCount: 4 })],
      4,
      ['removeContainer c-1'],
    ],
  ]
  for (const [name, containers, attempt, removals] of numbers) {
    test(`gives ${name} its number`, async () => {
      const { start, configs, journal } = await setUp(containers)
      await start()
      assert.deepEqual(
        configs.map(({ metadata }) => metadata?.attempt),
        [attempt],
      )
      assert.deepEqual(journal.slice(0, -2), removals)
    })
  }

  test('does not mind that an instance which never started is gone', async () => {
    const created = createObservedContainer({ state: 'created' })
    const { start, journal } = await setUp([created], { removeContainer: failing('NotFound') })
    await start()
    assert.deepEqual(journal.at(-1), 'startContainer c-new')
  })

  interface Failure {
    readonly method: keyof PodDeps['calls']
    readonly code: CallErrorCode
    readonly reason: string | undefined
  }
  const failures: readonly Failure[] = [
    { method: 'removeContainer', code: 'Unknown', reason: 'CreateContainerError' },
    { method: 'createContainer', code: 'Unknown', reason: 'CreateContainerError' },
    { method: 'createContainer', code: 'DeadlineExceeded', reason: 'CreateContainerError' },
    { method: 'createContainer', code: 'Unavailable', reason: undefined },
    { method: 'startContainer', code: 'Unknown', reason: 'RunContainerError' },
    { method: 'startContainer', code: 'Unavailable', reason: undefined },
  ]
  for (const { method, code, reason } of failures) {
    test(`${reason === undefined ? 'passes on' : `says ${reason}`} when ${method} fails with ${code}`, async () => {
      const created = createObservedContainer({ state: 'created' })
      const { start, events } = await setUp([created], { [method]: failing(code) })
      await assert.rejects(start, (error: unknown) =>
        reason === undefined ? !(error instanceof StartError) : error instanceof StartError && error.reason === reason,
      )
      assert.equal(events.includes('Warning Failed Error: planned'), reason !== undefined)
    })
  }

  test('says CreateContainerConfigError when its files cannot be made', async () => {
    const { start, files, journal } = await setUp()
    files.failures.set('writeHosts', new Error('EROFS'))
    await assert.rejects(start, { name: 'StartError', reason: 'CreateContainerConfigError', message: 'EROFS' })
    assert.deepEqual(journal, [])
  })

  test('makes no file while its environment cannot be had', async () => {
    const readEnvironment = () => Promise.reject(new ContainerConfigError('configmap "x" not found'))
    const { start, files, events } = await setUp([], {}, { readEnvironment })
    await assert.rejects(start, { reason: 'CreateContainerConfigError', message: 'configmap "x" not found' })
    assert.deepEqual([...files.files.keys()], [])
    assert.deepEqual(events, ['Warning Failed Error: configmap "x" not found'])
  })

  test('reports no failure when it is to give up while it asks for the environment', async () => {
    const stop = new AbortController()
    const readEnvironment = async (_: unknown, signal: AbortSignal) => {
      stop.abort(new Error('shutdown'))
      throw signal.reason
    }
    const { start, events } = await setUp([], {}, { readEnvironment })
    await assert.rejects(start(stop.signal), { name: 'Error', message: 'shutdown' })
    assert.deepEqual(events, [])
  })

  test('keeps no other pod waiting while what it needs hangs, and is not waited for when the pod goes', async () => {
    const readEnvironment = (_: unknown, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const starts = new Turnstile({ places: 1, patienceMs: 1000, clock: new FakeClock() })
    const { start } = await setUp([], {}, { readEnvironment, starts })
    const stop = new AbortController()
    const stuck = assert.rejects(start(stop.signal), { message: 'removed' })
    assert.equal(await starts.runInTurn(0, async () => 'another', never), 'another')
    stop.abort(new Error('removed'))
    await stuck
  })

  test('is not stopped by a log that cannot be linked', async () => {
    const { start, files, lines } = await setUp()
    files.failures.set('linkLog', new Error('EROFS'))
    await start()
    assert.deepEqual(lines, ['warn cannot link the log of a container'])
  })
})
