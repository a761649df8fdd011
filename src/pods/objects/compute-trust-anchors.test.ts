import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeTrustAnchors } from './compute-trust-anchors.ts'

const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`
const LONG = 'A'.repeat(100)
const bundle = (name: string, signerName: string | undefined, trustBundle: string, labels = {}) => ({
  metadata: { name, labels },
  spec: { signerName, trustBundle },
})
const bundles = [
  bundle('own', undefined, `words\n${pem('CCCC')}${pem('BB\nBB')}`),
  bundle('example.com:foo:a', 'example.com/foo', `${pem('BBBB')}${pem(LONG)}`, { live: 'yes' }),
  bundle('example.com:foo:b', 'example.com/foo', `${pem('DDDD')}${pem('BBBB')}`, { live: 'no' }),
  bundle('example.com:bar:c', 'example.com/bar', pem('EEEE'), { live: 'yes' }),
]
const anchorsOf = (source: Parameters<typeof computeTrustAnchors>[1]) =>
  [...computeTrustAnchors(bundles, source).matchAll(/-----BEGIN CERTIFICATE-----\n([^-]+)\n-----END/g)].map(
    ([, body]) => body,
  )

describe('computeTrustAnchors()', () => {
  const rows: readonly (readonly [string, Parameters<typeof computeTrustAnchors>[1], readonly string[]])[] = [
    ['the bundle of a name', { name: 'own' }, ['BBBB', 'CCCC']],
    ['none for a name that nobody has', { name: 'other' }, []],
    [
      'those of a signer with labels',
      { signerName: 'example.com/foo', labelSelector: { matchLabels: { live: 'no' } } },
      ['BBBB', 'DDDD'],
    ],
    [
      'those of a signer, each once',
      { signerName: 'example.com/foo', labelSelector: {} },
      [`${'A'.repeat(64)}\n${'A'.repeat(36)}`, 'BBBB', 'DDDD'],
    ],
    ['none of a signer without a selector', { signerName: 'example.com/foo' }, []],
  ]
  for (const [what, source, expected] of rows) {
    test(`gives ${what}`, () => assert.deepEqual(anchorsOf(source), expected))
  }

  test('does not change with the order of the bundles', () => {
    const source = { signerName: 'example.com/foo', labelSelector: {} }
    assert.equal(computeTrustAnchors(bundles.toReversed(), source), computeTrustAnchors(bundles, source))
  })
})
