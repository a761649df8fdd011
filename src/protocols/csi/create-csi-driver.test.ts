import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { status } from '@grpc/grpc-js'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCsiDriver } from '../../../test/fakes/fake-csi-driver.ts'
import type { FakeCsiDriverOptions } from '../../../test/fakes/fake-csi-driver.ts'
import { until } from '../../../test/fakes/until.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { createCsiDriver } from './create-csi-driver.ts'
import { CsiNodeClient } from './csi-node-client.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import type { CsiDriver } from './csi-drivers.ts'

const never = new AbortController().signal

async function setUp(t: TestContext, options: FakeCsiDriverOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'csi-'))
  const socketPath = join(folder, 'csi.sock')
  const fake = await FakeCsiDriver.start(socketPath, options)
  t.after(() => {
    fake[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })
  const clock = new FakeClock()
  const counted: DriverCall[] = []
  const client = new CsiNodeClient({ driver: 'disk', socketPath, clock, onCall: (call) => counted.push(call) })
  return { fake, clock, counted, driver: createCsiDriver(client, { name: 'disk', nodeId: 'n' }) }
}

const mount = {
  accessMode: 'MULTI_NODE_READER_ONLY',
  access: { kind: 'mount', fsType: 'xfs', mountFlags: ['noatime'], group: 1000 },
} as const
const block = { accessMode: 'SINGLE_NODE_SINGLE_WRITER', access: { kind: 'block' } } as const
const contexts = { publishContext: { a: '1' }, volumeContext: { b: '2' }, secrets: { c: '3' } }

const rows: readonly (readonly [string, (driver: CsiDriver) => Promise<unknown>, object, unknown])[] = [
  [
    'nodeStageVolume',
    (driver) => driver.stage({ volumeId: 'v', stagingPath: '/s', capability: mount, ...contexts }, never),
    {
      volumeId: 'v',
      stagingTargetPath: '/s',
      volumeCapability: {
        mount: { fsType: 'xfs', mountFlags: ['noatime'], volumeMountGroup: '1000' },
        accessMode: { mode: 3 },
      },
      ...contexts,
    },
    undefined,
  ],
  [
    'nodeUnstageVolume',
    (driver) => driver.unstage({ volumeId: 'v', stagingPath: '/s' }, never),
    { volumeId: 'v', stagingTargetPath: '/s' },
    undefined,
  ],
  [
    'nodePublishVolume',
    (driver) =>
      driver.publish(
        { volumeId: 'v', stagingPath: undefined, targetPath: '/t', capability: block, readOnly: true, ...contexts },
        never,
      ),
    {
      volumeId: 'v',
      stagingTargetPath: '',
      targetPath: '/t',
      volumeCapability: { block: {}, accessMode: { mode: 6 } },
      readonly: true,
      ...contexts,
    },
    undefined,
  ],
  [
    'nodeUnpublishVolume',
    (driver) => driver.unpublish({ volumeId: 'v', targetPath: '/t' }, never),
    { volumeId: 'v', targetPath: '/t' },
    undefined,
  ],
  [
    'nodeExpandVolume',
    (driver) =>
      driver.expand(
        {
          volumeId: 'v',
          volumePath: '/t',
          stagingPath: '/s',
          capability: block,
          requiredBytes: 2n ** 60n,
          secrets: { c: '3' },
        },
        never,
      ),
    {
      volumeId: 'v',
      volumePath: '/t',
      stagingTargetPath: '/s',
      volumeCapability: { block: {}, accessMode: { mode: 6 } },
      capacityRange: { requiredBytes: 2n ** 60n, limitBytes: 0n },
      secrets: { c: '3' },
    },
    2n ** 60n,
  ],
  [
    'nodeGetVolumeStats',
    (driver) => driver.volumeStats({ volumeId: 'v', volumePath: '/t', stagingPath: undefined }, never),
    { volumeId: 'v', volumePath: '/t', stagingTargetPath: '' },
    { bytes: undefined, inodes: undefined, condition: undefined },
  ],
]

describe('createCsiDriver()', () => {
  for (const [method, call, request, answer] of rows) {
    test(`sends all that it is given with ${method}`, async (t) => {
      const { fake, driver, counted } = await setUp(t)
      assert.deepEqual(await call(driver), answer)
      assert.deepEqual(plain(fake.calls), [{ method, request: plain(request) }])
      const path = `/csi.v1.Node/${method.replace('node', 'Node')}`
      assert.deepEqual(counted, [{ driver: 'disk', method: path, code: 'Ok', seconds: 0 }])
    })
  }

  test('knows what the driver can do, and leaves out what it does not know', async (t) => {
    const { fake, driver } = await setUp(t, { capabilities: ['VOLUME_MOUNT_GROUP', 'STAGE_UNSTAGE_VOLUME'] })
    assert.deepEqual(await driver.capabilities(never), new Set(['VOLUME_MOUNT_GROUP', 'STAGE_UNSTAGE_VOLUME']))
    fake.capabilities = ['SOMETHING_NEWER' as never, 'EXPAND_VOLUME']
    assert.deepEqual(await driver.capabilities(never), new Set(['EXPAND_VOLUME']))
  })

  test('reports how full a volume is, and whether it is healthy', async (t) => {
    const { fake, driver } = await setUp(t)
    const condition = { abnormal: true, message: 'worn' }
    fake.stats = {
      usage: [
        { unit: 1, available: 1n, total: 3n, used: 2n },
        { unit: 2, available: 4n, total: 9n, used: 5n },
      ],
      volumeCondition: condition,
    }
    assert.deepEqual(await driver.volumeStats({ volumeId: 'v', volumePath: '/t', stagingPath: '/s' }, never), {
      bytes: { available: 1, total: 3, used: 2 },
      inodes: { available: 4, total: 9, used: 5 },
      condition,
    })
  })

  const ends: readonly (readonly [keyof typeof status, code: string, isFinal: boolean])[] = [
    ['CANCELLED', 'Cancelled', false],
    ['UNKNOWN', 'Unknown', true],
    ['INVALID_ARGUMENT', 'InvalidArgument', true],
    ['DEADLINE_EXCEEDED', 'DeadlineExceeded', false],
    ['NOT_FOUND', 'NotFound', true],
    ['ALREADY_EXISTS', 'AlreadyExists', true],
    ['PERMISSION_DENIED', 'PermissionDenied', true],
    ['RESOURCE_EXHAUSTED', 'ResourceExhausted', false],
    ['FAILED_PRECONDITION', 'FailedPrecondition', true],
    ['ABORTED', 'Aborted', false],
    ['OUT_OF_RANGE', 'OutOfRange', true],
    ['UNIMPLEMENTED', 'Unimplemented', true],
    ['INTERNAL', 'Internal', true],
    ['UNAVAILABLE', 'Unavailable', false],
    ['DATA_LOSS', 'DataLoss', true],
    ['UNAUTHENTICATED', 'Unauthenticated', true],
  ]
  test('says what may have come of a call that failed', async (t) => {
    const { fake, driver, counted } = await setUp(t)
    for (const [name, code, isFinal] of ends) {
      fake.failures.set('nodeUnpublishVolume', [{ code: status[name], details: 'no' }])
      const error = await rejection(driver.unpublish({ volumeId: 'v', targetPath: '/t' }, never))
      const message = `Cannot call "NodeUnpublishVolume" of CSI driver "disk": ${code}: no`
      const { method, detail } = error
      assert.deepEqual(
        [error.message, error.code, error.isFinal, method, detail],
        [message, code, isFinal, 'NodeUnpublishVolume', 'no'],
      )
    }
    assert.deepEqual(
      counted.map(({ code }) => code),
      ends.map(([, code]) => code),
    )
  })

  test('a driver that is not there may be soon', async (t) => {
    const { fake, driver } = await setUp(t)
    fake[Symbol.dispose]()
    const { code, isFinal } = await rejection(driver.capabilities(never))
    assert.deepEqual([code, isFinal], ['Unavailable', false])
  })

  test('gives up a call after two minutes, not knowing what came of it', async (t) => {
    const { fake, clock, driver } = await setUp(t)
    fake.hung.add('nodeStageVolume')
    const request = { volumeId: 'v', stagingPath: '/s', capability: mount, ...contexts }
    const call = rejection(driver.stage(request, never))
    await until(() => fake.calls.length === 1)
    await clock.advance(120_000)
    const { message, code, isFinal } = await call
    assert.deepEqual(
      [message, code, isFinal],
      [
        'Cannot call "NodeStageVolume" of CSI driver "disk": DeadlineExceeded: no answer after 120 s',
        'DeadlineExceeded',
        false,
      ],
    )
    assert.equal(clock.sleeping, 0)
  })

  test('ends with its signal', async (t) => {
    const { fake, driver, clock } = await setUp(t)
    fake.hung.add('nodeGetCapabilities')
    const stop = new AbortController()
    const call = assert.rejects(driver.capabilities(stop.signal), ShutdownError)
    await until(() => fake.calls.length === 1)
    stop.abort(new ShutdownError())
    await call
    assert.equal(clock.sleeping, 0)
  })
})

async function rejection(call: Promise<unknown>) {
  return await call.then(
    () => assert.fail('did not fail'),
    (error: Error & { code: string; isFinal: boolean; method: string; detail: string }) => error,
  )
}

/** As the wire has it: without what is undefined, and without prototypes. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item))
  return JSON.parse(text)
}
