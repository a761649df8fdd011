import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { createOwnNamesCheck } from './check-own-names.ts'

const checkAccess = createOwnNamesCheck(['node-1'])

async function isServed(host: string | undefined, localAddress = '127.0.0.1'): Promise<boolean> {
  const request = { headers: { host }, socket: { localAddress } } as unknown as IncomingMessage
  const { refusal } = await checkAccess(request, '/pods', new AbortController().signal)
  if (refusal !== undefined) assert.equal(refusal.status, 421)
  return refusal === undefined
}

describe('createOwnNamesCheck()', () => {
  const own = [undefined, '', 'localhost', 'LocalHost:10255', 'a.localhost', '127.0.0.1:10255', '192.0.2.1', '[::1]:1']
  for (const host of [...own, 'node-1', 'NODE-1:10255', 'node-1.']) {
    test(`serves ${host ?? 'a client that names no host'}`, async () => assert.ok(await isServed(host)))
  }

  for (const host of ['evil.example', 'evil.example:10255', 'localhost.evil.example', 'xlocalhost', '127.0.0.1.evil']) {
    test(`does not serve ${host} on this machine`, async () => {
      assert.equal(await isServed(host), false)
      assert.equal(await isServed(host, '::1'), false)
      assert.equal(await isServed(host, '::ffff:127.0.0.2'), false)
    })
  }

  test('serves any name to other machines', async () => assert.ok(await isServed('alias.example', '192.0.2.7')))
})
