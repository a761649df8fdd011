import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'

const GROUP = '/apis/resource.k8s.io/v1'
const CLAIMS = `${GROUP}/namespaces/default/resourceclaims`
const SLICES = `${GROUP}/resourceslices`
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

async function start(t: TestContext) {
  const server = await createTestApi({ folder: makeTemporaryFolder(), clock: new FakeClock() })
  t.after(() => server[Symbol.asyncDispose]())
  return async (method: string, path: string, body?: unknown, accept?: string) => {
    const answer = await call(server.api, method, path, { body, ...(accept === undefined ? {} : { accept }) })
    return { status: answer.status, body: answer.body }
  }
}

function slice(name: string, spec: object = {}) {
  const pool = { name: 'pool', generation: 1, resourceSliceCount: 1 }
  const attributes = { model: { string: 'x' }, cores: { int: 4 } }
  const devices = [{ name: 'gpu-0', attributes, capacity: { memory: { value: '8Gi' } } }]
  return { metadata: { name }, spec: { driver: 'gpu.example', nodeName: 'node-1', pool, devices, ...spec } }
}

describe('devices in the API', () => {
  test('a claim asks for one device where it says nothing else, is given some, and never changes what it asks for', async (t) => {
    const ask = await start(t)
    const requests = [{ name: 'one', exactly: { deviceClassName: 'gpu' } }]
    const made = await ask('POST', CLAIMS, { metadata: { name: 'gpu' }, spec: { devices: { requests } } })
    const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 }
    assert.deepEqual([made.status, made.body.spec], [201, { devices: { requests: [{ name: 'one', exactly }] } }])
    const results = [{ request: 'one', driver: 'gpu.example', pool: 'pool', device: 'gpu-0' }]
    const status = { allocation: { devices: { results } }, reservedFor: [{ resource: 'pods', name: 'web', uid: 'u' }] }
    const reported = await ask('PUT', `${CLAIMS}/gpu/status`, { ...made.body, status })
    assert.deepEqual([reported.status, reported.body.status], [200, status])
    const other = { ...reported.body, spec: { devices: { requests: [] } } }
    assert.equal((await ask('PUT', `${CLAIMS}/gpu`, other)).status, 422)
    const shown = await ask('GET', CLAIMS, undefined, table)
    assert.deepEqual(shown.body.rows[0].cells.slice(0, 2), ['gpu', 'allocated,reserved'])
  })

  test('a template asks like a claim', async (t) => {
    const ask = await start(t)
    const firstAvailable = [{ name: 'small', deviceClassName: 'gpu', allocationMode: 'All' }]
    const spec = { spec: { devices: { requests: [{ name: 'one', firstAvailable }] } } }
    const path = `${GROUP}/namespaces/default/resourceclaimtemplates`
    const { status, body } = await ask('POST', path, { metadata: { name: 't' }, spec })
    assert.deepEqual([status, body.spec], [201, spec])
  })

  test('classes are kept', async (t) => {
    const ask = await start(t)
    const spec = {
      selectors: [{ cel: { expression: 'device.driver == "gpu.example"' } }],
      extendedResourceName: 'a.example/gpu',
    }
    const { status, body } = await ask('POST', `${GROUP}/deviceclasses`, { metadata: { name: 'gpu' }, spec })
    assert.deepEqual([status, body.spec, body.metadata.generation], [201, spec, 1])
  })

  test('slices are found and deleted by node and driver', async (t) => {
    const ask = await start(t)
    const mine = slice('mine')
    const made = await ask('POST', SLICES, mine)
    assert.deepEqual([made.status, made.body.spec], [201, mine.spec])
    await ask('POST', SLICES, slice('nic', { driver: 'nic.example' }))
    await ask('POST', SLICES, slice('foreign', { nodeName: 'node-2' }))
    const names = async (selector: string) => {
      const { body } = await ask('GET', `${SLICES}?fieldSelector=${encodeURIComponent(selector)}`)
      return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    }
    assert.deepEqual(await names('spec.nodeName=node-1'), ['mine', 'nic'])
    assert.deepEqual(await names('spec.nodeName=node-1,spec.driver=gpu.example'), ['mine'])
    await ask('DELETE', `${SLICES}?fieldSelector=spec.nodeName%3Dnode-1`)
    assert.deepEqual(await names(''), ['foreign'])
    const shown = await ask('GET', SLICES, undefined, table)
    assert.deepEqual(shown.body.rows[0].cells.slice(0, 4), ['foreign', 'node-2', 'gpu.example', 'pool'])
  })

  const faults: readonly (readonly [string, object])[] = [
    ['nowhere', { nodeName: undefined }],
    ['in two places', { allNodes: true }],
    ['of no pool', { pool: { name: '', generation: 1, resourceSliceCount: 1 } }],
  ]
  for (const [name, change] of faults)
    test(`a slice ${name} is rejected`, async (t) => {
      const ask = await start(t)
      assert.equal((await ask('POST', SLICES, slice('a', change))).status, 422)
    })

  test('a slice stays where it is', async (t) => {
    const ask = await start(t)
    const { body } = await ask('POST', SLICES, slice('a'))
    for (const change of [{ driver: 'b.example' }, { nodeName: 'node-2' }, { pool: { ...body.spec.pool, name: 'b' } }])
      assert.equal((await ask('PUT', `${SLICES}/a`, { ...body, spec: { ...body.spec, ...change } })).status, 422)
    const pool = { ...body.spec.pool, generation: 2 }
    const changed = await ask('PUT', `${SLICES}/a`, { ...body, spec: { ...body.spec, pool } })
    assert.deepEqual([changed.status, changed.body.metadata.generation], [200, 2])
  })
})
