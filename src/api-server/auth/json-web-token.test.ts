import assert from 'node:assert/strict'
import { createHmac, createPublicKey, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createKeys } from '../../protocols/x509/certificate-files.ts'
import { TokenSigner } from './json-web-token.ts'
import type { TokenClaims } from './json-web-token.ts'

const { privateKey } = createKeys()
const signer = new TokenSigner(privateKey)
const claims: TokenClaims = {
  iss: 'i',
  sub: 's',
  aud: ['a'],
  exp: 3,
  iat: 1,
  nbf: 1,
  jti: 'j',
  'kubernetes.io': { namespace: 'n', serviceaccount: { name: 'sa', uid: 'u' } },
}
const token = signer.sign(claims)
const [head = '', body = '', signature = ''] = token.split('.')

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function signed(header: object, content: unknown): string {
  const text = `${part(header)}.${part(content)}`
  return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: string; kid: string }

describe('TokenSigner', () => {
  test('reads what it has signed', () => assert.deepEqual(signer.read(token), claims))

  const forged: Readonly<Record<string, string>> = {
    'another key': new TokenSigner(createKeys().privateKey).sign(claims),
    'no signature': `${head}.${body}.`,
    'no algorithm': `${part({ ...header, alg: 'none' })}.${body}.`,
    'another algorithm, with the public key as its secret': (() => {
      const text = `${part({ ...header, alg: 'HS256' })}.${body}`
      const secret = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    })(),
    'another body': `${head}.${part({ ...claims, sub: 'admin' })}.${signature}`,
    'a key of no name': signed({ alg: 'ES256' }, claims),
    'a body that is no object': signed(header, []),
    'a body without times': signed(header, { ...claims, exp: undefined }),
    'a body with a text for a time': signed(header, { ...claims, exp: 'never' }),
    'a body without an account': signed(header, { ...claims, 'kubernetes.io': { namespace: 'n' } }),
    'a body with half a pod': signed(header, { ...claims, 'kubernetes.io': { ...claims['kubernetes.io'], pod: {} } }),
    'four parts': `${token}.x`,
    'too long': `${token}${'A'.repeat(9000)}`,
    nothing: '',
  }
  for (const [name, text] of Object.entries(forged)) {
    test(`does not read one with ${name}`, () => assert.equal(signer.read(text), undefined))
  }

  test('does not read one with any other character anywhere', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'b', '9', '_', '.'), (index, character) => {
        const changed = `${token.slice(0, index)}${character}${token.slice(index + 1)}`
        const read = signer.read(changed)
        // The last character of a part has bits that say nothing.
        assert.ok(read === undefined || JSON.stringify(read) === JSON.stringify(claims))
      }),
    )
  })

  test('never fails, whatever it is to read', () => {
    fc.assert(fc.property(fc.string(), (text) => signer.read(text) === undefined))
  })
})
