import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkRuntimeVersion, fetchRuntimeVersion } from './runtime-version.ts'

const reply = { version: '0.1.0', runtimeName: 'containerd', runtimeVersion: '1.6.20', runtimeApiVersion: 'v1' }
const { signal } = new AbortController()

describe('fetchRuntimeVersion()', () => {
  test('reports what the runtime is', async () => {
    const asked: unknown[] = []
    const client = { version: async (request: unknown) => (asked.push(request), reply) }
    assert.deepEqual(await fetchRuntimeVersion(client, signal), {
      name: 'containerd',
      version: '1.6.20',
      apiVersion: 'v1',
    })
    assert.deepEqual(asked, [{ version: '0.1.0' }])
  })

  test('refuses another version of the interface', async () => {
    const client = { version: async () => ({ ...reply, version: '0.2.0' }) }
    await assert.rejects(fetchRuntimeVersion(client, signal), {
      code: 'InvalidReply',
      detail: 'containerd answers version "0.2.0", expected "0.1.0"',
    })
  })
})

describe('checkRuntimeVersion()', () => {
  test('fails when the image service does not answer', async () => {
    const failure = new Error('no images')
    const client = { version: async () => reply, imageFsInfo: () => Promise.reject(failure) }
    await assert.rejects(checkRuntimeVersion(client, signal), (error) => error === failure)
  })
})
