import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSigningRequest } from '../../../test/builders/create-signing-request.ts'
import { parseSigningRequest } from './parse-signing-request.ts'

describe('parseSigningRequest()', () => {
  test('reads who it is for and which names it wants, in their normal form', async () => {
    const { pem } = await createSigningRequest({
      names: [
        { type: 'ip', value: '2001:DB8:0:0:0:0:0:1' },
        { type: 'dns', value: 'Node-1.Example' },
        { type: 'url', value: 'spiffe://x' },
      ],
    })
    const { publicKey, ...rest } = await parseSigningRequest(pem)
    assert.equal(publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
    assert.deepEqual(rest, {
      commonName: 'system:node:node-1',
      organizations: ['system:nodes'],
      dnsNames: ['node-1.example'],
      addresses: ['2001:db8::1'],
      otherNames: ['spiffe://x'],
    })
  })

  test('two common names count as none', async () => {
    const { pem } = await createSigningRequest({ commonNames: ['system:node:a', 'system:node:b'] })
    assert.equal((await parseSigningRequest(pem)).commonName, undefined)
  })

  test('rejects a request that is not signed with its own key', async () => {
    const { pem } = await createSigningRequest({})
    const lines = pem.split('\n')
    const body = Buffer.from(lines.slice(1, -1).join(''), 'base64')
    // The last bytes are the signature.
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
    const forged = [lines[0], body.toString('base64'), lines.at(-1)].join('\n')
    await assert.rejects(parseSigningRequest(forged), /not signed with its own key/)
  })

  for (const text of ['', 'nothing', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----']) {
    test(`rejects ${JSON.stringify(text.slice(0, 20))}`, async () => {
      await assert.rejects(parseSigningRequest(text))
    })
  }

  test('rejects several requests in one', async () => {
    const { pem } = await createSigningRequest({})
    await assert.rejects(parseSigningRequest(`${pem}\n${pem}`), /not one certificate request/)
  })
})
