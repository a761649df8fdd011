import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HTTPGetAction } from '../../model/generated/core-v1.ts'
import { toHttpGetRequest } from './to-http-get-request.ts'

const container = { ports: [{ name: 'web', containerPort: 8080 }] }
const context = { container, podIp: 'fd00::1', userAgent: 'kube-test/1' }
const request = (action: HTTPGetAction) => toHttpGetRequest(action, context)

describe('toHttpGetRequest()', () => {
  test('a port alone: the rest has its defaults', () => {
    assert.deepEqual(request({ port: 'web' }), {
      scheme: 'http',
      host: 'fd00::1',
      port: 8080,
      path: '/',
      headers: [
        { name: 'User-Agent', value: 'kube-test/1' },
        { name: 'Accept', value: '*/*' },
      ],
      maxBodyBytes: 10_240,
    })
  })

  test('all of it is taken over', () => {
    const httpHeaders = [
      { name: 'user-agent', value: 'me' },
      { name: 'accept', value: '' },
      { name: 'X-A', value: '1' },
    ]
    const { scheme, host, port, path, headers } = request({
      scheme: 'HTTPS',
      host: 'web.test',
      port: 1,
      path: '/a?b',
      httpHeaders,
    })
    assert.deepEqual([scheme, host, port, path], ['https', 'web.test', 1, '/a?b'])
    assert.deepEqual(headers, [
      { name: 'user-agent', value: 'me' },
      { name: 'X-A', value: '1' },
    ])
  })

  test('fails without an address', () => {
    const message = 'Cannot ask the container: the pod has no address'
    assert.throws(() => toHttpGetRequest({ port: 1 }, { ...context, podIp: undefined }), { message })
  })
})
